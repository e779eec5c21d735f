// engineroom._native.group_commit: commits with a binlog under load, step by step, and their crashes.
#include <optional>
#include <string>
#include <vector>

#include "bindings/arguments.hpp"
#include "bindings/arrays.hpp"
#include "bindings/options.hpp"
#include "bindings/session_run.hpp"
#include "bindings/sim_binding.hpp"
#include "group_commit/any_load.hpp"
#include "group_commit/crash_runs.hpp"
#include "group_commit/recovery.hpp"
#include "submodules.hpp"

namespace engineroom::bindings {

namespace {

using namespace group_commit;
using machine::SimMachine;
using redo_log::LogConfig;

constexpr const char* kSimulateDoc = R"(Clients that commit with both logs, in virtual time.

design: "5.5", "5.6" or "5.7.6" of the commit; redo: the design of the redo log, by default the one it came with.
parameters: the machine's. load, commit and log: see load_options(), commit_options() and redo_log.log_options(); what is left
out has its default. run_ns, warmup_ns, longest_ns: as in redo_log.simulate.

Returns a dict: transactions, redo_fsyncs, redo_writes, redo_bytes, binlog_fsyncs, binlog_writes, binlog_bytes, flush_groups,
sync_groups, commit_groups, rotations, latency_ns_p50 and latency_ns_p99, cpu_ns and window_ns of the window, is_settled,
half_width, and what a run is asked anyway.
Raises ValueError for a bad argument, RuntimeError for a simulation that stalled.)";

redo_log::Design redo_of_design(Design design, std::optional<redo_log::Design> redo) {
  return redo.value_or(usual_redo(design));
}

py::dict simulate(Design design, std::optional<redo_log::Design> redo, const py::dict& parameters,
                  const LoadConfig& load, const CommitConfig& commit, const LogConfig& log,
                  std::int64_t run_ns, std::int64_t warmup_ns, std::int64_t longest_ns, std::int64_t seed,
                  const std::optional<py::function>& progress) {
  const Window window = window_of(run_ns, warmup_ns, longest_ns);
  SimMachine m(sim_config(parameters, static_cast<std::uint64_t>(seed)));
  m.set_poll(stop_or_tell(progress));
  SimMachine::File file(m, "redo", machine::Bytes::counted);
  const auto made = any_load(m, design, redo_of_design(design, redo), commit, log, file, load);
  return run_sessions(m, *made, window);
}

std::string name_of(const Happened& one) {
  const bool is_step = one.what == Happening::reached || one.what == Happening::told;
  return std::string(is_step ? names::of(static_cast<Step>(one.which))
                             : names::of(static_cast<Stage>(one.which)));
}

py::list traced(Design design, std::optional<redo_log::Design> redo, const py::dict& parameters,
                const LoadConfig& load, const CommitConfig& commit, std::int64_t run_ns, std::int64_t seed) {
  SimMachine m(sim_config(parameters, static_cast<std::uint64_t>(seed)));
  const std::uint64_t window = at_least(run_ns, 1, "run_ns");
  py::list rows;
  for (const Happened& one : trace(m, design, redo_of_design(design, redo), commit, load, window)) {
    rows.append(py::make_tuple(one.ns, std::string(names::of(one.what)), name_of(one), py::cast(one.xids)));
  }
  return rows;
}

py::dict crashes(const crash::Config& config, Design design, std::optional<redo_log::Design> redo,
                 std::int64_t sync_binlog, std::int64_t flush_log_at_trx_commit, bool order_commits,
                 Mistake mistake) {
  const CrashSettings settings{
      .design = design,
      .redo = redo_of_design(design, redo),
      .sync_binlog = at_least(sync_binlog, 0, "sync_binlog"),
      .flush_log_at_trx_commit = at_least(flush_log_at_trx_commit, 0, "flush_log_at_trx_commit"),
      .order_commits = order_commits,
      .mistake = mistake};
  const CrashReport report = without_gil([&] { return crash_runs(settings, config); });
  using C = CrashReport;
  py::dict result =
      dict_of_members<&C::runs, &C::crashes, &C::commits, &C::rotations, &C::largest_group, &C::lost,
                      &C::only_in_binlog, &C::only_in_engine, &C::crashes_with_loss, &C::impossible,
                      &C::wrong_outcomes, &C::disorders, &C::hangs, &C::first_failure>(report);
  py::list outcomes;
  for (std::size_t step = 0; step < kSteps; ++step) {
    for (std::size_t state = 0; state < kStates; ++state) {
      for (std::size_t left = 0; left < kLefts; ++left) {
        for (std::size_t is_committed = 0; is_committed < 2; ++is_committed) {
          const std::uint64_t n = report.outcomes[step][state][left][is_committed];
          if (n == 0) continue;
          outcomes.append(dict_of({{"step", static_cast<Step>(step)},
                                   {"redo", static_cast<State>(state)},
                                   {"binlog", static_cast<Left>(left)},
                                   {"is_committed", is_committed == 1},
                                   {"transactions", n}}));
        }
      }
    }
  }
  result["outcomes"] = outcomes;
  return result;
}

py::dict risks(Design design, std::int64_t sync_binlog, std::int64_t flush_log_at_trx_commit, bool is_kill) {
  const CrashSettings settings{
      .design = design,
      .sync_binlog = at_least(sync_binlog, 0, "sync_binlog"),
      .flush_log_at_trx_commit = at_least(flush_log_at_trx_commit, 0, "flush_log_at_trx_commit")};
  const Risks found = settings.risks(is_kill);
  return dict_of({{"lost", found.loses},
                  {"only_in_binlog", found.only_in_binlog},
                  {"only_in_engine", found.only_in_engine}});
}

}  // namespace

