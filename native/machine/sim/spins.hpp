// Threads that look at a word until it changes: a look that finds the line as it was costs no event.
//
// Models      looks with pauses between them, drawn or of one length. A look takes the line, in its queue, when somebody has
//             taken the line since the look before; every other one is a load from the thread's own cache. Where lines stay, a
//             look sees what is there when the line has come.
// Leaves out  that a processor may fetch the line ahead of the look
// Cost        an event for each look that takes the line, two where lines stay, and two for the spin; who takes the line
//             from others that spin on it computes when each of them looks next
#pragma once

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
  /// The event of a thread that spins: a look, or its slice is over. True: it goes on.
  bool on_event(Thread& t);
  /// Whose copy of the line was taken away: each looks at it anew when it looks next.
  void lose_copies(Line& line);
  /// The run is being stopped: the thread looks once more.
  void hurry(Thread& t);
  /// Its time up to now.
  void charge(Thread& t) { charge_until(t, core_.now); }

 private:
  void charge_until(Thread& t, Time at);
  bool look(Thread& t);
  bool see(Thread& t, Time takes);
  Time round(Random& random, const Spin& spin) const;
  Time next_round(Thread& t) const;
  Time last_look(Thread& t) const;
  void pass_rounds(Thread& t, Time before) const;
  void watch(Thread& t);
  void stop_watching(Thread& t);

  Core& core_;
  const CacheLines& lines_;
  Interruptions& interruptions_;
  const Timers& timers_;
  Scheduler& scheduler_;
};

}  // namespace engineroom::machine::sim
