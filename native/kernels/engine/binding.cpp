// engineroom._native.engine: transactions through locks, transaction system, redo log and binary log together, and what they consist of.
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "bindings/arguments.hpp"
#include "bindings/arrays.hpp"
#include "bindings/options.hpp"
#include "bindings/session_run.hpp"
#include "bindings/sim_binding.hpp"
#include "engine/any_load.hpp"
#include "engine/latch_order.hpp"
#include "engine/load.hpp"
#include "engine/mix.hpp"
#include "machine/sim_machine.hpp"
#include "submodules.hpp"

namespace engineroom::engine {

/// What of it is no list and no demand.
constexpr auto described(options::Of<MixTransaction>) {
  using T = MixTransaction;
  return options::list<T>("a transaction of the mix",
                          {
                              options::option<&T::weight>("how often it is drawn, against the others"),
                              options::option<&T::sends_commit>("whether the client sends a COMMIT"),
                          });
}

}  // namespace engineroom::engine

namespace engineroom::bindings {

namespace {

using namespace engine;

constexpr const char* kSimulateDoc =
    R"(Clients that run sysbench's read-write transactions or TPC-C's through a whole engine, in virtual time.

parameters: the machine's. load, engine, trx_sys, log, commit, purge and pool: see load_options(), engine_options(), those of the modules
read_views, redo_log and group_commit, purge_options() and pool_options(). commit counts with engine["binlog"], and of it commit_bytes,
commit_ns and changed_rows never do: the transactions say that. lock_design: "5.7", "8.0.15" or "9.7", and locks: what is changed of it,
options of lock_sys.lock_options(). What is
left out has its default.
demands: by the name of a statement (statements(kind) has all that are needed) its options of demand_options().
order: a policy of your own instead of the one of `locks`, best with the design of 9.7, which weighs. It is called with the waiters of a
record in queue order, each a dict of trx, started, weight, mode and is_urgent, and returns their places, from 0 on, in the order in
which they are tried; who is left out waits on, as long as anybody is granted.
run_ns, warmup_ns: virtual time; the warm-up is not counted. With load["transactions"] the run goes on to their end and
run_ns bounds it. longest_ns: the window grows from run_ns up to this until it is settled.

Returns a dict. Of the window: transactions, begun (attempts), commits, rolled_back, new_orders (committed), deadlocks, timeouts,
changes, undone, mtrs, dirtied (mini-transactions that made a clean page dirty), lock_waits, lock_wait_ns, false_positives, rounds; acquisitions of trx_mutex, trx_serialisation, trx_shards, lock_global, lock_pages,
lock_tables; of purge purge_committed (undo logs that entered the history), purge_removed (that left it), purge_rows, purge_batches,
purge_latches; of the buffer pool pool_gets, pool_misses, pool_reads, pool_writes, pool_user_writes (of these by sessions), pool_evicted,
pool_made_young, pool_free_waits; fsyncs, writes and written_bytes of the redo log, binlog_fsyncs, binlog_writes and binlog_bytes,
flush_groups, sync_groups and commit_groups, and what a run is asked anyway: its waits by the latches' names in performance_schema.
At its end: most_waiting, history_length.
Raises ValueError for a bad argument, RuntimeError for a simulation that stalled.)";

/// Refuses a place that no waiter has and one that comes twice.
std::vector<std::uint32_t> places(const py::object& returned, std::size_t waiters) {
  std::vector<std::uint32_t> order;
  std::vector<bool> seen(waiters);
  const auto refuse = [&] {
    throw py::value_error("order returned " + std::string(py::repr(returned)) + " for " +
                          std::to_string(waiters) + " waiters\n  What to do: return places from 0 to " +
                          std::to_string(waiters - 1) + ", each at most once");
  };
  std::vector<std::int64_t> given;
  try {
    given = returned.cast<std::vector<std::int64_t>>();
  } catch (const py::cast_error&) {
    refuse();
  }
  for (const std::int64_t place : given) {
    if (place < 0 || static_cast<std::size_t>(place) >= waiters || seen[static_cast<std::size_t>(place)])
      refuse();
    seen[static_cast<std::size_t>(place)] = true;
    order.push_back(static_cast<std::uint32_t>(place));
  }
  return order;
}

lock_sys::Order order_by(const std::optional<py::function>& order) {
  if (!order) return {};
  return [by = *order](std::span<const lock_sys::Waiter> waiters) {
    const py::gil_scoped_acquire locked;
    py::list all;
    for (const lock_sys::Waiter& waiter : waiters) {
      using W = lock_sys::Waiter;
      all.append(dict_of_members<&W::trx, &W::started, &W::weight, &W::mode, &W::is_urgent>(waiter));
    }
    return places(by(all), waiters.size());
  };
}

Parts parts_of(const EngineConfig& config, lock_sys::Design lock_design, const py::dict& locks,
               const transactions::TrxSysConfig& trx_sys, const redo_log::LogConfig& log,
               const group_commit::CommitConfig& commit, const PurgeConfig& purge, const PoolConfig& pool) {
  return {.engine = config,
          .locks = options_from<lock_sys::LockConfig>(locks, lock_sys::config_of(lock_design)),
          .trx_sys = trx_sys,
          .log = log,
          .commit = commit,
          .purge = purge,
          .pool = pool};
}

py::dict simulate(const py::dict& parameters, const LoadConfig& load, const Demands& demands,
                  const EngineConfig& config, lock_sys::Design lock_design, const py::dict& locks,
                  const transactions::TrxSysConfig& trx_sys, const redo_log::LogConfig& log,
                  const group_commit::CommitConfig& commit, const PurgeConfig& purge, const PoolConfig& pool,
                  const std::optional<py::function>& order, std::int64_t run_ns, std::int64_t warmup_ns,
                  std::int64_t longest_ns, std::int64_t seed, const std::optional<py::function>& progress) {
  const Window window = window_of(run_ns, warmup_ns, longest_ns);
  Parts parts = parts_of(config, lock_design, locks, trx_sys, log, commit, purge, pool);
  parts.order = order_by(order);
  machine::SimMachine m(sim_config(parameters, static_cast<std::uint64_t>(seed)));
  m.set_poll(stop_or_tell(progress));
  machine::SimMachine::File file(m, "redo", machine::Bytes::counted);
  const AnyLoad clients = any_load(m, file, parts, load, demands, static_cast<std::uint64_t>(seed));
  return run_sessions(m, *clients, window);
}

constexpr const char* kSimulateMixDoc =
    R"(As simulate(), with transactions of one's own.

mix: a list of dicts, one per kind of transaction: weight; sends_commit, whether the client sends a COMMIT; commit, a dict of
demand_options(); draws, a list of dicts of mix_draw_options(); statements, a list of dicts of mix_statement_options().
load: of load_options() clients, transactions and away_ns.)";

