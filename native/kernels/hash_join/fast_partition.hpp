// Cuts a relation into partitions by the first bits of the hash, in memory as far as it goes, then in a file.
//
// Idea        rows gather in a small buffer a partition and leave it 256 bytes at a time past the cache, for
//             a page of their partition; a full page stays in memory while there is a free one to take its
//             place, and otherwise is written out, when it is back in the cache, and used again
// Models      nothing of MySQL (whose chunk files hold what comes after the memory is full, too)
// Leaves out  more than one level of partitions
// Cost        nearly all of it memory traffic: of each row 16 bytes in and 16 bytes out
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "common/metered.hpp"
#include "common/read_ahead.hpp"
#include "common/storage.hpp"
#include "hash_join/fast_table.hpp"
#include "hash_join/key_filter.hpp"
#include "hash_join/packed_page.hpp"
#include "hash_join/relation.hpp"

namespace engineroom::hash_join {

/// Goes over some rows of a relation a block at a time: hashes them and leaves out the rows with a NULL key.
class HashedBlocks {
 public:
  /// `values_are_rows`: a row's value is its number, otherwise its payload (0 without one).
  HashedBlocks(const Relation& relation, std::size_t begin, std::size_t end, bool values_are_rows);

  /// The next block, or false at the end. `on_null(row)` is told of the rows left out.
  template <typename OnNull>
  bool next(OnNull on_null) {
    if (begin_ == end_) return false;
    const std::size_t n = std::min(FastTable::kBlock, end_ - begin_);
    hash_keys(relation_.key.subspan(begin_, n), hash_.data());
    rows_ = HashedRows(hash_.data(), value_.data(), n);
    const bool has_payload = !values_are_rows_ && !relation_.payload.empty();
    if (has_payload && relation_.key_is_null.empty()) {
      // A signed integer may be read as the unsigned one of its size.
      rows_.value = reinterpret_cast<const std::uint64_t*>(relation_.payload.data()) + begin_;
    } else if (has_payload) {
      for (std::size_t i = 0; i < n; ++i)
        value_[i] = static_cast<std::uint64_t>(relation_.payload[begin_ + i]);
    } else if (values_are_rows_) {
      for (std::size_t i = 0; i < n; ++i) value_[i] = begin_ + i;
    }  // else all zero from the start
    if (!relation_.key_is_null.empty()) {
      std::size_t kept = 0;
      for (std::size_t i = 0; i < n; ++i) {
        hash_[kept] = hash_[i];
        value_[kept] = value_[i];
        const bool null = relation_.key_is_null[begin_ + i];
        if (null) on_null(begin_ + i);
        kept += !null;
      }
      rows_.size = kept;
    }
    begin_ += n;
    return true;
  }

  const HashedRows& rows() const { return rows_; }

  /// Leaves out the rows of the block that match nothing, but for a few.
  void leave_out(const KeyFilter& filter) {
    const std::size_t kept = filter.keep(rows_, hash_.data(), value_.data());
    rows_ = HashedRows(hash_.data(), value_.data(), kept);
  }

  /// The columns of the next block.
  ReadAhead ahead() const {
    const std::size_t n = std::min(FastTable::kBlock, end_ - begin_);
    if (values_are_rows_ || relation_.payload.empty()) return ReadAhead(relation_.key.subspan(begin_, n));
    return ReadAhead(relation_.key.subspan(begin_, n), relation_.payload.subspan(begin_, n));
  }

 private:
  const Relation& relation_;
  std::size_t begin_;
  std::size_t end_;
  bool values_are_rows_;
  HashedRows rows_{nullptr, nullptr, 0};
  std::array<std::uint64_t, FastTable::kBlock> hash_;
  std::array<std::uint64_t, FastTable::kBlock> value_{};
};

/// How much goes where. The same for all threads and both sides of a join.
struct PartitionPlan {
  unsigned bits;                     // 2^bits partitions, at least 2
  std::size_t rows_per_page;         // a power of two, at least kRowsPerFlush
  std::size_t pages_kept_in_memory;  // by one thread, besides one a partition: the rest is written out
  std::size_t write_bytes;           // of one write

