// The threads that sleep on a line, first come first: what a futex keeps.
#pragma once

#include <cstdint>

#include "machine/sim/core.hpp"
#include "machine/sim/lines.hpp"
#include "machine/sim/thread.hpp"

namespace engineroom::machine::sim {

class Parked {
 public:
  explicit Parked(Core& core) : core_(core) {}

  void add(Thread& t) {
    Line& line = *t.ref.line;
    t.next = kNone;
    t.previous = line.last_parked;
    if (line.last_parked != kNone) {
      core_.thread(line.last_parked).next = static_cast<std::int32_t>(t.id);
    } else {
      line.first_parked = static_cast<std::int32_t>(t.id);
    }
    line.last_parked = static_cast<std::int32_t>(t.id);
  }
  void remove(Thread& t) {
    Line& line = *t.ref.line;
    (t.previous == kNone ? line.first_parked : core_.thread(t.previous).next) = t.next;
    (t.next == kNone ? line.last_parked : core_.thread(t.next).previous) = t.previous;
  }
  /// Calls wake(thread) for up to `most` that are parked on the word; how many. It takes each off the list.
  template <typename Wake>
  std::uint64_t each(const Ref& ref, std::uint64_t most, const Wake& wake) {
    std::uint64_t woken = 0;
    for (std::int32_t i = ref.line->first_parked; i != kNone && woken < most;) {
      Thread& parked = core_.thread(i);
      i = parked.next;
      if (parked.ref.value != ref.value) continue;
      ++woken;
      wake(parked);
    }
    return woken;
  }

 private:
  Core& core_;
};

}  // namespace engineroom::machine::sim