/// A kind of transaction as Python gives it.
using Given = std::map<std::string, py::object>;

template <typename T>
T given_as(const py::object& value, const char* name, const char* what) {
  const std::string said = std::string(name) + " must be " + what + ", got " + std::string(py::repr(value));
  try {
    return value.cast<T>();
  } catch (const py::cast_error&) {
    throw py::value_error(said);
  } catch (const py::error_already_set&) {  // of what Python itself could not make a dict
    throw py::value_error(said);
  }
}

Mix mix_of(const std::vector<Given>& mix) {
  std::vector<MixTransaction> transactions;
  for (const Given& each : mix) {
    const auto dicts = [&](const char* name) {
      if (!each.contains(name)) {
        throw py::value_error(std::string("a transaction of the mix lacks ") + name);
      }
      return given_as<std::vector<py::dict>>(each.at(name), name, "a list of dicts");
    };
    py::dict others;
    for (const auto& [name, value] : each) {
      if (name != "commit" && name != "draws" && name != "statements") others[py::str(name)] = value;
    }
    MixTransaction& made = transactions.emplace_back(options_from<MixTransaction>(others));
    if (each.contains("commit")) {
      made.commit = options_from<Demand>(given_as<py::dict>(each.at("commit"), "commit", "a dict"));
    }
    for (const py::dict& one : dicts("draws")) made.draws.push_back(options_from<MixDraw>(one));
    for (const py::dict& one : dicts("statements")) {
      made.statements.push_back(options_from<MixStatement>(one));
    }
  }
  return Mix(std::move(transactions));
}

py::dict simulate_mix(const py::dict& parameters, const std::vector<Given>& mix, const LoadConfig& load,
                      const EngineConfig& config, lock_sys::Design lock_design, const py::dict& locks,
                      const transactions::TrxSysConfig& trx_sys, const redo_log::LogConfig& log,
                      const group_commit::CommitConfig& commit, const PurgeConfig& purge,
                      const PoolConfig& pool, std::int64_t run_ns, std::int64_t warmup_ns,
                      std::int64_t longest_ns, std::int64_t seed,
                      const std::optional<py::function>& progress) {
  const Window window = window_of(run_ns, warmup_ns, longest_ns);
  const Parts parts = parts_of(config, lock_design, locks, trx_sys, log, commit, purge, pool);
  machine::SimMachine m(sim_config(parameters, static_cast<std::uint64_t>(seed)));
  m.set_poll(stop_or_tell(progress));
  machine::SimMachine::File file(m, "redo", machine::Bytes::counted);
  const AnyLoad clients = any_load(m, file, parts, load, mix_of(mix), static_cast<std::uint64_t>(seed));
  return run_sessions(m, *clients, window);
}

std::vector<std::string> statements(LoadKind kind) {
  std::vector<std::string> all;
  for (const Statement statement : statements_of(kind)) all.emplace_back(names::of(statement));
  return all;
}

constexpr const char* kLatchOrderDoc =
    R"(The latches that one client's statements ask for, in their order: a list of the statement's name and the latches' names in
performance_schema, for each execution of so many transactions. A log without a latch on its way in has log_reservation there.

load, demands, engine, lock_design, locks and trx_sys: as of simulate. Of the load, clients and times do not count.
Raises ValueError for a bad argument.)";

