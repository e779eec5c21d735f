// engineroom._native.redo_log: the three redo logs under load, their crashes, and what a commit costs.
#include <algorithm>
#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "arrays.hpp"
#include "machine/host_machine.hpp"
#include "redo_log/block.hpp"
#include "redo_log/commit_cost.hpp"
#include "redo_log/crash_runs.hpp"
#include "redo_log/fast_log.hpp"
#include "redo_log/groups.hpp"
#include "redo_log/load.hpp"
#include "redo_log/recovery.hpp"
#include "sim_binding.hpp"

namespace engineroom::bindings {

namespace {

using namespace redo_log;
using machine::HostMachine;
using machine::SimMachine;

Design design_of(const std::string& name) {
  for (const Design design : kDesigns) {
    if (name == name_of(design)) return design;
  }
  throw py::value_error("design must be '5.6', '5.7', '8.0' or '8.0, writer threads off', got '" + name +
                        "'");
}

const std::vector<std::pair<const char*, Mistake>>& mistakes() {
  static const std::vector<std::pair<const char*, Mistake>> all{
      {"none", Mistake::none},
      {"durable_before_fsync", Mistake::durable_before_fsync},
      {"first_group_not_set", Mistake::first_group_not_set},
      {"copy_outside_mutex", Mistake::copy_outside_mutex},
      {"last_block_left_behind", Mistake::last_block_left_behind},
      {"followers_fsync_too", Mistake::followers_fsync_too},
      {"write_past_gap", Mistake::write_past_gap},
      {"link_before_copy", Mistake::link_before_copy},
      {"window_ignored", Mistake::window_ignored},
      {"flushed_read_after_fsync", Mistake::flushed_read_after_fsync},
      {"closer_not_told", Mistake::closer_not_told},
  };
  return all;
}

Mistake mistake_of(const std::string& name) {
  std::string known;
  for (const auto& [one, mistake] : mistakes()) {
    if (name == one) return mistake;
    known += std::string(known.empty() ? "" : ", ") + one;
  }
  throw py::value_error("mistake must be one of " + known + ", got '" + name + "'");
}

/// Takes `name` out of `options` as a number of at least `least`.
template <typename T>
void take(py::dict& options, const char* name, T& to, std::int64_t least = 0) {
  if (!options.contains(name)) return;
  try {
    to = static_cast<T>(at_least(options[name].cast<std::int64_t>(), least, name));
  } catch (const py::cast_error&) {
    throw py::value_error(std::string(name) + " must be an integer, got " +
                          std::string(py::repr(options[name])));
  }
  options.attr("pop")(name);
}
void refuse_rest(const py::dict& options, const char* what) {
  for (const auto& [key, value] : options) {
    throw py::value_error(std::string(what) + " has no option '" + std::string(py::str(key)) + "'");
  }
}

LoadConfig load_of(const py::dict& given) {
  py::dict options(given.attr("copy")());
  LoadConfig load;
  take(options, "clients", load.clients, 1);
  take(options, "statements", load.statements);
  take(options, "away_ns", load.away_ns);
  take(options, "statement_ns", load.statement_ns);
  take(options, "mtrs_per_statement", load.mtrs_per_statement);
  take(options, "mtr_bytes", load.mtr_bytes, 1);
  take(options, "commit_mtrs", load.commit_mtrs);
  take(options, "flush_every", load.flush_every);
  take(options, "dirty_percent", load.dirty_percent);
  take(options, "transactions", load.transactions);
  take(options, "large_mtr_bytes", load.large_mtr_bytes);
  refuse_rest(options, "a load");
  if (load.statements * load.mtrs_per_statement + load.commit_mtrs == 0) {
    throw py::value_error(
        "a transaction must have a mini-transaction: statements, mtrs_per_statement or commit_mtrs is 0");
  }
  return load;
}

LogConfig log_of(const py::dict& given) {
  py::dict options(given.attr("copy")());
  LogConfig log;
  log.seals_blocks = false;
  take(options, "buffer_bytes", log.buffer_bytes);
  take(options, "write_ahead_bytes", log.write_ahead_bytes);
  take(options, "seals_blocks", log.seals_blocks);
  take(options, "seal_ns", log.seal_ns);
  take(options, "reserve_ns", log.reserve_ns);
  take(options, "flush_list_ns", log.flush_list_ns);
  take(options, "spin_rounds", log.latch_spin.rounds);
  take(options, "spin_wait_delay", log.latch_spin.wait_delay);
  take(options, "spin_draws", log.latch_spin.draws);
  take(options, "cpu_gate", log.has_cpu_gate);
  take(options, "recent_written_slots", log.recent_written_slots);
  take(options, "recent_closed_slots", log.recent_closed_slots);
  take(options, "log_thread_spin_rounds", log.log_thread_spin_rounds);
  take(options, "user_spin_rounds", log.user_spin_rounds);
  take(options, "cpu_sample_ns", log.cpu_sample_ns, 1);
  take(options, "log_thread_timeout_ns", log.log_thread_timeout_ns);
  take(options, "longest_timeout_ns", log.longest_timeout_ns);
  refuse_rest(options, "a redo log");
  return log;
}

struct Seen {
  std::uint64_t transactions = 0;
  std::uint64_t mtrs = 0;
  std::uint64_t fsyncs = 0;
  std::uint64_t writes = 0;
  std::uint64_t written_bytes = 0;
  std::uint64_t cpu_ns = 0;
};

template <typename L, typename F>
Seen look(const L& load, const F& file, std::uint64_t cpu_ns) {
  return {load.transactions(), load.mtrs(), file.fsyncs(), file.writes(), file.written_bytes(), cpu_ns};
}

template <typename L>
py::dict counts(const L& load, const Seen& before, const Seen& after, std::uint64_t window_ns) {
  machine::Histogram latency;
  for (const ClientCounts& one : load.counts) latency.add(one.latency_ns);
  py::dict result;
  result["transactions"] = after.transactions - before.transactions;
  result["mtrs"] = after.mtrs - before.mtrs;
  result["fsyncs"] = after.fsyncs - before.fsyncs;
  result["writes"] = after.writes - before.writes;
  result["written_bytes"] = after.written_bytes - before.written_bytes;
  result["cpu_ns"] = after.cpu_ns - before.cpu_ns;
  result["window_ns"] = window_ns;
  result["latency_ns_p50"] = latency.quantile(500);
  result["latency_ns_p99"] = latency.quantile(990);
  result["log_waits"] = load.log.counters().log_waits.load();
  return result;
}

constexpr const char* kSimulateDoc = R"(Clients against one design of the redo log, in virtual time.

design: "5.6", "5.7", "8.0" or "8.0, writer threads off".
parameters: the machine's. load: clients, statements, away_ns, statement_ns, mtrs_per_statement, mtr_bytes, commit_mtrs,
flush_every, dirty_percent, transactions. log: buffer_bytes, cpu_gate and the like; what is left out has its default.
run_ns, warmup_ns: virtual time; the warm-up is not counted. With load["transactions"] the run goes on to their end and
run_ns bounds it.

Returns a dict: transactions, mtrs, fsyncs, writes, written_bytes, cpu_ns and window_ns of the window, and what a run is
asked anyway.
Raises ValueError for a bad argument, RuntimeError for a simulation that stalled.)";

py::dict simulate(const std::string& design, const py::dict& parameters, const py::dict& load,
                  const py::dict& log, std::int64_t run_ns, std::int64_t warmup_ns, std::int64_t seed,
                  const std::optional<py::function>& progress) {
  const Design chosen = design_of(design);
  const LoadConfig load_config = load_of(load);
  const LogConfig log_config = log_of(log);
  const std::uint64_t window_ns = at_least(run_ns, 1, "run_ns");
  const std::uint64_t warmup = at_least(warmup_ns, 0, "warmup_ns");
  SimMachine m(sim_config(parameters, static_cast<std::uint64_t>(seed)));
  m.set_poll(stop_or_tell(progress));
  SimMachine::File file(m, "redo", machine::Bytes::counted);
  py::dict result;
  with_load(chosen, m, file, log_config, load_config, [&](auto& made) {
    Seen before;
    Seen after;
    std::uint64_t ns = window_ns;
    {
      const py::gil_scoped_release unlocked;
      made.spawn(m);
      if (load_config.transactions > 0) {
        m.run_on(window_ns);
        ns = made.ended_ns;
      } else {
        m.run_on(warmup);
        before = look(made, file, m.cpu_ns());
        m.run_on(window_ns);
      }
      after = look(made, file, m.cpu_ns());
      m.stop();
      m.run();
    }
    if (ns == 0) {
      throw py::value_error("run_ns is " + std::to_string(run_ns) +
                            ": the transactions do not end in that time");
    }
    result = observed(m);
    result.attr("update")(counts(made, before, after, ns));
  });
  return result;
}

py::dict run_on_host(const std::string& design, const py::dict& load, const py::dict& log,
                     std::int64_t run_ns, std::int64_t fsync_ns, std::int64_t seed, bool profile,
                     const std::optional<py::function>& progress) {
  const Design chosen = design_of(design);
  const LoadConfig load_config = load_of(load);
  const LogConfig log_config = log_of(log);
  const std::uint64_t window_ns = at_least(run_ns, 1, "run_ns");
  HostMachine m({.seed = static_cast<std::uint64_t>(seed),
                 .fsync_ns = at_least(fsync_ns, 0, "fsync_ns"),
                 .folder = {},
                 .keeps_contents = false,
                 .profile = profile});
  m.set_poll(stop_or_tell(progress));
  HostMachine::File file(m, "redo");
  py::dict result;
  with_load(chosen, m, file, log_config, load_config, [&](auto& made) {
    Seen before;
    Seen after;
    std::uint64_t ns = window_ns;
    {
      const py::gil_scoped_release unlocked;
      before = look(made, file, m.cpu_ns());
      made.spawn(m);
      m.run_for(window_ns);
      after = look(made, file, m.cpu_ns());
      if (load_config.transactions > 0 && made.ended_ns > 0) ns = made.ended_ns;
    }
    result = counts(made, before, after, ns);
    result["waits"] = wait_rows(m.waits(), m.names());
    result["activities"] = activity_rows(m.activities(), m.names());
  });
  return result;
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

double call_ns(std::int64_t appends) {
  constexpr std::size_t kBytes = 65536;
  constexpr std::size_t kPiece = 512;
  constexpr std::uint64_t kInBuffer = 200;  // nobody writes them, so that more would not fit
  using Clock = std::chrono::steady_clock;
  const std::uint64_t n = at_least(appends, 1, "appends");
  const py::gil_scoped_release unlocked;
  const std::vector<std::byte> group(kBytes, std::byte{1});
  std::vector<std::byte> plain(kInBuffer * kBytes, std::byte{1});
  std::chrono::duration<double, std::nano> more{0};
  std::uint64_t calls = 0;
  for (std::uint64_t done = 0; done < n;) {
    const std::uint64_t now = std::min(n - done, kInBuffer);
    machine::HostMachine m;
    machine::HostMachine::File file(m, "log");
    const LogConfig config{.recent_written_slots = 1 << 17, .recent_closed_slots = 1 << 18};
    Log80<machine::HostMachine> log(m, file, config);
    const auto append_all = [&]() -> machine::Task<> {
      for (std::uint64_t i = 0; i < now; ++i) co_await log.append(m, group, false);
    };
    const std::uint64_t calls_before = machine::task_internal::calls();
    const auto start = Clock::now();
    append_all().result();
    const auto appended = Clock::now();
    calls += machine::task_internal::calls() - calls_before;
    for (std::uint64_t i = 0; i < now; ++i) {
      for (std::size_t at = 0; at < kBytes; at += kPiece) {
        m.copy(&plain[i * kBytes + at], &group[at], kPiece);
      }
    }
    more += (appended - start) - (Clock::now() - appended);
    done += now;
  }
  return std::max(0.0, more.count()) / static_cast<double>(calls);
}

CommitDesign commit_design_of(const std::string& name) {
  if (name == "mtr_5_7") return CommitDesign::mutex_5_7;
  if (name == "mtr_8_0") return CommitDesign::links_8_0;
  if (name == "mtr_8_0_writer_threads_off") return CommitDesign::links_8_0_no_writer;
  throw py::value_error("design must be 'mtr_5_7', 'mtr_8_0' or 'mtr_8_0_writer_threads_off', got '" + name +
                        "'");
}

py::dict commit_cost(const std::string& design, std::int64_t threads, std::int64_t commits_per_thread,
                     std::int64_t mtr_bytes, std::int64_t work_ns) {
  const CommitDesign chosen = commit_design_of(design);
  const CommitWork work{.threads = at_least(threads, 1, "threads"),
                        .commits_per_thread = at_least(commits_per_thread, 1, "commits_per_thread"),
                        .mtr_bytes = at_least(mtr_bytes, 1, "mtr_bytes"),
                        .work_ns = at_least(work_ns, 0, "work_ns")};
  CommitCost cost;
  {
    const py::gil_scoped_release unlocked;
    cost = measure_commit(chosen, work);
  }
  py::dict result;
  result["elapsed_ns"] = cost.elapsed_ns;
  result["cpu_ns"] = cost.cpu_ns;
  result["work_elapsed_ns"] = cost.work_elapsed_ns;
  result["work_cpu_ns"] = cost.work_cpu_ns;
  result["bytes"] = cost.end_sn;
  result["latch_waits"] = cost.latch_waits;
  result["buffer_waits"] = cost.buffer_waits;
  result["atomic_ops"] = cost.atomic_ops;
  result["plain_stores"] = cost.plain_stores;
  return result;
}

py::dict crashes(const std::string& design, const std::string& mistake, std::int64_t seed, std::int64_t runs,
                 std::int64_t crashes_per_run) {
  const Design chosen = design_of(design);
  const Mistake planted = mistake_of(mistake);
  const std::uint64_t n = at_least(runs, 1, "runs");
  const std::uint64_t each = at_least(crashes_per_run, 1, "crashes_per_run");
  CrashReport report;
  {
    const py::gil_scoped_release unlocked;
    report = crash_runs(chosen, planted, static_cast<std::uint64_t>(seed), n, each);
  }
  py::dict result;
  result["runs"] = report.runs;
  result["crashes"] = report.crashes;
  result["commits"] = report.commits;
  result["fsyncs"] = report.fsyncs;
  result["recovered_groups"] = report.recovered_groups;
  result["lost_commits"] = report.lost_commits;
  result["wrong_groups"] = report.wrong_groups;
  result["wrong_checkpoints"] = report.wrong_checkpoints;
  result["disorders"] = report.disorders;
  result["hangs"] = report.hangs;
  result["first_failure"] = report.first_failure;
  return result;
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
  py::dict result;
  result["checkpoint_lsn"] = found->checkpoint.lsn;
  result["groups"] = groups;
  result["end_lsn"] = found->end_lsn;
  result["stop"] = std::string(name_of(found->stop));
  return result;
}

}  // namespace

void bind_redo_log(py::module_& module) {
  py::module_ m = module.def_submodule("redo_log", "The redo log of 5.6, 5.7 and 8.0.");
  m.def("simulate", &simulate, kSimulateDoc, py::kw_only(), py::arg("design"), py::arg("parameters"),
        py::arg("load"), py::arg("log") = py::dict(), py::arg("run_ns"), py::arg("warmup_ns") = 0,
        py::arg("seed") = 1, py::arg("progress") = py::none());
  m.def(
      "run_on_host", &run_on_host,
      "The same clients on real threads, over a disk in memory whose fsync takes `fsync_ns`. Times are "
      "wall times; what the log's code takes is what it takes here, not the `log`'s `seal_ns` and its like. "
      "`profile` charges each thread's time to what it does, at two looks at the clock a wait.",
      py::kw_only(), py::arg("design"), py::arg("load"), py::arg("log") = py::dict(), py::arg("run_ns"),
      py::arg("fsync_ns") = 100'000, py::arg("seed") = 1, py::arg("profile") = true,
      py::arg("progress") = py::none());
  m.def("seal_ns", &seal_ns,
        "Wall nanoseconds that the header and the checksum of one log block take here, over so many blocks.",
        py::kw_only(), py::arg("blocks") = 32768);
  m.def("call_ns", &call_ns,
        "What a call of a task takes in 8.0's appends of 64 KiB on a real thread, with what it does to "
        "shared words, ns: the time of `appends` of them beyond that of their copies, over the calls.",
        py::kw_only(), py::arg("appends") = 400);
  m.def("commit_cost", &commit_cost,
        "Commits mini-transactions on real threads without a disk: 'mtr_5_7', 'mtr_8_0' or "
        "'mtr_8_0_writer_threads_off'. `work_ns` is computed before each commit. Returns elapsed_ns of all, "
        "cpu_ns of the committing threads, both of the same work without commits (work_elapsed_ns, "
        "work_cpu_ns), and counts.",
        py::arg("design"), py::kw_only(), py::arg("threads") = 1, py::arg("commits_per_thread"),
        py::arg("mtr_bytes") = 100, py::arg("work_ns") = 0);
  m.def("crash_runs", &crashes,
        "Crashes simulated runs at random events and recovers. Returns counts; lost_commits, wrong_groups, "
        "wrong_checkpoints, disorders and hangs are 0 in a log without a mistake.",
        py::kw_only(), py::arg("design"), py::arg("mistake") = "none", py::arg("seed") = 1,
        py::arg("runs") = 1, py::arg("crashes_per_run") = 20);
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
        GroupCommit seen;
        {
          const py::gil_scoped_release unlocked;
          seen = group_commit(n, each, window, bytes);
        }
        py::dict result;
        result["commits"] = seen.commits;
        result["fsyncs"] = seen.fsyncs;
        result["elapsed_ns"] = seen.elapsed_ns;
        return result;
      },
      "Clients that append to our own log and wait until it is durable, over a disk whose fsync takes "
      "`fsync_ns`.",
      py::kw_only(), py::arg("clients"), py::arg("fsync_ns"), py::arg("run_ns"),
      py::arg("group_bytes") = 100);
  m.def(
      "mistakes",
      [] {
        py::list names;
        for (const auto& [name, mistake] : mistakes()) names.append(name);
        return names;
      },
      "The names of the mistakes that can be planted.");
  m.def("recover", &recover_file,
        "Reads a log file after a crash: a dict of checkpoint_lsn, groups (start LSN, end LSN, bytes), "
        "end_lsn and why "
        "it stopped; None when the file has no header or checkpoint.",
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
