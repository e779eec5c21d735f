// The redo log's block: 512 bytes, of which 496 are data, so that a torn or lost block can be told.
//
// Models      log0log.h / log0constants.h: OS_FILE_LOG_BLOCK_SIZE, log_translate_sn_to_lsn (5.6 to 9.7)
// Leaves out  encryption and the flush bit of old versions; the checksum is CRC-32C, as from 5.7 on
// Cost        a seal is one pass over 508 bytes
//
// Layout, big-endian as on the server's disk:
//   0  block number (4)    LSN / 512 mod 2^30, plus 1: never 0, so that a zeroed block is not a block
//   4  data length (2)     0 empty, 512 full, else the offset at which the data ends
//   6  first group (2)     offset of the first record group that starts here, 0 when none does
//   8  checkpoint no. (4)
//  12  data (496)
// 508  checksum (4)        of the first 508 bytes
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace engineroom::redo_log {

/// Counts bytes of the log with headers and trailers: an address. `lsn % 512` lies in [12, 508).
using Lsn = std::uint64_t;
/// Counts data bytes only: what a mini-transaction reserves.
using Sn = std::uint64_t;

inline constexpr std::size_t kBlockBytes = 512;
inline constexpr std::size_t kHeaderBytes = 12;
inline constexpr std::size_t kTrailerBytes = 4;
inline constexpr std::size_t kDataBytes = kBlockBytes - kHeaderBytes - kTrailerBytes;

/// The block in which every log begins; the first group starts 12 bytes behind it.
inline constexpr Lsn kStartLsn = 16 * kBlockBytes;
inline constexpr Sn kStartSn = 16 * kDataBytes;

constexpr Lsn lsn_of(Sn sn) { return sn / kDataBytes * kBlockBytes + sn % kDataBytes + kHeaderBytes; }
constexpr Sn sn_of(Lsn lsn) {
  return lsn / kBlockBytes * kDataBytes +
         (lsn % kBlockBytes < kHeaderBytes ? 0 : lsn % kBlockBytes - kHeaderBytes);
}
constexpr Lsn block_of(Lsn lsn) { return lsn / kBlockBytes * kBlockBytes; }
constexpr std::size_t offset_in_block(Lsn lsn) { return static_cast<std::size_t>(lsn % kBlockBytes); }

static_assert(lsn_of(kStartSn) == kStartLsn + kHeaderBytes);
static_assert(lsn_of(495) == 507 && lsn_of(496) == 524 && sn_of(524) == 496);

using Block = std::span<std::byte, kBlockBytes>;
using ConstBlock = std::span<const std::byte, kBlockBytes>;

struct BlockHeader {
  std::uint32_t number;
  std::uint16_t data_bytes;   // 512 when full
  std::uint16_t first_group;  // 0 when no group starts here
  std::uint32_t checkpoint;
};

constexpr std::uint32_t block_number(Lsn lsn) {
  return static_cast<std::uint32_t>(lsn / kBlockBytes & 0x3FFFFFFF) + 1;
}

BlockHeader header_of(ConstBlock block);
bool checksum_holds(ConstBlock block);

/// Writes number, length and checkpoint, then the checksum; the first group is whatever stands there.
void seal(Block block, Lsn block_lsn, std::size_t data_bytes, std::uint32_t checkpoint);
void set_first_group(Block block, std::size_t offset);

/// CRC-32C (Castagnoli) of `bytes`.
std::uint32_t crc32c(std::span<const std::byte> bytes);

void store_big_endian(std::byte* to, std::uint64_t value, std::size_t bytes);
std::uint64_t load_big_endian(const std::byte* from, std::size_t bytes);

}  // namespace engineroom::redo_log
