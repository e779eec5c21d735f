// Two other queues of events with the interface and the order of machine/event_queue.hpp, to hold it against: what simulators
// use most besides. The tests run all three against the plainest queue there is.
//
// Put in its place in the whole machine, they give the same traces. Million events per second of CPU time, the best of nine
// turns taken in one sitting on a busy computer, with a latch (bench/machine.py has these loads):
//
//                                  ours    calendar   pairing
//   two threads                    23.9        22.4      24.8
//   100 threads on 64 cores        11.5        10.6       8.3
//   500                            10.4         9.9       7.8
//   3,000                           9.1         8.6       6.9
//
// The calendar takes 4 % fewer instructions for 500 threads (823 per event, 860 ours, 917 the pairing heap, counted by Valgrind)
// and guesses more branches wrong (6.0 per event, 4.4 ours, 9.5 the pairing heap, as Valgrind simulates them). So ours stays.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "machine/event_queue.hpp"
#include "machine/sim_config.hpp"

namespace engineroom::machine {

/// Fredman, Sedgewick, Sleator and Tarjan, 1986: a tree that is put in order, two by two, when its first is taken.
class PairingHeap {
 public:
  bool empty() const { return root_ == kNone; }
  Time next_at() const { return root_ == kNone ? kNever : nodes_[root_].at; }

  void set(std::uint32_t thread, Time at) {
    if (nodes_.size() <= thread) nodes_.resize(thread + 1);
    if (nodes_[thread].is_in) remove(thread);
    nodes_[thread] = {at, ++order_, kNone, kNone, kNone, true};
    root_ = root_ == kNone ? thread : linked(root_, thread);
  }
  void remove(std::uint32_t thread) {
    if (nodes_.size() <= thread || !nodes_[thread].is_in) return;
    Node& node = nodes_[thread];
    node.is_in = false;
    const std::uint32_t rest = in_order(node.child);
    if (thread == root_) {
      root_ = rest;
      return;
    }
    Node& before = nodes_[node.before];
    (before.child == thread ? before.child : before.next) = node.next;
    if (node.next != kNone) nodes_[node.next].before = node.before;
    if (rest != kNone) root_ = linked(root_, rest);
  }
  EventQueue::Next pop() {
    const std::uint32_t first = root_;
    const Time at = nodes_[first].at;
    remove(first);
    return {at, first};
  }

 private:
  static constexpr std::uint32_t kNone = UINT32_MAX;
  struct Node {
    Time at = 0;
    std::uint64_t order = 0;
    std::uint32_t child = kNone;
    std::uint32_t next = kNone;    // of the same parent
    std::uint32_t before = kNone;  // of the same parent, or the parent of its first child
    bool is_in = false;

    bool is_before(const Node& other) const { return at != other.at ? at < other.at : order < other.order; }
  };

  std::uint32_t linked(std::uint32_t a, std::uint32_t b) {
    if (nodes_[b].is_before(nodes_[a])) std::swap(a, b);
    Node& child = nodes_[b];
    child.next = nodes_[a].child;
    child.before = a;
    if (child.next != kNone) nodes_[child.next].before = b;
    nodes_[a].child = b;
    nodes_[a].next = kNone;
    return a;
  }
  /// One tree of the siblings from this one on: pairs from the left, then all from the right.
  std::uint32_t in_order(std::uint32_t first) {
    std::uint32_t pairs = kNone;  // a list by `next`, the last pair first
    while (first != kNone) {
      std::uint32_t one = first;
      const std::uint32_t two = nodes_[one].next;
      first = two == kNone ? kNone : nodes_[two].next;
      if (two != kNone) one = linked(one, two);
      nodes_[one].next = pairs;
      pairs = one;
    }
    if (pairs == kNone) return kNone;
    std::uint32_t tree = pairs;
    pairs = nodes_[tree].next;
    nodes_[tree].next = kNone;
    while (pairs != kNone) {
      const std::uint32_t next = nodes_[pairs].next;
      tree = linked(tree, pairs);
      pairs = next;
    }
    return tree;
  }

  std::vector<Node> nodes_;  // of each thread
  std::uint32_t root_ = kNone;
  std::uint64_t order_ = 0;
};

/// Brown, 1988: the days of a year, each with its events in order; an event of another year lies in the same day. As many days
/// as events; a day is three times the usual time between the next events, found again when the queue has doubled, has halved,
/// or takes more steps than it should (Brown's does not do the last).
class CalendarQueue {
 public:
  bool empty() const { return size_ == 0; }
  Time next_at() const {
    if (size_ == 0) return kNever;
    if (first_ == kNone) find_first();
    return nodes_[first_].at;
  }

  void set(std::uint32_t thread, Time at) {
    if (nodes_.size() <= thread) nodes_.resize(thread + 1);
    if (nodes_[thread].is_in) take_out(thread);
    nodes_[thread].at = at;
    nodes_[thread].order = ++order_;
    put_in(thread);
    keep_short();
  }
  void remove(std::uint32_t thread) {
    if (nodes_.size() <= thread || !nodes_[thread].is_in) return;
    take_out(thread);
    keep_short();
  }
  EventQueue::Next pop() {
    const Time at = next_at();
    const std::uint32_t thread = first_;
    take_out(thread);
    keep_short();
    return {at, thread};
  }

