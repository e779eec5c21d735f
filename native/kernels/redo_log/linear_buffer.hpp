// The log buffer of 5.6 and 5.7: one linear area, appended to under the mutex; nothing here is shared without
// it.
//
// Models      log_reserve_and_open, log_write_low, log_close
// Leaves out  extending a buffer that is too small for one mini-transaction
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <span>
#include <vector>

#include "machine/concept.hpp"
#include "redo_log/block.hpp"

namespace engineroom::redo_log {

using machine::Machine;

class LinearBuffer {
 public:
  explicit LinearBuffer(std::size_t bytes) : bytes_(bytes) {}

  std::byte* at(std::size_t offset) { return &bytes_[offset]; }
  std::size_t free() const { return free_; }

  /// A block begins here, empty: what lies behind its header is from an earlier one until it is written over.
  template <typename Rules>
  void begin_block(std::size_t at) {
    if (Rules::forgets_earlier_group()) std::memset(&bytes_[at], 0, kHeaderBytes);
    free_ = at + kHeaderBytes;
  }
  void set_first_group() {
    store_big_endian(&bytes_[free_ / kBlockBytes * kBlockBytes + 6], free_ % kBlockBytes, 2);
  }

  /// Copies a group that begins at `lsn` behind what is there, around headers and trailers; the LSN of its end.
  template <typename Rules, Machine M>
  Lsn append(M& m, Lsn lsn, std::span<const std::byte> group) {
    for (std::size_t done = 0; done < group.size();) {
      const std::size_t room = kBlockBytes - kTrailerBytes - free_ % kBlockBytes;
      const std::size_t piece = std::min(group.size() - done, room);
      Rules::copy(m, &bytes_[free_], &group[done], piece);
      done += piece;
      free_ += piece;
      if (piece == room) begin_block<Rules>(free_ + kTrailerBytes);
    }
    const Lsn end = lsn_of(sn_of(lsn) + group.size());
    if (Rules::begins_in_block(lsn, end)) set_first_group();
    return end;
  }

  /// Bytes from the block at `from` to the end of the incomplete one.
  std::size_t blocks_end() const { return free_ / kBlockBytes * kBlockBytes + kBlockBytes; }
  void move_free(std::size_t free) { free_ = free; }

  /// Seals the blocks in [from, to) for `lsn`, the last with `last_data_bytes`.
  void seal_blocks(std::size_t from, std::size_t to, Lsn lsn, std::size_t last_data_bytes) {
    for (std::size_t at = from; at < to; at += kBlockBytes, lsn += kBlockBytes) {
      seal(Block(&bytes_[at], kBlockBytes), lsn, at + kBlockBytes == to ? last_data_bytes : kBlockBytes, 0);
    }
  }

 private:
  std::vector<std::byte> bytes_;
  std::size_t free_ = 0;
};

}  // namespace engineroom::redo_log
