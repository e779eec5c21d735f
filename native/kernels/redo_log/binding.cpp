// engineroom._native.redo_log: the three redo logs under load, their crashes, and what a commit costs.
#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include "bindings/arguments.hpp"
#include "bindings/arrays.hpp"
#include "bindings/options.hpp"
#include "bindings/session_run.hpp"
#include "bindings/sim_binding.hpp"
#include "machine/host_machine.hpp"
#include "redo_log/any_load.hpp"
#include "redo_log/block.hpp"
#include "redo_log/call_cost.hpp"
#include "redo_log/commit_cost.hpp"
#include "redo_log/crash_runs.hpp"
#include "redo_log/fast_log.hpp"
#include "redo_log/groups.hpp"
#include "redo_log/recovery.hpp"

namespace engineroom::bindings {

namespace {

using namespace redo_log;
using machine::HostMachine;
using machine::SimMachine;

constexpr const char* kSimulateDoc = R"(Clients against one design of the redo log, in virtual time.

design: "5.6", "5.7", "8.0" or "8.0, writer threads off".
parameters: the machine's. load and log: see load_options() and log_options(); what is left out has its default.
run_ns, warmup_ns: virtual time; the warm-up is not counted. With load["transactions"] the run goes on to their end and
run_ns bounds it. longest_ns: the window grows from run_ns up to this until it is settled: five transactions per client, and
half of the throughput's interval of 95 % at most 2 % of it.

Returns a dict: transactions, mtrs, fsyncs, writes, written_bytes, log_waits, cpu_ns and window_ns of the window, is_settled,
half_width (of that interval, over the throughput), and what a run is asked anyway.
Raises ValueError for a bad argument, RuntimeError for a simulation that stalled.)";

py::dict simulate(Design design, const py::dict& parameters, const LoadConfig& load, const LogConfig& log,
                  std::int64_t run_ns, std::int64_t warmup_ns, std::int64_t longest_ns, std::int64_t seed,
                  const std::optional<py::function>& progress) {
  const Window window = window_of(run_ns, warmup_ns, longest_ns);
  SimMachine m(sim_config(parameters, static_cast<std::uint64_t>(seed)));
  m.set_poll(stop_or_tell(progress));
  SimMachine::File file(m, "redo", machine::Bytes::counted);
  return run_sessions(m, *any_load(design, m, file, log, load), window);
}

py::dict run_on_host(Design design, const LoadConfig& load, const LogConfig& log, std::int64_t run_ns,
                     std::int64_t fsync_ns, std::int64_t seed, bool profile,
                     const std::optional<py::function>& progress) {
  const std::uint64_t window_ns = at_least(run_ns, 1, "run_ns");
  HostMachine m({.seed = static_cast<std::uint64_t>(seed),
                 .fsync_ns = at_least(fsync_ns, 0, "fsync_ns"),
                 .folder = {},
                 .keeps_contents = false,
                 .profile = profile});
  m.set_poll(stop_or_tell(progress));
  HostMachine::File file(m, "redo");
  return run_sessions(m, *any_load(design, m, file, log, load), window_ns);
}

double seal_ns(std::int64_t blocks) {
  const std::uint64_t n = at_least(blocks, 1, "blocks");
  const py::gil_scoped_release unlocked;
  std::vector<std::byte> log(n * kBlockBytes, std::byte{1});
  const auto start = std::chrono::steady_clock::now();
  for (std::uint64_t at = 0; at < log.size(); at += kBlockBytes) {
    seal(Block(&log[at], kBlockBytes), at, kBlockBytes, 0);
  }
  return std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - start).count() /
         static_cast<double>(n);
}

py::dict commit_cost(const CommitWork& work, Design design) {
  const CommitCost cost = without_gil([&] { return measure_commit(design, work, stop_on_signal()); });
  return dict_of({{"elapsed_ns", cost.elapsed_ns},
                  {"cpu_ns", cost.cpu_ns},
                  {"work_elapsed_ns", cost.work_elapsed_ns},
                  {"work_cpu_ns", cost.work_cpu_ns},
                  {"bytes", cost.end_sn},
                  {"latch_waits", cost.latch_waits},
                  {"buffer_waits", cost.buffer_waits}});
}

