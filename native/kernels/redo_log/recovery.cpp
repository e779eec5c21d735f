#include "redo_log/recovery.hpp"

#include <algorithm>
#include <array>
#include <string>

#include "common/require.hpp"

namespace engineroom::redo_log {

namespace {

constexpr std::uint32_t kFormat = 0x45524C31;  // the letters of our own format, ERL1
constexpr std::size_t kChecksumAt = kBlockBytes - kTrailerBytes;

void seal_plain(std::span<std::byte> block) {
  store_big_endian(&block[kChecksumAt], crc32c(block.first(kChecksumAt)), 4);
}

std::optional<std::uint64_t> capacity_of(std::span<const std::byte> file) {
  if (file.size() < kFileHeaderBytes || load_big_endian(file.data(), 4) != kFormat) return {};
  if (!checksum_holds(file.first<kBlockBytes>())) return {};
  return load_big_endian(&file[8], 8);
}

std::optional<Checkpoint> newest_checkpoint(std::span<const std::byte> file) {
  std::optional<Checkpoint> newest;
  for (const std::size_t at : kCheckpointAt) {
    const auto block = file.subspan(at).first<kBlockBytes>();
    const Checkpoint found{.number = load_big_endian(&block[0], 8), .lsn = load_big_endian(&block[8], 8)};
    // A zeroed slot has no valid checksum: the CRC of zeroes is not zero.
    if (checksum_holds(block) && (!newest || found.number > newest->number)) newest = found;
  }
  return newest;
}

}  // namespace

std::vector<std::byte> new_file_header(std::uint64_t capacity_bytes) {
  if (capacity_bytes == 0 || capacity_bytes % kBlockBytes != 0) {
    refuse("capacity_bytes is " + std::to_string(capacity_bytes) + ": pass a multiple of 512");
  }
  std::vector<std::byte> header(kFileHeaderBytes);
  store_big_endian(header.data(), kFormat, 4);
  store_big_endian(&header[8], capacity_bytes, 8);
  seal_plain(std::span(header).first(kBlockBytes));
  const std::vector<std::byte> slot = checkpoint_block({.number = 0, .lsn = kStartLsn + kHeaderBytes});
  std::copy(slot.begin(), slot.end(), header.begin() + kCheckpointAt[0]);
  return header;
}

std::vector<std::byte> checkpoint_block(Checkpoint checkpoint) {
  std::vector<std::byte> block(kBlockBytes);
  store_big_endian(&block[0], checkpoint.number, 8);
  store_big_endian(&block[8], checkpoint.lsn, 8);
  seal_plain(block);
  return block;
}

std::string_view name_of(Stop stop) {
  constexpr std::array<std::string_view, 6> kNames{"end_of_file",   "wrong_number",   "bad_checksum",
                                                   "partial_block", "corrupt_record", "whole_circle"};
  return kNames[static_cast<std::size_t>(stop)];
}

void Recovered::apply_to(Pages& pages) const {
  for (const RecoveredGroup& group : groups) {
    apply(parse_group(bytes_of(group)).records, group.end_lsn, pages);
  }
}

std::optional<Recovered> recover(std::span<const std::byte> file) {
  const std::optional<std::uint64_t> capacity = capacity_of(file);
  if (!capacity) return {};
  const std::optional<Checkpoint> checkpoint = newest_checkpoint(file);
  if (!checkpoint) return {};

  Recovered found{.checkpoint = *checkpoint, .log = {}, .groups = {}, .end_lsn = checkpoint->lsn, .stop = {}};
  // A group may have begun before the checkpoint's block; reading starts at the first one that begins in a
  // block from there on. Groups that the checkpoint covers are read again, which the LSN of the page makes
  // harmless.
  const Lsn first_block = block_of(checkpoint->lsn);
  std::optional<Lsn> first_group;
  for (Lsn block_lsn = first_block;; block_lsn += kBlockBytes) {
    if (block_lsn - first_block >= *capacity) {
      found.stop = Stop::whole_circle;
      break;
    }
    const std::uint64_t at = file_offset(block_lsn, *capacity);
    if (at + kBlockBytes > file.size()) {
      found.stop = Stop::end_of_file;
      break;
    }
    const auto block = file.subspan(static_cast<std::size_t>(at)).first<kBlockBytes>();
    const BlockHeader header = header_of(block);
    if (header.number != block_number(block_lsn)) {
      found.stop = Stop::wrong_number;
      break;
    }
    const bool full = header.data_bytes == kBlockBytes;
    const std::size_t end = full ? kChecksumAt : header.data_bytes;
    if (!checksum_holds(block) || end < kHeaderBytes || end > kChecksumAt) {
      found.stop = Stop::bad_checksum;
      break;
    }
    std::size_t from = kHeaderBytes;
    if (!first_group && header.first_group != 0) {
      from = header.first_group;
      first_group = block_lsn + from;
    }
    if (first_group && from < end) {
      found.log.insert(found.log.end(), block.begin() + static_cast<std::ptrdiff_t>(from),
                       block.begin() + static_cast<std::ptrdiff_t>(end));
    }
    if (!full) {
      found.stop = Stop::partial_block;
      break;
    }
  }
  if (!first_group) return found;

  const Sn base = sn_of(*first_group);
  std::size_t at = 0;
  while (at < found.log.size()) {
    const ParsedGroup group = parse_group(std::span<const std::byte>(found.log).subspan(at));
    if (group.state == Parsed::corrupt) found.stop = Stop::corrupt_record;
    if (group.state != Parsed::complete) break;
    if (!group.records.empty()) {
      found.groups.push_back({.start_lsn = lsn_of(base + at),
                              .end_lsn = lsn_of(base + at + group.bytes),
                              .at = at,
                              .bytes = group.bytes});
    }
    at += group.bytes;
  }
  found.end_lsn = lsn_of(base + at);
  return found;
}

}  // namespace engineroom::redo_log
