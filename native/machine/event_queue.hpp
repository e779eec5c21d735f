// The times at which something happens, earliest first; of equal times, what was asked for first. At most one
// a thread.
//
// Models      nothing: the heart of the simulation
// Leaves out  nothing
// Cost        four children per node, 16 bytes per event: three levels hold 85; moving a thread's event is one
//             sift. A calendar queue and a pairing heap cost more in a crowd
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "machine/sim_config.hpp"

namespace engineroom::machine {

class EventQueue {
 public:
  static constexpr unsigned kThreadBits = 20;
  static constexpr std::uint32_t kMostThreads = 1U << kThreadBits;

  bool empty() const { return heap_.size() == (has_hole_ ? 1 : 0); }
  Time next_at() const {
    if (!has_hole_) return heap_.empty() ? kNever : heap_[0].at;
    Time next = kNever;
    for (std::size_t i = 1; i < heap_.size() && i < 5; ++i) next = heap_[i].at < next ? heap_[i].at : next;
    return next;
  }

  /// The thread's event is at this time from now on.
  void set(std::uint32_t thread, Time at) {
    if (place_.size() <= thread) place_.resize(thread + 1, kNowhere);
    const Event event{at, (++order_ << kThreadBits) | thread};
    std::uint32_t i = place_[thread];
    if (i == kNowhere && has_hole_) {
      has_hole_ = false;
      sink(0, event);
    } else if (i == kNowhere) {
      i = static_cast<std::uint32_t>(heap_.size());
      heap_.push_back(event);
      rise(i, event);
    } else if (event.before(heap_[i])) {
      rise(i, event);
    } else {
      sink(i, event);
    }
  }
  /// The thread has no event from now on.
  void remove(std::uint32_t thread) {
    if (place_.size() <= thread || place_[thread] == kNowhere) return;
    const std::uint32_t i = place_[thread];
    place_[thread] = kNowhere;
    const Event last = heap_.back();
    heap_.pop_back();
    if (i == heap_.size()) return;
    if (i > 0 && last.before(heap_[(i - 1) / 4])) {
      rise(i, last);
    } else {
      sink(i, last);
    }
  }
  struct Next {
    Time at;
    std::uint32_t thread;
  };
  Next pop() {
    if (has_hole_) {
      const Event last = heap_.back();
      heap_.pop_back();
      sink(0, last);
    }
    // What was first leaves a hole, which the next event most often fills: one way through the heap for both.
    has_hole_ = true;
    const std::uint32_t thread = thread_of(heap_[0]);
    place_[thread] = kNowhere;
    return {heap_[0].at, thread};
  }

 private:
  static constexpr std::uint32_t kNowhere = UINT32_MAX;

  struct Event {
    Time at;
    std::uint64_t order;  // a running number, and the thread in the lowest bits

    /// One comparison of 128 bits: which of several events is the first is not to be guessed by a branch.
    bool before(const Event& other) const { return key() < other.key(); }
    unsigned __int128 key() const { return static_cast<unsigned __int128>(at) << 64 | order; }
  };
  static_assert(sizeof(Event) == 16, "four children of a node share a cache line");

  static std::uint32_t thread_of(const Event& event) {
    return static_cast<std::uint32_t>(event.order & (kMostThreads - 1));
  }
  void put(std::uint32_t i, const Event& event) {
    heap_[i] = event;
    place_[thread_of(event)] = i;
  }
  void rise(std::uint32_t i, Event event) {
    while (i > 0) {
      const std::uint32_t parent = (i - 1) / 4;
      if (!event.before(heap_[parent])) break;
      put(i, heap_[parent]);
      i = parent;
    }
    put(i, event);
  }
  void sink(std::uint32_t i, Event event) {
    const auto n = static_cast<std::uint32_t>(heap_.size());
    for (;;) {
      const std::uint32_t first = 4 * i + 1;
      if (first >= n) break;
      std::uint32_t best = first;
      if (first + 4 <= n) {
        const std::uint32_t left = first + (heap_[first + 1].before(heap_[first]) ? 1 : 0);
        const std::uint32_t right = first + 2 + (heap_[first + 3].before(heap_[first + 2]) ? 1 : 0);
        best = heap_[right].before(heap_[left]) ? right : left;
      } else {
        for (std::uint32_t child = first + 1; child < n; ++child) {
          best = heap_[child].before(heap_[best]) ? child : best;
        }
      }
      if (!heap_[best].before(event)) break;
      put(i, heap_[best]);
      i = best;
    }
    put(i, event);
  }

  std::vector<Event> heap_;
  std::vector<std::uint32_t> place_;  // of each thread's event in heap_
  std::uint64_t order_ = 0;
  bool has_hole_ = false;  // heap_[0] has been popped; it is still before all others
};

}  // namespace engineroom::machine