  std::size_t partitions() const { return std::size_t{1} << bits; }
};

/// What came back from files.
struct ReadBack {
  std::uint64_t rows = 0;
  std::uint64_t bytes = 0;
};

/// One thread's share of one side, in partitions. Rows keep their order within a partition.
class Partitions {
 public:
  static constexpr std::size_t kRowsPerFlush = 16;
  /// Memory of a partition besides its pages: flush buffer, places and page list.
  static constexpr std::size_t kBytesPerPartition = kRowsPerFlush * sizeof(HashedRow) + 64;

  /// For at most `rows` rows; `storage` may be null if the plan keeps all pages.
  Partitions(const PartitionPlan& plan, std::size_t rows, Storage* storage, Meter& meter);

  /// Asks `ahead` for what comes next.
  void append(const HashedRows& rows, ReadAhead ahead);
  /// After the last append, before the first read.
  void finish();

  std::size_t rows(std::size_t partition) const { return filled_[partition]; }
  std::uint64_t bytes_written() const { return bytes_written_; }
  std::uint64_t rows_written() const { return file_ends_.size() * rows_per_page_; }
  /// Full pages for which there is memory, used or not.
  std::size_t pages_kept() const { return pages_kept_; }

  /// Calls visit(rows, ahead) for each page of a partition in order, where `ahead` is the next one. Pages
  /// that were written out come in `buffer`, of rows_per_page rows, which visit may use for other pages once
  /// it is done with its own.
  template <typename Visit>
  void for_each_page(std::size_t partition, MeteredVector<HashedRow>& buffer, ReadBack& read,
                     Visit visit) const {
    std::size_t left = filled_[partition];
    for (std::uint32_t page = first_[partition]; left > 0; page = next_[page]) {
      const std::size_t n = std::min(left, rows_per_page_);
      left -= n;
      const std::uint32_t place = place_[page];
      if ((place & kInFile) == 0) {
        visit(std::span(memory_.data() + place * rows_per_page_, n), ahead(next_[page], left));
      } else {
        const std::uint32_t in_file = place & ~kInFile;
        const std::uint64_t begin = begin_in_file(in_file);
        unpack_page(file_bytes_.data() + begin, buffer);
        read.bytes += file_ends_[in_file] - begin;
        read.rows += n;
        visit(std::span<const HashedRow>(buffer), ahead(next_[page], left));
      }
    }
  }

 private:
  static constexpr std::uint32_t kInFile = std::uint32_t{1} << 31;
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};

  std::uint64_t begin_in_file(std::uint32_t in_file) const {
    return in_file == 0 ? 0 : file_ends_[in_file - 1];
  }
  /// A page with at most `left` rows, wherever it is.
  ReadAhead ahead(std::uint32_t page, std::size_t left) const;
  void begin_page(std::size_t partition);
  void page_full(std::size_t partition);
  void flush(std::size_t partition);
  void write_out(std::uint32_t page);
  void write_gathered(std::size_t bytes);

  unsigned shift_;
  std::size_t rows_per_page_;
  std::size_t pages_kept_;
  Storage* storage_;
  std::unique_ptr<File> file_;
  std::span<const std::byte> file_bytes_;  // of the file, once it is written
  std::uint64_t bytes_written_ = 0;
  std::size_t pages_in_memory_ = 0;
  std::uint32_t spare_;                   // place in memory for the page that comes next
  std::uint32_t full_ = kNone;            // page to be written out
  ReadAhead full_ahead_;                  // of the same page
  MeteredVector<HashedRow> memory_;       // the pages that stay, by place
  MeteredVector<HashedRow> flush_;        // kRowsPerFlush a partition
  MeteredVector<HashedRow*> target_;      // where a partition's next flush goes
  MeteredVector<std::uint64_t> filled_;   // rows of a partition
  MeteredVector<std::uint32_t> first_;    // page of a partition
  MeteredVector<std::uint32_t> current_;  // page of a partition
  MeteredVector<std::uint32_t> next_;     // page of the same partition, by page
  MeteredVector<std::uint32_t> place_;    // of a page, in memory or in the file
  std::size_t write_bytes_;
  std::size_t gathered_ = 0;                // bytes to be written
  MeteredVector<std::byte> gather_;         // packed pages, for one large write instead of many small ones
  MeteredVector<std::uint64_t> file_ends_;  // of a page in the file
};

}  // namespace engineroom::hash_join
