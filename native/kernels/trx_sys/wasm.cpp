// Five sessions at the latches of the transaction system: who has each, who waits for it, step by step.
//
// What happens is a run of the chapter's kernel, native/kernels/trx_sys/latch_steps, on the simulated machine.
//
// Leaves out  arguments out of range: the caller checks them
#include <cstddef>
#include <cstdint>
#include <string>

#include "common/names.hpp"
#include "machine/sim_config.hpp"
#include "trx_sys/latch_steps.hpp"

#define ENGINEROOM_EXPORT(name) extern "C" __attribute__((export_name(name)))

namespace {

using namespace engineroom;
using namespace engineroom::trx_sys;

constexpr std::uint32_t kCores = 8;  // one for each session, and one for those before them

std::string text;

template <typename Table>
const char* names_in(const Table& table) {
  text.clear();
  for (const auto& each : table.all) (text += each.text) += '\n';
  return text.c_str();
}
template <typename... Parts>
void line(const char* what, Parts... parts) {
  text += what;
  ((text += '\t', text += std::to_string(parts)), ...);
  text += '\n';
}

}  // namespace

/// The address of names, each ended by a line feed, all by a zero. Good until the next call.
ENGINEROOM_EXPORT("latches") const char* latches() {
  return names_in(names::table_of<transactions::Latches>);
}
ENGINEROOM_EXPORT("transactions") const char* kinds() { return names_in(names::table_of<Transaction>); }
ENGINEROOM_EXPORT("calls") const char* calls() { return names_in(names::table_of<Call>); }

/// A run; design and transaction by their places in the lists above. A line each, numbers between tabs: "taken" with the sessions'
/// acquisitions of the mutex, of the serialisation mutex and of shards; "step" with its time in ns, session, latch (0, 1, from 2 on
/// shards), call by its place, and 0 waits, 1 takes, 2 leaves.
ENGINEROOM_EXPORT("run")
const char* run(std::uint32_t latches, std::uint32_t transaction, std::uint32_t open,
                std::uint32_t computing_ns, std::uint32_t seed) {
  machine::SimConfig machine;
  machine.cores_per_socket = kCores;
  machine.seed = seed;
  const LatchSteps seen = latch_steps({.latches = names::table_of<transactions::Latches>.all[latches].value,
                                       .transaction = names::table_of<Transaction>.all[transaction].value,
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