py::list latch_order_of(const LoadConfig& load, const Demands& demands, const EngineConfig& config,
                        lock_sys::Design lock_design, const py::dict& locks,
                        const transactions::TrxSysConfig& trx_sys, std::int64_t n, std::int64_t seed) {
  const Parts parts = parts_of(config, lock_design, locks, trx_sys, {}, {}, {}, {});
  py::list all;
  for (const AskedFor& each :
       latch_order(sim_config({}, static_cast<std::uint64_t>(seed)), parts, load, demands,
                   at_least(n, 1, "transactions"), static_cast<std::uint64_t>(seed), stop_or_tell({}))) {
    all.append(py::make_tuple(names::of(each.statement), each.latches));
  }
  return all;
}

py::dict one_script(const LoadConfig& load, std::uint64_t seed) {
  machine::Random random(seed);
  Script script;
  draw(load, random, script);
  py::list steps;
  for (const Step& step : script.steps) {
    using S = Step;
    steps.append(dict_of_members<&S::statement, &S::is_next_of_statement, &S::reads, &S::locks, &S::changes,
                                 &S::inserts, &S::mode, &S::table, &S::row, &S::checks, &S::lookups>(step));
  }
  return dict_of(
      {{"transaction", names::of(script.kind)}, {"rolls_back", script.rolls_back}, {"steps", steps}});
}

std::vector<std::uint64_t> drawn_rows(const LoadConfig& load, std::int64_t n, std::uint64_t seed) {
  const RowDraw draw_row(load);
  machine::Random random(seed);
  std::vector<std::uint64_t> rows(at_least(n, 1, "n"));
  for (std::uint64_t& row : rows) row = draw_row(random);
  return rows;
}

}  // namespace

void bind_engine(py::module_& module) {
  py::module_ m = module.def_submodule(
      "engine", "Row locks, transaction system, redo log and binary log as one engine, under two loads.");
  m.def("simulate", &simulate, kSimulateDoc, py::kw_only(), py::arg("parameters"), py::arg("load"),
        py::arg("demands"), py::arg("engine") = py::dict(), py::arg("lock_design") = "9.7",
        py::arg("locks") = py::dict(), py::arg("trx_sys") = py::dict(), py::arg("log") = py::dict(),
        py::arg("commit") = py::dict(), py::arg("purge") = py::dict(), py::arg("pool") = py::dict(),
        py::arg("order") = py::none(), py::arg("run_ns"), py::arg("warmup_ns") = 0, py::arg("longest_ns") = 0,
        py::arg("seed") = 1, py::arg("progress") = py::none());
  m.def("simulate_mix", &simulate_mix, kSimulateMixDoc, py::kw_only(), py::arg("parameters"), py::arg("mix"),
        py::arg("load"), py::arg("engine") = py::dict(), py::arg("lock_design") = "9.7",
        py::arg("locks") = py::dict(), py::arg("trx_sys") = py::dict(), py::arg("log") = py::dict(),
        py::arg("commit") = py::dict(), py::arg("purge") = py::dict(), py::arg("pool") = py::dict(),
        py::arg("run_ns"), py::arg("warmup_ns") = 0, py::arg("longest_ns") = 0, py::arg("seed") = 1,
        py::arg("progress") = py::none());
  m.def("latch_order", &latch_order_of, kLatchOrderDoc, py::arg("load"), py::arg("demands"), py::kw_only(),
        py::arg("engine") = py::dict(), py::arg("lock_design") = "9.7", py::arg("locks") = py::dict(),
        py::arg("trx_sys") = py::dict(), py::arg("transactions") = 1, py::arg("seed") = 1);
  m.def("statements", &statements, "The statements of a load, each of which needs a demand.",
        py::arg("kind"));
  m.def("script", &one_script,
        "One transaction as it is drawn: its kind, whether it rolls back by itself, and its steps with the "
        "rows that they lock.",
        py::arg("load"), py::kw_only(), py::arg("seed") = 1);
  m.def("drawn_rows", &drawn_rows, "n rows of sysbench's table by the load's distribution, from 0 on.",
        py::arg("load"), py::kw_only(), py::arg("n"), py::arg("seed") = 1);
  def_listed<LoadConfig>(m, "load_options", "What a load consists of.");
  def_listed<EngineConfig>(m, "engine_options", "What can be set of an engine.");
  def_listed<PurgeConfig>(m, "purge_options", "What can be set of an engine's purge.");
  def_listed<PoolConfig>(m, "pool_options", "What can be set of an engine's buffer pool.");
  m.def(
      "data_pages", [](const LoadConfig& load) { return pages_of(Table::sbtest, load.rows).size(); },
      "Pages of sysbench's table, with those above its leaves.", py::arg("load"));
  def_listed<MixDraw>(m, "mix_draw_options", "What a draw of a mix consists of.");
  def_listed<MixStatement>(m, "mix_statement_options", "What a statement of a mix consists of.");
  def_listed<Demand>(m, "demand_options", "What a statement asks for.");
}

}  // namespace engineroom::bindings
