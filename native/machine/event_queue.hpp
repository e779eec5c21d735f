// The times at which something happens, earliest first; of equal times, what was asked for first.
//
// Models      nothing: the heart of the simulation
// Leaves out  removal: an event that no longer counts is recognised when it comes up
// Cost        four children a node, 16 bytes an event: three levels hold 85
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "machine/sim_config.hpp"

namespace engineroom::machine {

struct Event {
  Time at;
  std::uint64_t order;  // a running number, and the thread in the lowest bits

  bool before(const Event& other) const { return at != other.at ? at < other.at : order < other.order; }
};
static_assert(sizeof(Event) == 16, "four children of a node share a cache line");

class EventQueue {
 public:
  bool empty() const { return heap_.empty(); }
  std::size_t size() const { return heap_.size(); }
  Time next_at() const { return heap_.empty() ? kNever : heap_[0].at; }

  void push(Event event) {
    std::size_t i = heap_.size();
    heap_.push_back(event);
    while (i > 0) {
      const std::size_t parent = (i - 1) / 4;
      if (!event.before(heap_[parent])) break;
      heap_[i] = heap_[parent];
      i = parent;
    }
    heap_[i] = event;
  }
  Event pop() {
    const Event first = heap_[0];
    const Event last = heap_.back();
    heap_.pop_back();
    if (!heap_.empty()) sink(0, last);
    return first;
  }
  /// Drops what `counts` refuses.
  template <typename Counts>
  void keep_if(Counts counts) {
    std::erase_if(heap_, [&](const Event& event) { return !counts(event); });
    for (std::size_t i = heap_.size() / 4 + 1; i-- > 0;) {
      if (i < heap_.size()) sink(i, heap_[i]);
    }
  }

 private:
  void sink(std::size_t i, Event event) {
    const std::size_t n = heap_.size();
    for (;;) {
      const std::size_t first = 4 * i + 1;
      if (first >= n) break;
      std::size_t best = first;
      const std::size_t end = first + 4 < n ? first + 4 : n;
      for (std::size_t child = first + 1; child < end; ++child) {
        if (heap_[child].before(heap_[best])) best = child;
      }
      if (!heap_[best].before(event)) break;
      heap_[i] = heap_[best];
      i = best;
    }
    heap_[i] = event;
  }

  std::vector<Event> heap_;
};

}  // namespace engineroom::machine
