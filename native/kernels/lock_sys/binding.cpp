// engineroom._native.lock_sys: a table and its sessions, weights and victims of a wait-for graph, the policies' orders, and
// runs at random.
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "bindings/arguments.hpp"
#include "bindings/arrays.hpp"
#include "bindings/options.hpp"
#include "bindings/session_run.hpp"
#include "bindings/sim_binding.hpp"
#include "lock_sys/any_load.hpp"
#include "lock_sys/lock_config.hpp"
#include "lock_sys/playground.hpp"
#include "lock_sys/random_runs.hpp"
#include "lock_sys/schedulers.hpp"
#include "lock_sys/wait_graph.hpp"
#include "submodules.hpp"

namespace engineroom::lock_sys {

constexpr auto described(options::Of<Waiter>) {
  using W = Waiter;
  return options::list<W>("a waiter",
                          {
                              options::option<&W::trx>("the number of its transaction"),
                              options::option<&W::started>("the order of the starts of transactions"),
                              options::option<&W::weight>("as the background thread publishes it"),
                              options::option<&W::age>("as 8.0.3 keeps it"),
                              options::option<&W::mode>("of the lock that it waits for"),
                              options::option<&W::is_urgent>("whether it is tried before all others"),
                          });
}

}  // namespace engineroom::lock_sys

namespace engineroom::bindings {

namespace {

using namespace lock_sys;
using machine::SimMachine;
using Bound = std::optional<std::int64_t>;
using GivenWaiter = py::typing::Dict<py::str, py::object>;

constexpr const char* kPlaygroundDoc = R"(A table and sessions whose statements run one after the other.

design: "5.7", "8.0.15" or "9.7". reads_committed: a session each, whether it runs READ COMMITTED, else REPEATABLE READ.
columns: how many, all integers; column 0 is the primary key. secondary: of each secondary index its column and whether it is
unique. rows: what the table holds. Index 0 is the primary key, the others follow in their order.
Raises ValueError for a row of another length and for what is not there.)";

constexpr const char* kSimulateDoc = R"(Clients that lock rows of their own and let them go, in virtual time.

design: "5.7", "8.0.15" or "9.7". parameters: the machine's. load and locks: see load_options() and lock_options(); what is left
out has its default, of the design in locks. run_ns, warmup_ns, longest_ns: as in redo_log.simulate.

Returns a dict: transactions, waits (for a row: none), and per kind the latches of the lock system that were taken, global_latches,
page_latches (in 5.7 the one mutex) and table_latches; latency_ns_p50 and latency_ns_p99, cpu_ns and window_ns of the window,
is_settled, half_width, and what a run is asked anyway.
Raises ValueError for a bad argument, RuntimeError for a simulation that stalled.)";

Statement statement_on(Statement::Verb verb, std::size_t index, const Bound& low, const Bound& high,
                       bool has_low, bool has_high) {
  return {.verb = verb,
          .index = index,
          .range = {.low = low, .high = high, .has_low = has_low, .has_high = has_high}};
}

/// A graph of waiters as Python gives it: who waits for whom, by number.
struct Graph {
  std::map<std::uint32_t, std::unique_ptr<Trx>> trxs;
  std::vector<Snapped> waiters;

  Trx* trx(std::uint32_t number) {
    std::unique_ptr<Trx>& made = trxs[number];
    if (!made) made = std::make_unique<Trx>(), made->number = number;
    return made.get();
  }
  explicit Graph(const std::vector<std::tuple<std::uint32_t, std::uint32_t, std::uint64_t>>& edges) {
    for (const auto& [waiting, blocking, reservation] : edges) {
      waiters.push_back({trx(waiting), trx(blocking), waiters.size(), reservation});
    }
  }
};
using Edges = std::vector<std::tuple<std::uint32_t, std::uint32_t, std::uint64_t>>;

