// Five sessions at the latches of the transaction system: who has each, who waits for it, step by step.
//
// What happens is a run of the chapter's kernel, native/kernels/trx_sys/latch_steps, on the simulated machine.
//
// Leaves out  arguments out of range: the caller checks them
#include <cstdint>

#include "machine/sim_config.hpp"
#include "trx_sys/latch_steps.hpp"
#include "wasm/exports.hpp"

namespace {

using namespace engineroom;
using namespace engineroom::trx_sys;
using exports::line;
using exports::text;

constexpr std::uint32_t kCores = 8;  // one for each session, and one for those before them

}  // namespace

/// The address of names, each ended by a line feed, all by a zero. Good until the next call.
ENGINEROOM_EXPORT("latches") const char* latches() { return exports::names_of<transactions::Latches>(); }
ENGINEROOM_EXPORT("transactions") const char* kinds() { return exports::names_of<Transaction>(); }
ENGINEROOM_EXPORT("calls") const char* calls() { return exports::names_of<Call>(); }

/// A run; design and transaction by their places in the lists above. A line each, numbers between tabs: "taken" with the sessions'
/// acquisitions of the mutex, of the serialisation mutex and of shards; "step" with its time in ns, session, latch (0, 1, from 2 on
/// shards), call by its place, and 0 waits, 1 takes, 2 leaves.
ENGINEROOM_EXPORT("run")
const char* run(std::uint32_t latches, std::uint32_t transaction, std::uint32_t open,
                std::uint32_t computing_ns, std::uint32_t seed) {
  machine::SimConfig machine{.cores_per_socket = kCores, .seed = seed};
  const LatchSteps seen = latch_steps({.latches = exports::at<transactions::Latches>(latches),
                                       .transaction = exports::at<Transaction>(transaction),
                                       .open = open,
                                       .computing_ns = computing_ns},
                                      machine);
  text.clear();
  line("taken", seen.mutex, seen.serialisation, seen.shards);
  for (const LatchStep& step : seen.steps) {
    line("step", step.now_ns, step.session, step.latch, static_cast<std::uint32_t>(step.call),
         static_cast<std::uint32_t>(step.does));
  }
  return text.c_str();
}
