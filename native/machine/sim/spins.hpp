// Threads that look at a word until it changes: a simulated spin costs no event a round.
//
// Models      looks at regular times, each a read of the line; a write that changes nothing for the thread is seen, too,
//             and brings the line back to it
// Leaves out  what the looks of many threads cost one another between two writes
// Cost        two events a spin; a write goes through all who spin on its line
#pragma once

#include <cstdint>

#include "machine/sim/core.hpp"
#include "machine/sim/interruptions.hpp"
#include "machine/sim/lines.hpp"
#include "machine/sim/scheduler.hpp"
#include "machine/sim/timers.hpp"

namespace engineroom::machine::sim {

class Spins {
 public:
  Spins(Core& core, const CacheLines& lines, Interruptions& interruptions, const Timers& timers,
        Scheduler& scheduler)
      : core_(core), lines_(lines), interruptions_(interruptions), timers_(timers), scheduler_(scheduler) {}

  /// The thread's first look, and the first one of each stay on a CPU. False: it need not look again, and goes on.
  bool begin(Thread& t);
  /// The event of a thread that spins: a change is seen, the rounds are used up, or the slice is over. True: it goes on.
  bool on_event(Thread& t);
  /// The word was written.
  void tell(const Ref& ref);
  /// The run is being stopped: the thread looks once more.
  void hurry(Thread& t);
  /// Its time up to now.
  void charge(Thread& t);

 private:
  void watch(Thread& t);
  void stop_watching(const Thread& t);

  Core& core_;
  const CacheLines& lines_;
  Interruptions& interruptions_;
  const Timers& timers_;
  Scheduler& scheduler_;
};

}  // namespace engineroom::machine::sim