py::dict commit_counts(const CommitWork& work, Design design) {
  const CommitCounts counts = without_gil([&] { return count_commits(design, work); });
  return dict_of({{"locked_ops", counts.locked_ops}, {"atomic_stores", counts.atomic_stores}});
}

py::dict crashes(const crash::Config& config, Design design, Mistake mistake) {
  const CrashReport report = without_gil([&] { return crash_runs(design, mistake, config); });
  using C = CrashReport;
  return dict_of_members<&C::runs, &C::crashes, &C::commits, &C::fsyncs, &C::recovered_groups, &C::log_waits,
                         &C::lost_commits, &C::wrong_groups, &C::wrong_checkpoints, &C::disorders, &C::hangs,
                         &C::first_failure>(report);
}

py::bytes as_bytes(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

py::object recover_file(const py::bytes& file) {
  const std::string_view bytes(file);
  const auto found = recover(std::as_bytes(std::span(bytes)));
  if (!found) return py::none();
  py::list groups;
  for (const RecoveredGroup& group : found->groups) {
    groups.append(py::make_tuple(group.start_lsn, group.end_lsn, as_bytes(found->bytes_of(group))));
  }
  return dict_of({{"checkpoint_lsn", found->checkpoint.lsn},
                  {"groups", groups},
                  {"end_lsn", found->end_lsn},
                  {"stop", std::string(name_of(found->stop))}});
}

}  // namespace

