// Sorted runs in a temporary file, and their merges.
//
// Models      write_keys, merge_many_buff and merge_buffers with MERGEBUFF 7 and MERGEBUFF2 15; a merge
//             gives each run an equal part of the sort buffer
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "common/interrupt.hpp"
#include "common/storage.hpp"
#include "filesort/table.hpp"

namespace engineroom::filesort {

/// What a record is made of: `bytes` of it, or when packed four bytes of length in front.
struct RecordFormat {
  std::size_t key_bytes = 0;
  std::size_t bytes = 0;
  bool is_packed = false;

  static constexpr std::size_t kLengthBytes = 4;

  std::size_t key_offset() const { return is_packed ? kLengthBytes : 0; }
  std::size_t length(const std::byte* record) const;
};

class Runs {
 public:
  /// `interrupt` outlives it.
  Runs(Storage& storage, RecordFormat format, std::size_t sort_buffer_bytes, Counters& counters,
       Interrupt& interrupt);

  bool empty() const { return runs_.empty(); }
  /// Writes sorted records as one run.
  void write(std::span<std::byte* const> records);
  /// Merges down to at most 15 runs, and then these into `take`, which says whether it wants another record.
  void merge(const std::function<bool(const std::byte*)>& take);

 private:
  struct Run {
    std::uint64_t offset;
    std::uint64_t bytes;
  };
  class Writer;
  class Reader;

  Run merge_some(std::span<const Run> some, File& from, File& to, std::uint64_t offset);
  void merge_into(std::span<const Run> some, File& from, const std::function<bool(const std::byte*)>& take);

  Storage* storage_;
  RecordFormat format_;
  std::size_t sort_buffer_bytes_;
  Counters* counters_;
  Interrupt* interrupt_;
  std::unique_ptr<File> file_;
  std::vector<Run> runs_;
};

}  // namespace engineroom::filesort
