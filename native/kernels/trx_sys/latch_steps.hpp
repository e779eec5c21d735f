// Sessions at the latches of the transaction system, step by step: who waits for which, who has it, who lets it go.
//
// Models      one transaction of each session at READ COMMITTED, through transactions/trx_sys.hpp in any of its designs
// Leaves out  rows and their locks, redo, the binary log; sessions are connected already and begin together
// Cost        some ten events per latch; looking changes nothing: the same trace as unobserved
#pragma once

#include <cstdint>
#include <vector>

#include "common/described.hpp"
#include "common/names.hpp"
#include "machine/sim_config.hpp"
#include "transactions/design.hpp"

namespace engineroom::trx_sys {

/// What each session runs.
enum class Transaction : std::uint8_t { select, two_selects, update, select_update };
constexpr auto named(names::Of<Transaction>) {
  return names::table<Transaction>("transaction", {{"SELECT", Transaction::select},
                                                   {"two SELECTs", Transaction::two_selects},
                                                   {"UPDATE", Transaction::update},
                                                   {"SELECT, UPDATE", Transaction::select_update}});
}

/// What a session is in: a call of the transaction system.
enum class Call : std::uint8_t { begin, make_view, drop_view, take_id, look_for_id, commit, end };
constexpr auto named(names::Of<Call>) { return names::as_written<Call::end>("call"); }

enum class Does : std::uint8_t { waits, takes, leaves };
constexpr auto named(names::Of<Does>) { return names::as_written<Does::leaves>("does"); }

/// Whoever takes a latch that nobody has does not wait first.
struct LatchStep {
  std::uint64_t now_ns = 0;
  std::uint32_t session = 0;
  std::uint32_t latch = 0;  // 0 trx_sys_mutex, 1 trx_sys_serialisation_mutex, from 2 on the shards
  Call call = Call::begin;
  Does does = Does::takes;
};

constexpr std::uint32_t kMostSessions = 64;
struct StepsConfig {
  transactions::Latches latches = transactions::Latches::sharded;
  Transaction transaction = Transaction::select_update;
  std::uint32_t sessions = 5;
  std::uint32_t open = 0;
  std::uint64_t computing_ns = 1'000;
};
constexpr auto described(options::Of<StepsConfig>) {
  using C = StepsConfig;
  return options::list<C>(
      "sessions at the latches",
      {
          options::option<&C::latches>("under which latches ids, numbers and sets lie"),
          options::option<&C::transaction>("what each session runs once"),
          options::option<&C::sessions>({.least = 1, .most = kMostSessions}, "that begin together"),
          options::option<&C::open>({.most = 100'000},
                                    "other transactions, older than all, that have written and not ended"),
          options::option<&C::computing_ns>("before each call, mean"),
      });
}

struct LatchSteps {
  std::vector<LatchStep> steps;
  std::uint64_t trace_hash = 0;
  std::uint64_t mutex = 0;  // acquisitions by the sessions
  std::uint64_t serialisation = 0;
  std::uint64_t shards = 0;
};

/// All steps of a run. `is_observed` off: no steps, for whoever asks what looking changes.
LatchSteps latch_steps(const StepsConfig& config, const machine::SimConfig& machine, bool is_observed = true);

}  // namespace engineroom::trx_sys