std::map<std::uint32_t, std::uint64_t> schedule_weights(const Edges& edges, std::uint64_t reservations) {
  Graph graph(edges);
  const auto outgoing = outgoing_edges(graph.waiters);
  auto weights = initial_weights(graph.waiters, reservations);
  std::vector<bool> is_final;
  add_up(outgoing, weights, is_final);
  std::map<std::uint32_t, std::uint64_t> found;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    if (is_final[i]) found[graph.waiters[i].trx->number] = weights[i];
  }
  return found;
}

py::list deadlocks(const Edges& edges, const std::map<std::uint32_t, std::uint64_t>& rows_changed) {
  Graph graph(edges);
  for (const auto& [number, rows] : rows_changed) graph.trx(number)->undo_no = rows;
  const auto outgoing = outgoing_edges(graph.waiters);
  py::list found;
  for (auto& cycle : cycles(outgoing)) {
    const std::size_t victim = choose_victim(cycle, graph.waiters);
    py::list numbers;
    for (const std::uint32_t i : cycle) numbers.append(graph.waiters[i].trx->number);
    found.append(py::make_tuple(numbers, graph.waiters[cycle[victim]].trx->number));
  }
  return found;
}

std::vector<std::uint32_t> grant_order(Policy policy, const std::vector<GivenWaiter>& waiters,
                                       std::uint64_t seed) {
  std::vector<Waiter> all;
  for (const GivenWaiter& given : waiters) all.push_back(options_from<Waiter>(given));
  return scheduler_of(policy, seed).order(all);
}

py::dict random_report(const LockConfig& config, Mistake mistake, const RandomRuns& runs) {
  const RandomReport report = without_gil([&] { return random_runs(config, mistake, runs); });
  using R = RandomReport;
  return dict_of_members<&R::runs, &R::transactions, &R::waits, &R::deadlocks, &R::false_positives,
                         &R::inserts, &R::moves, &R::made_explicit, &R::conflicts, &R::disorders,
                         &R::waits_for_nobody, &R::wrong_blockers, &R::phantoms, &R::lost_updates,
                         &R::intruders, &R::needless_victims, &R::stale_weights, &R::hangs, &R::leftovers,
                         &R::first_failure>(report);
}

py::dict simulate(Design design, const py::dict& parameters, const LoadConfig& load, const py::dict& locks,
                  std::int64_t run_ns, std::int64_t warmup_ns, std::int64_t longest_ns, std::int64_t seed,
                  const std::optional<py::function>& progress) {
  const Window window = window_of(run_ns, warmup_ns, longest_ns);
  const LockConfig config = options_from<LockConfig>(locks, config_of(design));
  SimMachine m(sim_config(parameters, static_cast<std::uint64_t>(seed)));
  m.set_poll(stop_or_tell(progress));
  return run_sessions(m, *any_load(m, config, load), window);
}

