#include "redo_log/block.hpp"

#include <array>
#include <bit>
#include <cstring>

namespace engineroom::redo_log {

namespace {

using Tables = std::array<std::array<std::uint32_t, 256>, 8>;

// Eight bytes a step: table k holds the remainder of a byte that k more bytes follow.
constexpr Tables make_tables() {
  Tables tables{};
  for (std::uint32_t byte = 0; byte < 256; ++byte) {
    std::uint32_t crc = byte;
    for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ (crc & 1 ? 0x82F63B78U : 0);
    tables[0][byte] = crc;
  }
  for (std::size_t k = 1; k < 8; ++k) {
    for (std::size_t byte = 0; byte < 256; ++byte) {
      tables[k][byte] = tables[k - 1][byte] >> 8 ^ tables[0][tables[k - 1][byte] & 0xFF];
    }
  }
  return tables;
}

constexpr Tables kTables = make_tables();

constexpr std::size_t kChecksumAt = kBlockBytes - kTrailerBytes;

}  // namespace

std::uint32_t crc32c(std::span<const std::byte> bytes) {
  static_assert(std::endian::native == std::endian::little);
  std::uint32_t crc = ~0U;
  std::size_t at = 0;
  for (; at + 8 <= bytes.size(); at += 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes.data() + at, 8);
    word ^= crc;
    crc = 0;
    for (std::size_t i = 0; i < 8; ++i) crc ^= kTables[7 - i][word >> 8 * i & 0xFF];
  }
  for (; at < bytes.size(); ++at) {
    crc = crc >> 8 ^ kTables[0][(crc ^ static_cast<std::uint32_t>(bytes[at])) & 0xFF];
  }
  return ~crc;
}

void store_big_endian(std::byte* to, std::uint64_t value, std::size_t bytes) {
  for (std::size_t i = 0; i < bytes; ++i) to[i] = static_cast<std::byte>(value >> 8 * (bytes - 1 - i));
}

std::uint64_t load_big_endian(const std::byte* from, std::size_t bytes) {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < bytes; ++i) value = value << 8 | static_cast<std::uint64_t>(from[i]);
  return value;
}

BlockHeader header_of(ConstBlock block) {
  return {.number = static_cast<std::uint32_t>(load_big_endian(&block[0], 4)),
          .data_bytes = static_cast<std::uint16_t>(load_big_endian(&block[4], 2)),
          .first_group = static_cast<std::uint16_t>(load_big_endian(&block[6], 2)),
          .checkpoint = static_cast<std::uint32_t>(load_big_endian(&block[8], 4))};
}

bool checksum_holds(ConstBlock block) {
  return load_big_endian(&block[kChecksumAt], 4) == crc32c(block.first(kChecksumAt));
}

void seal(Block block, Lsn block_lsn, std::size_t data_bytes, std::uint32_t checkpoint) {
  store_big_endian(&block[0], block_number(block_lsn), 4);
  store_big_endian(&block[4], data_bytes, 2);
  store_big_endian(&block[8], checkpoint, 4);
  store_big_endian(&block[kChecksumAt], crc32c(block.first(kChecksumAt)), 4);
}

void set_first_group(Block block, std::size_t offset) { store_big_endian(&block[6], offset, 2); }

}  // namespace engineroom::redo_log
