// What takes a CPU from its thread now and then: the system itself, and on a virtual machine its host.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "machine/random.hpp"
#include "machine/sim/core.hpp"

namespace engineroom::machine::sim {

class Interruptions {
 public:
  explicit Interruptions(Core& core) : core_(core) {
    if (!happen()) return;
    for (std::uint32_t cpu = 0; cpu < core.topology.cpus(); ++cpu) to_next_.push_back(until_next());
  }

  bool happen() const { return core_.config.interrupt_every_ps > 0; }

  /// What interruptions add to so much time on a CPU. Of who computes they take all of their time, of a thread that
  /// looks at a word only what is left of them when the word has changed.
  Time added_to(std::uint32_t cpu, Time passed, bool computes) {
    Time added = 0;
    Time& to_next = to_next_[cpu];
    for (to_next -= passed; to_next < 0;) {
      const Time length = core_.config.interrupt.draw(core_.random);
      added = computes ? added + length : std::max(added, length + to_next);
      to_next += until_next();
    }
    return added;
  }

 private:
  Time until_next() {
    return 1 + static_cast<Time>(exponential(core_.random.next(),
                                             static_cast<std::uint64_t>(core_.config.interrupt_every_ps)));
  }

  Core& core_;
  std::vector<Time> to_next_;  // computing time, of each CPU
};

}  // namespace engineroom::machine::sim
