// engineroom._native.read_views: histories against the oracle, what a statement costs, sessions beside purge, and one view.
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <algorithm>
#include <string>
#include <vector>

#include "bindings/arrays.hpp"
#include "bindings/options.hpp"
#include "bindings/session_run.hpp"
#include "bindings/sim_binding.hpp"
#include "machine/sim_machine.hpp"
#include "read_views/any_load.hpp"
#include "read_views/histories.hpp"
#include "read_views/isolation.hpp"
#include "read_views/statement_cost.hpp"
#include "transactions/read_view.hpp"

namespace engineroom::bindings {

namespace {

using namespace read_views;
using transactions::Latches;
using transactions::ReadView;
using transactions::TrxId;
using transactions::TrxSysConfig;
using transactions::Views;

constexpr const char* kSimulateDoc =
    R"(Sessions that read and write single rows beside purge, in virtual time.

parameters: the machine's. load and trx_sys: see load_options() and trx_sys_options(); what is left out has its default.
run_ns, warmup_ns: virtual time; the warm-up is not counted. longest_ns: the window grows from run_ns up to this until it is
settled.

Returns a dict. Of the window: transactions, writes, response_ns (of all transactions, without the time away), views_made,
views_reused, views_walked by purge, clones (its batches), purged undo logs, acquisitions of mutex, serialisation and shards, and
what a run is asked anyway. At its end: views_in_list, views_closed, history_length.)";

py::dict simulate(const py::dict& parameters, const LoadConfig& load, const TrxSysConfig& trx_sys,
                  std::int64_t run_ns, std::int64_t warmup_ns, std::int64_t longest_ns, std::int64_t seed,
                  const std::optional<py::function>& progress) {
  const Window window = window_of(run_ns, warmup_ns, longest_ns);
  machine::SimMachine m(sim_config(parameters, static_cast<std::uint64_t>(seed)));
  m.set_poll(stop_or_tell(progress));
  return run_sessions(m, *any_load(m, trx_sys, load), window);
}

py::dict histories(const HistoriesConfig& config, Latches latches, Views views, Mistake mistake) {
  const HistoryReport report = without_gil([&] { return run_histories(latches, views, mistake, config); });
  using H = HistoryReport;
  return dict_of_members<&H::runs, &H::reads, &H::reads_of_older, &H::steps, &H::views_made, &H::views_reused,
                         &H::commits, &H::rollbacks, &H::purged, &H::wrong_reads, &H::missing_history,
                         &H::wrong_views, &H::purge_too_far, &H::wrongly_active, &H::leftovers, &H::is_clean,
                         &H::first_failure>(report);
}

py::dict cost_of_statement(Latches latches, Views views, Kind statement, Level level, bool has_binlog,
                           std::int64_t repeats) {
  const std::uint64_t n = at_least(repeats, 1, "repeats");
  const StatementCost cost = statement_cost(latches, views, statement, level, has_binlog, n);
  const auto each = [&](std::uint64_t count) { return static_cast<double>(count) / static_cast<double>(n); };
  return dict_of({{"mutex", each(cost.mutex)},
                  {"serialisation", each(cost.serialisation)},
                  {"shards", each(cost.shards)},
                  {"counter_values", each(cost.counter_values)}});
}

/// The rules of one view, for any ids.
std::vector<bool> visible(const std::vector<TrxId>& ids, TrxId low_limit_id, std::vector<TrxId> active,
                          TrxId creator_id) {
  std::ranges::sort(active);
  std::erase(active, creator_id);
  if (!active.empty() && active.back() >= low_limit_id) {
    throw py::value_error("an active id is " + std::to_string(active.back()) + " and low_limit_id is " +
                          std::to_string(low_limit_id) + ": ids from there on came later; leave them out");
  }
  ReadView view{.low_limit_id = low_limit_id, .creator_id = creator_id, .ids = std::move(active)};
  view.complete();
  std::vector<bool> shown;
  for (const TrxId id : ids) shown.push_back(view.changes_visible(id));
  return shown;
}

}  // namespace

void bind_read_views(py::module_& module) {
  py::module_ m =
      module.def_submodule("read_views", "Read views, undo chains and purge of 5.6, 5.7 and 8.0.");
  m.def("simulate", &simulate, kSimulateDoc, py::kw_only(), py::arg("parameters"), py::arg("load"),
        py::arg("trx_sys") = py::dict(), py::arg("run_ns"), py::arg("warmup_ns") = 0,
        py::arg("longest_ns") = 0, py::arg("seed") = 1, py::arg("progress") = py::none());
  m.def("histories", &histories,
        "Random histories on simulated machines whose costs and scheduling vary by seed; every read is "
        "compared with its snapshot. Returns counts; wrong_reads, missing_history, wrong_views, "
        "purge_too_far, wrongly_active and leftovers are 0 without a mistake. Which `mistake` is possible "
        "depends on the design.",
        py::arg("config") = py::dict(), py::kw_only(), py::arg("latches"), py::arg("views") = Views::kept,
        py::arg("mistake") = Mistake::none);
  m.def("statement_cost", &cost_of_statement,
        "What a statement asks of the transaction system, per repetition: acquisitions of each latch, and "
        "values of the counter with those of another session's write between.",
        py::kw_only(), py::arg("latches"), py::arg("views"), py::arg("statement"), py::arg("level"),
        py::arg("has_binlog"), py::arg("repeats") = 100);
  m.def("changes_visible", &visible,
        "Whether a view shows what each of `ids` changed: made when the counter was at low_limit_id and "
        "`active` were active.",
        py::arg("ids"), py::kw_only(), py::arg("low_limit_id"), py::arg("active"), py::arg("creator_id") = 0);
  py::class_<Database>(m, "Database",
                       "A table of numbers at one isolation level, for scripts: one statement at a time, "
                       "whoever would have to wait is refused.")
      .def(py::init<Isolation>(), py::arg("isolation"))
      .def("connect", &Database::connect, "A new session, by its number.")
      .def("begin", &Database::begin, "A transaction of the session begins.", py::arg("session"))
      .def(
          "read",
          [](Database& database, std::size_t session, std::int64_t first, std::int64_t last) -> py::object {
            const auto rows = database.read(session, first, last);
            return rows ? py::cast(*rows) : py::none();
          },
          "The (key, value) pairs of the keys from first to last that the session sees; None: it would wait.",
          py::arg("session"), py::arg("first"), py::arg("last"))
      .def("write", &Database::write, "Sets a row, or inserts it. False: the session would wait.",
           py::arg("session"), py::arg("key"), py::arg("value"))
      .def("commit", &Database::commit, "The session's transaction ends.", py::arg("session"))
      .def("roll_back", &Database::roll_back, "Its changes are undone.", py::arg("session"));
  m.def("isolation_levels", &listed_names<Isolation>, "The names of the isolation levels.");
  m.def("latches", &listed_names<Latches>, "The names of the designs.");
  m.def("views", &listed_names<Views>, "What becomes of the view of an autocommit read, by name.");
  m.def("statements", &listed_names<Kind>, "The statements whose cost is known.");
  m.def("mistakes", &listed_names<Mistake>, "The names of the mistakes that can be planted.");
  def_listed<LoadConfig>(m, "load_options", "What a load consists of.");
  def_listed<TrxSysConfig>(m, "trx_sys_options", "What can be set of a transaction system.");
  def_listed<HistoriesConfig>(m, "history_options", "What can be set of random histories.");
}

}  // namespace engineroom::bindings