 private:
  static constexpr std::uint32_t kNone = UINT32_MAX;
  static constexpr std::size_t kFewest = 2;
  static constexpr std::size_t kSampled = 25;
  static constexpr std::uint64_t kOperations = 4096;  // between two looks at the steps
  static constexpr std::uint64_t kMostSteps = 3;      // per operation
  struct Node {
    Time at = 0;
    std::uint64_t order = 0;
    std::uint32_t next = kNone;
    std::uint32_t before = kNone;
    bool is_in = false;

    bool is_before(const Node& other) const { return at != other.at ? at < other.at : order < other.order; }
  };
  struct Day {
    std::uint32_t first = kNone;
    std::uint32_t last = kNone;
  };

  Day& day_of(Time at) { return days_[static_cast<std::size_t>(at >> width_bits_) & (days_.size() - 1)]; }

  void put_in(std::uint32_t thread) {
    Node& node = nodes_[thread];
    Day& day = day_of(node.at);
    std::uint32_t before = day.last;
    for (; before != kNone && node.is_before(nodes_[before]); before = nodes_[before].before) ++steps_;
    node.before = before;
    node.next = before == kNone ? day.first : nodes_[before].next;
    (before == kNone ? day.first : nodes_[before].next) = thread;
    (node.next == kNone ? day.last : nodes_[node.next].before) = thread;
    node.is_in = true;
    ++size_;
    if (first_ != kNone && node.is_before(nodes_[first_])) first_ = thread;
    if (node.at < today_) today_ = node.at;
  }
  void take_out(std::uint32_t thread) {
    Node& node = nodes_[thread];
    Day& day = day_of(node.at);
    (node.before == kNone ? day.first : nodes_[node.before].next) = node.next;
    (node.next == kNone ? day.last : nodes_[node.next].before) = node.before;
    node.is_in = false;
    --size_;
    if (thread == first_) {
      today_ = node.at;
      first_ = kNone;
    }
  }
  /// From the day of the last one on, for a year; then by a look at the first of every day.
  void find_first() const {
    for (std::size_t i = 0; i < days_.size(); ++i) {
      const Time number = (today_ >> width_bits_) + static_cast<Time>(i);
      const std::uint32_t first = days_[static_cast<std::size_t>(number) & (days_.size() - 1)].first;
      if (first != kNone && nodes_[first].at >> width_bits_ == number) {
        first_ = first;
        return;
      }
      ++steps_;
    }
    for (const Day& day : days_) {
      if (day.first != kNone && (first_ == kNone || nodes_[day.first].is_before(nodes_[first_])))
        first_ = day.first;
    }
    steps_ += days_.size();
  }

  void keep_short() {
    if (size_ > 2 * days_.size() || (2 * size_ < days_.size() && days_.size() > kFewest)) {
      make_days();
    } else if (++operations_ == kOperations) {
      const bool is_slow = steps_ > kMostSteps * kOperations;
      operations_ = 0;
      steps_ = 0;
      if (is_slow) make_days();
    }
  }
  void make_days() {
    std::vector<std::uint32_t> threads;
    for (const Day& day : days_) {
      for (std::uint32_t i = day.first; i != kNone; i = nodes_[i].next) threads.push_back(i);
    }
    std::ranges::sort(threads,
                      [&](std::uint32_t a, std::uint32_t b) { return nodes_[a].is_before(nodes_[b]); });
    std::size_t days = kFewest;
    while (days < threads.size()) days *= 2;
    width_bits_ = bits_of_width(threads);
    days_.assign(days, {});
    size_ = 0;
    first_ = kNone;
    for (const std::uint32_t thread : threads) put_in(thread);
    steps_ = 0;
    operations_ = 0;
  }
  /// Of the next events: three times the mean of the times between two, without those above twice the mean.
  int bits_of_width(const std::vector<std::uint32_t>& threads) const {
    const std::size_t n = std::min(threads.size(), kSampled);
    if (n < 2) return width_bits_;
    const Time span = nodes_[threads[n - 1]].at - nodes_[threads[0]].at;
    Time sum = 0;
    Time count = 0;
    for (std::size_t i = 1; i < n; ++i) {
      const Time gap = nodes_[threads[i]].at - nodes_[threads[i - 1]].at;
      if (gap * static_cast<Time>(n - 1) > 2 * span) continue;
      sum += gap;
      ++count;
    }
    int bits = 0;
    while ((Time{1} << bits) < 3 * sum / std::max<Time>(count, 1)) ++bits;
    return bits;
  }

  std::vector<Node> nodes_;  // of each thread
  std::vector<Day> days_ = std::vector<Day>(kFewest);
  int width_bits_ = 20;
  std::size_t size_ = 0;
  mutable std::uint32_t first_ = kNone;  // or to be found
  Time today_ = 0;                       // no event is before
  std::uint64_t order_ = 0;
  mutable std::uint64_t steps_ = 0;
  std::uint64_t operations_ = 0;
};

}  // namespace engineroom::machine