void bind_group_commit(py::module_& module) {
  py::module_ m = module.def_submodule("group_commit", "Commits with a binlog of 5.5, 5.6 and 5.7.6.");
  m.def("simulate", &simulate, kSimulateDoc, py::kw_only(), py::arg("design"), py::arg("redo") = py::none(),
        py::arg("parameters"), py::arg("load"), py::arg("commit") = py::dict(), py::arg("log") = py::dict(),
        py::arg("run_ns"), py::arg("warmup_ns") = 0, py::arg("longest_ns") = 0, py::arg("seed") = 1,
        py::arg("progress") = py::none());
  m.def("trace", &traced,
        "What the stages do in the first `run_ns`: tuples of ns, happening, its step or stage, and the XIDs "
        "of the transactions, which count from 1 on.",
        py::kw_only(), py::arg("design"), py::arg("redo") = py::none(), py::arg("parameters"),
        py::arg("load"), py::arg("commit") = py::dict(), py::arg("run_ns"), py::arg("seed") = 1);
  def_with_options(
      m, "crash_runs", &crashes,
      "Crashes simulated runs at random events and recovers from both logs. Returns counts: crashes, what "
      "acknowledged transactions were `lost`, what is `only_in_binlog` or `only_in_engine`, and `outcomes` "
      "by how far a transaction had come; impossible, wrong_outcomes, disorders and hangs are 0 without a "
      "mistake. Which `mistake` is possible depends on the design.",
      py::kw_only(), py::arg("design"), py::arg("redo") = py::none(), py::arg("sync_binlog") = 1,
      py::arg("flush_log_at_trx_commit") = 1, py::arg("order_commits") = true,
      py::arg("mistake") = Mistake::none);
  m.def("risks", &risks,
        "What a crash can do under these settings: a dict of bools, lost, only_in_binlog and only_in_engine.",
        py::kw_only(), py::arg("design") = Design::one_redo_flush, py::arg("sync_binlog"),
        py::arg("flush_log_at_trx_commit"), py::arg("is_kill") = false);
  m.def(
      "read_binlog",
      [](const py::bytes& file) {
        const std::string_view view(file);
        const BinlogFile found = read_binlog(std::as_bytes(std::span(view)));
        return dict_of({{"is_in_use", found.is_in_use},
                        {"end", found.end},
                        {"xids", found.xids},
                        {"gtids", found.gtids}});
      },
      "The whole transactions of a binlog file up to its first damage: a dict of is_in_use, end (behind the "
      "last of them), xids and gtids.",
      py::arg("file"));
  m.def(
      "write_binlog",
      [](const std::vector<std::uint64_t>& xids) {
        const Events events(1);
        binlog::Buffer file;
        events.begin_file(file);
        for (std::size_t i = 0; i < xids.size(); ++i) events.append(file, file.size(), i + 1, xids[i]);
        return py::bytes(reinterpret_cast<const char*>(file.data()), file.size());
      },
      "The binlog file of a server that has committed these transactions and goes on.", py::arg("xids"));
  m.def("designs", &listed_names<Design>, "The names of the designs.");
  m.def("mistakes", &listed_names<Mistake>, "The names of the mistakes that can be planted.");
  m.def(
      "is_possible", [](Design design, Mistake mistake) { return is_possible(design, mistake); },
      "Whether the commit of this design can make this mistake.", py::arg("design"), py::arg("mistake"));
  m.def("steps", &listed_names<Step>, "How far a transaction comes, in order.");
  def_listed<LoadConfig>(m, "load_options", "What a load consists of.");
  def_listed<CommitConfig>(m, "commit_options", "What can be set of a commit.");
}

}  // namespace engineroom::bindings
