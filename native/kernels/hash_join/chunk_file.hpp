// Rows in a file, written one after the other and then read in the same order.
//
// Models      HashJoinChunk: one temporary file, each row with its length, and flags in front where the
//             join type needs them
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "common/storage.hpp"

namespace engineroom::hash_join {

class ChunkFile {
 public:
  struct Flags {
    bool is_null = false;
    bool is_matched = false;
  };

  /// `with_flags`: the probe side of an outer join or antijoin.
  ChunkFile(Storage& storage, bool with_flags) : file_(storage), with_flags_(with_flags) {}

  std::size_t record_bytes(std::size_t row_bytes) const { return row_bytes + 8 + (with_flags_ ? 1 : 0); }

  void write(std::span<const std::byte> row, Flags flags) {
    if (with_flags_) {
      const auto byte = static_cast<std::byte>((flags.is_null ? 1 : 0) | (flags.is_matched ? 2 : 0));
      file_.append({&byte, 1});
    }
    const std::uint64_t length = row.size();
    file_.append(std::as_bytes(std::span{&length, 1}));
    file_.append(row);
    ++rows_;
  }

  void rewind() {
    file_.rewind();
    next_row_ = 0;
  }

  std::uint64_t writes() const { return file_.writes(); }
  bool at_end() const { return next_row_ == rows_; }

  /// Reads the next row into `row`, which has the right size.
  Flags read(std::span<std::byte> row) {
    Flags flags;
    if (with_flags_) {
      std::byte byte{};
      file_.read({&byte, 1});
      flags = {(byte & std::byte{1}) != std::byte{0}, (byte & std::byte{2}) != std::byte{0}};
    }
    std::uint64_t length = 0;
    file_.read(std::as_writable_bytes(std::span{&length, 1}));
    file_.read(row.first(static_cast<std::size_t>(length)));
    ++next_row_;
    return flags;
  }

 private:
  BufferedFile file_;
  bool with_flags_;
  std::uint64_t rows_ = 0;
  std::uint64_t next_row_ = 0;
};

}  // namespace engineroom::hash_join
