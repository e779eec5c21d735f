// The members of our own log, for the one place that compiles the sound one and for the tests that break a rule.
#pragma once

#include <algorithm>
#include <cstring>
#include <string>
#include <thread>
#include <utility>

#include "common/require.hpp"
#include "redo_log/fast_log.hpp"
#include "redo_log/mtr.hpp"

namespace engineroom::redo_log {

namespace stretch_internal {

inline Sn up_to_block(Sn sn) { return (sn + kDataBytes - 1) / kDataBytes * kDataBytes; }

}  // namespace stretch_internal

template <typename Rules>
StretchLog<Rules>::StretchLog(std::size_t buffer_bytes, Sink sink)
    : sink_(std::move(sink)), ring_(buffer_bytes) {
  if (buffer_bytes % kBlockBytes != 0 || buffer_bytes < 4 * kStretchBlocks * kBlockBytes) {
    refuse("buffer_bytes is " + std::to_string(buffer_bytes) + ": pass a multiple of 512 from " +
           std::to_string(4 * kStretchBlocks * kBlockBytes) + " on");
  }
}

template <typename Rules>
std::shared_ptr<typename StretchLog<Rules>::Stretch> StretchLog<Rules>::take(std::size_t group_bytes,
                                                                             std::size_t blocks) {
  const std::uint64_t buffer = ring_.size() / kBlockBytes * kDataBytes;
  if (stretch_internal::up_to_block(group_bytes) > buffer / 2) {
    refuse("a group has " + std::to_string(group_bytes) + " bytes: make the buffer larger than " +
           std::to_string(ring_.size()));
  }
  // No line of the buffer is touched and nothing is allocated under the mutex: whoever else comes would wait
  // for lines that the last round's writer still has.
  auto stretch = std::make_shared<Stretch>();
  stretch->bytes = std::max(std::min<std::uint64_t>(blocks * kDataBytes, buffer / 4),
                            stretch_internal::up_to_block(group_bytes));
  const std::lock_guard lock(guard_);
  if (end_ + stretch->bytes - written_ > buffer) write_out_under_guard();
  stretch->start = end_;
  end_ += stretch->bytes;
  stretches_.push_back(stretch);
  return stretch;
}

template <typename Rules>
Lsn StretchLog<Rules>::Appender::append_slowly(std::span<const std::byte> group, Lsn after) {
  for (;;) {
    // What is left of the old one is for the writer to pad.
    const bool is_used_up = used_ + group.size() > bytes_;
    const bool is_closed =
        stretch_ == nullptr || (stretch_->state.fetch_or(kClosed, std::memory_order_acq_rel) & kClosed) != 0;
    blocks_ = is_used_up && !is_closed ? std::min(2 * blocks_, kLongestStretch) : kStretchBlocks;
    stretch_ = log_.take(group.size(), blocks_);
    used_ = 0;
    bytes_ = stretch_->bytes;
    lsn_ = lsn_of(stretch_->start);
    to_ = log_.at(lsn_);
    room_ = kDataBytes;
    // Before anything is reserved, or the writer would wait for bytes that never come.
    if (after > lsn_) refuse("after is LSN " + std::to_string(after) + ", which this log has not reached");
    const std::uint64_t before = stretch_->state.fetch_add(group.size(), std::memory_order_acq_rel);
    if ((before & kClosed) != 0) continue;
    set_first_group(Block(to_ - kHeaderBytes, kBlockBytes), kHeaderBytes);
    copy(group);
    stretch_->filled.store(used_, std::memory_order_release);
    return lsn_;
  }
}

template <typename Rules>
void StretchLog<Rules>::Appender::copy(std::span<const std::byte> group) {
  const std::size_t size = group.size();
  if (size < room_) {
    std::memcpy(to_, group.data(), size);
    to_ += size;
    room_ -= size;
    lsn_ += size;
    used_ += size;
    return;
  }
  for (std::size_t done = 0; done < size;) {
    const std::size_t piece = std::min(size - done, room_);
    std::memcpy(to_, &group[done], piece);
    done += piece;
    to_ += piece;
    room_ -= piece;
    lsn_ += piece;
    if (room_ == 0) {
      lsn_ += kTrailerBytes + kHeaderBytes;
      to_ = log_.at(lsn_);
      room_ = kDataBytes;
      if (done < size) set_first_group(Block(to_ - kHeaderBytes, kBlockBytes), 0);
    }
  }
  used_ += size;
  // Behind the stretch's end another one begins, whose owner knows its first group.
  if (used_ < bytes_) set_first_group(Block(log_.at(block_of(lsn_)), kBlockBytes), offset_in_block(lsn_));
}

template <typename Rules>
void StretchLog<Rules>::pad(Sn from, Sn to) {
  for (Sn sn = from; sn < to;) {
    const Sn block_end = std::min(to, sn / kDataBytes * kDataBytes + kDataBytes);
    std::memset(at(lsn_of(sn)), static_cast<int>(kPad), static_cast<std::size_t>(block_end - sn));
    if (sn % kDataBytes == 0) set_first_group(Block(at(block_of(lsn_of(sn))), kBlockBytes), kHeaderBytes);
    sn = block_end;
  }
  padded_bytes_ += to - from;
}

template <typename Rules>
Lsn StretchLog<Rules>::write_out() {
  const std::lock_guard lock(guard_);
  return write_out_under_guard();
}

template <typename Rules>
Lsn StretchLog<Rules>::write_out_under_guard() {
  for (; !stretches_.empty(); stretches_.pop_front()) {
    Stretch& stretch = *stretches_.front();
    const std::uint64_t used = Rules::close(stretch.state, kClosed) & ~kClosed;
    while (stretch.filled.load(std::memory_order_acquire) < used) std::this_thread::yield();
    const Sn end = stretch.start + used;
    // The last stretch gives back its empty blocks; the others' are padding.
    const bool is_last = stretches_.size() == 1;
    const Sn padded = is_last ? stretch_internal::up_to_block(end) : stretch.start + stretch.bytes;
    pad(end, Rules::fill_up(end, padded));
    if (is_last) end_ = padded;
  }
  if (sink_ && end_ > written_) {
    for (Sn sn = written_; sn < end_;) {
      const Lsn lsn = block_of(lsn_of(sn));
      const std::size_t left = static_cast<std::size_t>((end_ - sn) / kDataBytes * kBlockBytes);
      const std::size_t whole = std::min(left, ring_.size() - static_cast<std::size_t>(lsn % ring_.size()));
      for (std::size_t i = 0; i < whole; i += kBlockBytes) {
        seal(Block(at(lsn + i), kBlockBytes), lsn + i, kBlockBytes, 0);
      }
      sink_(lsn, std::span<const std::byte>(at(lsn), whole));
      sn += whole / kBlockBytes * kDataBytes;
    }
  }
  written_ = end_;
  return lsn_of(end_);
}

}  // namespace engineroom::redo_log