void bind_playground(py::module_& m) {
  py::class_<Playground>(m, "Playground", kPlaygroundDoc)
      .def(py::init([](Design design, const std::vector<bool>& reads_committed, std::size_t columns,
                       const std::vector<std::pair<std::size_t, bool>>& secondary,
                       const std::vector<Row>& rows) {
             PlaygroundConfig config{
                 .design = design, .reads_committed = reads_committed, .columns = columns, .rows = rows};
             for (const auto& [column, is_unique] : secondary)
               config.secondary.push_back({column, is_unique});
             return std::make_unique<Playground>(config);
           }),
           py::kw_only(), py::arg("design"), py::arg("reads_committed"), py::arg("columns"),
           py::arg("secondary") = std::vector<std::pair<std::size_t, bool>>{}, py::arg("rows"))
      .def(
          "read",
          [](Playground& self, std::uint32_t session, std::size_t index, const Bound& low, const Bound& high,
             bool has_low, bool has_high, bool for_share) {
            const auto verb =
                for_share ? Statement::Verb::select_for_share : Statement::Verb::select_for_update;
            return self.execute(session, statement_on(verb, index, low, high, has_low, has_high));
          },
          "A locking read of a range of an index. What it came to: 'ok', 'waits', 'deadlock', 'timed out'.",
          py::arg("session"), py::kw_only(), py::arg("index") = 0, py::arg("low") = py::none(),
          py::arg("high") = py::none(), py::arg("has_low") = true, py::arg("has_high") = true,
          py::arg("for_share") = false)
      .def(
          "update",
          [](Playground& self, std::uint32_t session, std::size_t column, std::int64_t more,
             std::size_t index, const Bound& low, const Bound& high, bool has_low, bool has_high) {
            Statement statement = statement_on(Statement::Verb::update, index, low, high, has_low, has_high);
            statement.column = column;
            statement.more = more;
            return self.execute(session, statement);
          },
          "Adds `more` to a column of the rows of a range.", py::arg("session"), py::arg("column"),
          py::arg("more"), py::kw_only(), py::arg("index") = 0, py::arg("low") = py::none(),
          py::arg("high") = py::none(), py::arg("has_low") = true, py::arg("has_high") = true)
      .def(
          "delete",
          [](Playground& self, std::uint32_t session, std::size_t index, const Bound& low, const Bound& high,
             bool has_low, bool has_high) {
            return self.execute(session,
                                statement_on(Statement::Verb::remove, index, low, high, has_low, has_high));
          },
          "Deletes the rows of a range.", py::arg("session"), py::kw_only(), py::arg("index") = 0,
          py::arg("low") = py::none(), py::arg("high") = py::none(), py::arg("has_low") = true,
          py::arg("has_high") = true)
      .def(
          "insert",
          [](Playground& self, std::uint32_t session, const Row& row) {
            Statement statement{.verb = Statement::Verb::insert};
            statement.row = row;
            return self.execute(session, statement);
          },
          "Inserts a row; 'duplicate' when a unique index has its value.", py::arg("session"), py::arg("row"))
      .def(
          "commit",
          [](Playground& self, std::uint32_t session) {
            return self.execute(session, {.verb = Statement::Verb::commit});
          },
          py::arg("session"))
      .def(
          "rollback",
          [](Playground& self, std::uint32_t session) {
            return self.execute(session, {.verb = Statement::Verb::rollback});
          },
          py::arg("session"))
      .def("result", &Playground::result, "What the last statement of a session came to by now.",
           py::arg("session"))
      .def("blocker", &Playground::blocker,
           "The session that a waiting one notes as its blocker; None in a version that notes none.",
           py::arg("session"))
      .def("weight", &Playground::weight,
           "How many wait for a session that waits, itself included; 0 in a version that does not weigh.",
           py::arg("session"))
      .def(
          "locks",
          [](const Playground& self) {
            py::list rows;
            for (const LockRow& row : self.locks()) {
              rows.append(py::make_tuple(row.session, row.index, row.mode, row.data, row.is_waiting));
            }
            return rows;
          },
          "Each lock on a record or the table: session, index (-1: the table), mode and data as "
          "performance_schema.data_locks has them, and whether it waits.")
      .def(
          "waits",
          [](const Playground& self) {
            py::list rows;
            for (const WaitRow& row : self.waits()) rows.append(py::make_tuple(row.waiting, row.blocking));
            return rows;
          },
          "Pairs of sessions: who waits, and whom it has to wait for.")
      .def(
          "records",
          [](const Playground& self, std::size_t index) {
            py::list rows;
            for (const RecordRow& row : self.records(index)) {
              rows.append(py::make_tuple(py::tuple(py::cast(row.key)), row.is_deleted));
            }
            return rows;
          },
          "The records of an index in its order: the key, and whether it is deleted, which leaves it there, "
          "marked.",
          py::arg("index") = 0);
}

}  // namespace

