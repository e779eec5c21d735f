// The mini-transaction's redo: changes of pages that recovery applies together or not at all.
//
// Models      mtr_t's private log (dyn_buf), MLOG_SINGLE_REC_FLAG and MLOG_MULTI_REC_END (5.6 to 9.7)
// Leaves out  the fifty-odd record types: ours writes bytes into a page, which is MLOG_WRITE_STRING
//
// A record: type (1, with the flag 0x80 when it is alone in its group), page (4), offset (2), length (2),
// bytes. A group of several ends with the byte 31.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <vector>

namespace engineroom::redo_log {

inline constexpr std::byte kWriteBytes{30};
inline constexpr std::byte kSingleRecord{0x80};
inline constexpr std::byte kMultiRecordEnd{31};
/// A group without a record: what fills a place that nobody wanted (fast_log.hpp).
inline constexpr std::byte kPad{0xA0};
inline constexpr std::size_t kRecordHeaderBytes = 9;
inline constexpr std::size_t kPageBytes = 256;

/// One change, as parsed: `bytes` points into the log that was read.
struct Record {
  std::uint32_t page;
  std::uint16_t offset;
  std::span<const std::byte> bytes;
};

class Mtr {
 public:
  void clear() { log_.clear(), records_ = 0; }
  /// Adds a change of `bytes` at `offset` of `page`.
  void write(std::uint32_t page, std::uint16_t offset, std::span<const std::byte> bytes);
  /// Marks the end of the group; the bytes are what goes to the log. Nothing may be added behind it.
  std::span<const std::byte> finish();

 private:
  std::vector<std::byte> log_;
  std::size_t records_ = 0;
};

enum class Parsed { complete, incomplete, corrupt };

struct ParsedGroup {
  Parsed state;
  std::size_t bytes;  // of the group, when it is complete
  std::vector<Record> records;
};

/// Reads one group from the start of `log`. Incomplete: the bytes end before its end mark.
ParsedGroup parse_group(std::span<const std::byte> log);

/// Pages as recovery leaves them: content, and the LSN up to which changes are in it.
struct Page {
  std::uint64_t lsn = 0;
  std::vector<std::byte> bytes = std::vector<std::byte>(kPageBytes);
};
using Pages = std::map<std::uint32_t, Page>;

/// Applies a group that ends at `end_lsn`, to pages that do not have it yet.
void apply(std::span<const Record> records, std::uint64_t end_lsn, Pages& pages);

}  // namespace engineroom::redo_log