void bind_redo_log(py::module_& module) {
  py::module_ m = module.def_submodule("redo_log", "The redo log of 5.6, 5.7 and 8.0.");
  m.def("simulate", &simulate, kSimulateDoc, py::kw_only(), py::arg("design"), py::arg("parameters"),
        py::arg("load"), py::arg("log") = py::dict(), py::arg("run_ns"), py::arg("warmup_ns") = 0,
        py::arg("longest_ns") = 0, py::arg("seed") = 1, py::arg("progress") = py::none());
  m.def("run_on_host", &run_on_host,
        "The same clients on real threads, over a disk in memory whose fsync takes `fsync_ns`. Times are "
        "wall times; what the log's code takes is what it takes here, not the `log`'s `seal_ns` and its "
        "like. `profile` charges each thread's time to what it does, at two looks at the clock a wait.",
        py::kw_only(), py::arg("design"), py::arg("load"), py::arg("log") = py::dict(), py::arg("run_ns"),
        py::arg("fsync_ns") = 100'000, py::arg("seed") = 1, py::arg("profile") = true,
        py::arg("progress") = py::none());
  m.def("seal_ns", &seal_ns,
        "Wall nanoseconds that the header and the checksum of one log block take here, over so many blocks.",
        py::kw_only(), py::arg("blocks") = 32768);
  m.def(
      "call_ns",
      [](std::int64_t appends) {
        const std::uint64_t n = at_least(appends, 1, "appends");
        const py::gil_scoped_release unlocked;
        return call_ns(n);
      },
      "What a call of a task takes in 8.0's appends of 64 KiB on a real thread, with what it does to shared "
      "words, ns: the time of `appends` of them beyond that of their copies, over the calls.",
      py::kw_only(), py::arg("appends") = 400);
  def_with_options(
      m, "commit_cost", &commit_cost,
      "Commits mini-transactions on real threads without a disk, by the design of 5.7, 8.0 or 8.0 with its "
      "writer threads off. Returns elapsed_ns of all, cpu_ns of the committing threads, both of the same "
      "work without commits (work_elapsed_ns, work_cpu_ns), and counts.",
      py::arg("design"), py::kw_only());
  def_with_options(m, "commit_counts", &commit_counts,
                   "Commits `commits_per_thread` mini-transactions on the calling thread, as commit_cost "
                   "does, and counts what they do to words that threads share: locked_ops, the locked "
                   "instructions, and atomic_stores, those without a lock.",
                   py::arg("design"), py::kw_only());
  def_with_options(m, "crash_runs", &crashes,
                   "Crashes simulated runs at random events and recovers. Returns counts; lost_commits, "
                   "wrong_groups, wrong_checkpoints, disorders and hangs are 0 in a log without a mistake. "
                   "Which `mistake` is possible depends on the design.",
                   py::kw_only(), py::arg("design"), py::arg("mistake") = Mistake::none);
  m.def(
      "append",
      [](std::int64_t threads, std::int64_t appends_per_thread, std::int64_t group_bytes, bool bare) {
        const std::uint64_t n = at_least(threads, 1, "threads");
        const std::uint64_t each = at_least(appends_per_thread, 1, "appends_per_thread");
        const std::uint64_t bytes = at_least(group_bytes, 1, "group_bytes");
        const py::gil_scoped_release unlocked;
        return bare ? fetch_add_and_copy_ns(n, each, bytes) : append_ns(n, each, bytes);
      },
      "Elapsed ns while threads append to our own log, which writes nothing; `bare`: one fetch_add and one "
      "memcpy each.",
      py::kw_only(), py::arg("threads") = 1, py::arg("appends_per_thread"), py::arg("group_bytes") = 100,
      py::arg("bare") = false);
  m.def(
      "group_commit",
      [](std::int64_t clients, std::int64_t fsync_ns, std::int64_t run_ns, std::int64_t group_bytes) {
        const std::uint64_t n = at_least(clients, 1, "clients");
        const std::uint64_t each = at_least(fsync_ns, 0, "fsync_ns");
        const std::uint64_t window = at_least(run_ns, 1, "run_ns");
        const std::uint64_t bytes = at_least(group_bytes, 1, "group_bytes");
        const GroupCommit seen = without_gil([&] { return group_commit(n, each, window, bytes); });
        return dict_of({{"commits", seen.commits}, {"fsyncs", seen.fsyncs}, {"elapsed_ns", seen.elapsed_ns}});
      },
      "Clients that append to our own log and wait until it is durable, over a disk whose fsync takes "
      "`fsync_ns`.",
      py::kw_only(), py::arg("clients"), py::arg("fsync_ns"), py::arg("run_ns"),
      py::arg("group_bytes") = 100);
  m.def("designs", &listed_names<Design>, "The names of the designs.");
  m.def("mistakes", &listed_names<Mistake>, "The names of the mistakes that can be planted.");
  def_listed<LoadConfig>(m, "load_options", "What a load consists of.");
  def_listed<LogConfig>(m, "log_options", "What can be set of a log.");
  m.def("recover", &recover_file,
        "Reads a log file after a crash: a dict of checkpoint_lsn, groups (start LSN, end LSN, bytes), "
        "end_lsn and why it stopped; None when the file has no header or checkpoint.",
        py::arg("file"));
  m.def(
      "write_file",
      [](const std::vector<py::bytes>& groups, std::int64_t capacity_bytes) {
        std::vector<std::vector<std::byte>> all;
        for (const py::bytes& group : groups) {
          const std::string_view view(group);
          const auto bytes = std::as_bytes(std::span(view));
          all.emplace_back(bytes.begin(), bytes.end());
        }
        return as_bytes(write_file(all, at_least(capacity_bytes, 1, "capacity_bytes")));
      },
      "The log file that holds these record groups.", py::arg("groups"), py::kw_only(),
      py::arg("capacity_bytes"));
  m.def(
      "make_group",
      [](std::int64_t client, std::int64_t sequence, std::int64_t data_bytes) {
        return as_bytes(make_group(static_cast<std::uint32_t>(at_least(client, 0, "client")),
                                   at_least(sequence, 0, "sequence"), at_least(data_bytes, 1, "data_bytes")));
      },
      "A record group whose bytes follow from its arguments.", py::arg("client"), py::arg("sequence"),
      py::arg("data_bytes"));
}

}  // namespace engineroom::bindings