void bind_lock_sys(py::module_& module) {
  py::module_ m =
      module.def_submodule("lock_sys", "Row locks: queues, conflicts, deadlocks and who is granted first.");
  bind_playground(m);
  m.def(
      "schedule_weights", &schedule_weights,
      "The weights that the background thread publishes. edges: for each waiter (number, for whom it waits, "
      "its reservation); reservations: how many waits there were so far. Waiters on a cycle have none.",
      py::arg("edges"), py::kw_only(), py::arg("reservations") = 0);
  m.def("deadlocks", &deadlocks,
        "The cycles among waiters, each with its victim; rows_changed: by transaction, what makes it heavy.",
        py::arg("edges"), py::kw_only(), py::arg("rows_changed") = std::map<std::uint32_t, std::uint64_t>{});
  m.def("grant_order", &grant_order,
        "The order in which a policy tries waiters that are given in queue order, each a dict of trx, "
        "started, weight, age, mode and is_urgent. Who is missing keeps waiting.",
        py::arg("policy"), py::arg("waiters"), py::kw_only(), py::arg("seed") = 1);
  m.def(
      "random_runs",
      [](Design design, const py::dict& changed, Mistake mistake, std::uint64_t seed, std::uint64_t runs) {
        return random_report(options_from<LockConfig>(changed, config_of(design)), mistake,
                             {.seed = seed, .runs = runs});
      },
      "Transactions at random over few records, under random schedules. Returns counts; from conflicts on "
      "all are 0 in a lock system without a mistake. changed: options of lock_options().",
      py::kw_only(), py::arg("design") = "9.7", py::arg("changed") = py::dict(), py::arg("mistake") = "none",
      py::arg("seed") = 1, py::arg("runs") = 1);
  m.def("simulate", &simulate, kSimulateDoc, py::kw_only(), py::arg("design") = "9.7", py::arg("parameters"),
        py::arg("load") = py::dict(), py::arg("locks") = py::dict(), py::arg("run_ns"),
        py::arg("warmup_ns") = 0, py::arg("longest_ns") = 0, py::arg("seed") = 1,
        py::arg("progress") = py::none());
  m.def(
      "on_threads",
      [](Design design, std::int64_t threads, std::int64_t rows, std::int64_t run_ns) {
        constexpr std::int64_t kMost = 64;
        const std::uint64_t sessions = at_least(threads, 1, "threads");
        if (threads > kMost) {
          throw py::value_error("threads is " + std::to_string(threads) + "; at most " +
                                std::to_string(kMost) + " run");
        }
        const std::uint64_t each = at_least(rows, 1, "rows");
        const std::uint64_t window = at_least(run_ns, 1, "run_ns");
        const ThreadsSeen seen = without_gil([&] {
          return on_threads(config_of(design), static_cast<std::uint32_t>(sessions),
                            static_cast<std::uint32_t>(each), window);
        });
        return dict_of({{"row_locks", seen.row_locks},
                        {"transactions", seen.transactions},
                        {"elapsed_ns", seen.elapsed_ns},
                        {"cpu_ns", seen.cpu_ns},
                        {"latches", seen.latched.global + seen.latched.pages + seen.latched.tables}});
      },
      "Sessions on real threads, each in a loop over transactions that lock `rows` rows of its own table and "
      "let them go. Returns a dict: row_locks, transactions, latches of the lock system that were taken, "
      "elapsed_ns, and cpu_ns of all threads. Raises ValueError for a number out of range.",
      py::kw_only(), py::arg("design"), py::arg("threads") = 1, py::arg("rows") = 10, py::arg("run_ns"));
  m.def("designs", &listed_names<Design>, "The names of the versions.");
  m.def("policies", &listed_names<Policy>, "The names of the policies.");
  m.def("mistakes", &listed_names<Mistake>, "The names of the mistakes that can be planted.");
  def_listed<LoadConfig>(m, "load_options", "What can be set of the clients.");
  def_listed<LockConfig>(m, "lock_options", "What can be set of a lock system.");
}

}  // namespace engineroom::bindings
