// The link buffer: threads report ranges of LSNs in any order, and its tail says up to where there is no gap.
//
// Models      Link_buf<lsn_t> of 8.0.26 and later
// Leaves out  nothing of its protocol
// Cost        reporting at the tail is one store; elsewhere a store and a look; who advances claims once
//
// The slot of position p is p mod capacity and holds the absolute end of the link that starts there. A slot
// whose value is not above p is empty, so that nothing is ever cleared; one whose value is a whole round
// above p belongs to a later round, and the tail has gone on since it was read.
#pragma once

#include <cstdint>

#include "machine/concept.hpp"
#include "redo_log/rules.hpp"

namespace engineroom::redo_log {

using machine::Machine;
using machine::Task;

template <Machine M, typename Rules = Sound>
class LinkBuffer {
 public:
  LinkBuffer(std::uint64_t capacity, Lsn start)
      : slots_(static_cast<std::size_t>(capacity)), mask_(capacity - 1), tail_(start) {}

  std::uint64_t capacity() const { return mask_ + 1; }
  typename M::Word& tail_word() { return tail_; }
  auto tail(M& m) { return m.load(tail_); }
  /// For who looks at a run from outside: what the slot of `position` holds.
  Lsn link_at(M& m, Lsn position) { return m.peek(slot(position)); }

  /// Whether the slot of `position` is free for it: at most `capacity` bytes are between it and the gap.
  Task<bool> has_space(M& m, Lsn position) {
    Lsn tail = co_await m.load(tail_);
    if (tail + capacity() > position) co_return true;
    co_await advance(m);
    tail = co_await m.load(tail_);
    co_return tail + capacity() > position;
  }

  /// At the tail the tail is moved, and later links wait for whoever looks next: it may lag, but never lead.
  Task<> add_link_advance_tail(M& m, Lsn from, Lsn to) {
    const Lsn tail = co_await m.load(tail_);
    if (tail == from) {
      co_await m.store(tail_, to);
      co_return;
    }
    co_await m.store(slot(from), to);
    co_await advance(m);
  }

  /// Follows links from the tail, until one starts at `stop` or later or is not there.
  Task<> advance(M& m, Lsn stop = UINT64_MAX) {
    Lsn position = co_await m.load(tail_);
    for (;;) {
      if (position >= stop) co_return;
      Lsn next = co_await m.load(slot(position));
      if (Rules::is_of_a_later_round(next, position, capacity())) {
        const Lsn moved = co_await m.load(tail_);
        if (moved == position) co_return;
        position = moved;
        continue;
      }
      if (next <= position) co_return;
      // The thread that takes the first link away has the right to move the tail.
      const bool is_claimed = co_await m.cas(slot(position), next, position);
      if (is_claimed) {
        position = next;
        break;
      }
      position = co_await m.load(tail_);
    }
    while (position < stop) {
      const Lsn next = co_await m.load(slot(position));
      if (next <= position || next > position + mask_) break;
      position = next;
    }
    co_await m.store(tail_, position);
  }

 private:
  auto slot(Lsn position) { return slots_[static_cast<std::size_t>(position & mask_)]; }

  typename M::Words slots_;
  std::uint64_t mask_;
  typename M::Word tail_;
};

}  // namespace engineroom::redo_log
