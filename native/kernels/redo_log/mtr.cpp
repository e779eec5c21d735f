#include "redo_log/mtr.hpp"

#include <algorithm>
#include <string>

#include "common/require.hpp"
#include "redo_log/block.hpp"

namespace engineroom::redo_log {

void Mtr::write(std::uint32_t page, std::uint16_t offset, std::span<const std::byte> bytes) {
  if (offset + bytes.size() > kPageBytes) {
    refuse("a change ends at byte " + std::to_string(offset + bytes.size()) + " of a page of " +
           std::to_string(kPageBytes) + ": cut it into changes of several pages");
  }
  const std::size_t at = log_.size();
  log_.resize(at + kRecordHeaderBytes + bytes.size());
  log_[at] = kWriteBytes;
  store_big_endian(&log_[at + 1], page, 4);
  store_big_endian(&log_[at + 5], offset, 2);
  store_big_endian(&log_[at + 7], bytes.size(), 2);
  std::copy(bytes.begin(), bytes.end(), log_.begin() + static_cast<std::ptrdiff_t>(at + kRecordHeaderBytes));
  ++records_;
}

std::span<const std::byte> Mtr::finish() {
  if (records_ == 1) {
    log_[0] |= kSingleRecord;
  } else if (records_ > 1) {
    log_.push_back(kMultiRecordEnd);
  }
  return log_;
}

ParsedGroup parse_group(std::span<const std::byte> log) {
  ParsedGroup group{.state = Parsed::incomplete, .bytes = 0, .records = {}};
  if (!log.empty() && log[0] == kPad) {
    group.state = Parsed::complete;
    group.bytes = 1;
    return group;
  }
  std::size_t at = 0;
  while (at < log.size()) {
    if (log[at] == kMultiRecordEnd) {
      group.state = group.records.size() > 1 ? Parsed::complete : Parsed::corrupt;
      group.bytes = at + 1;
      return group;
    }
    const bool single = (log[at] & kSingleRecord) != std::byte{0};
    if ((log[at] & ~kSingleRecord) != kWriteBytes || (single && at > 0)) {
      group.state = Parsed::corrupt;
      return group;
    }
    if (at + kRecordHeaderBytes > log.size()) return group;
    const auto length = static_cast<std::size_t>(load_big_endian(&log[at + 7], 2));
    const auto offset = static_cast<std::uint16_t>(load_big_endian(&log[at + 5], 2));
    if (offset + length > kPageBytes) {
      group.state = Parsed::corrupt;
      return group;
    }
    if (at + kRecordHeaderBytes + length > log.size()) return group;
    group.records.push_back({.page = static_cast<std::uint32_t>(load_big_endian(&log[at + 1], 4)),
                             .offset = offset,
                             .bytes = log.subspan(at + kRecordHeaderBytes, length)});
    at += kRecordHeaderBytes + length;
    if (single) {
      group.state = Parsed::complete;
      group.bytes = at;
      return group;
    }
  }
  return group;
}

void apply(std::span<const Record> records, std::uint64_t end_lsn, Pages& pages) {
  for (const Record& record : records) {
    Page& page = pages[record.page];
    if (page.lsn >= end_lsn) continue;
    std::copy(record.bytes.begin(), record.bytes.end(), page.bytes.begin() + record.offset);
  }
  // Only now: a group may change a page twice.
  for (const Record& record : records) pages[record.page].lsn = std::max(pages[record.page].lsn, end_lsn);
}

}  // namespace engineroom::redo_log
