// engineroom._native.machine: the models that validate the simulated machine, and what a run is asked
// afterwards.
#include <pybind11/stl.h>

#include <algorithm>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "bindings/arrays.hpp"
#include "bindings/options.hpp"
#include "bindings/sim_binding.hpp"
#include "machine/host_machine.hpp"
#include "validation/binding.hpp"
#include "validation/instances.hpp"
#include "validation/primitives.hpp"

namespace engineroom::bindings {

namespace {

using namespace machine;
using validation::ClosedLoop;
using validation::ClosedLoopConfig;
using validation::OpenLoop;
using validation::OpenLoopConfig;

/// One row per core, one column per purpose.
py::array_t<std::uint64_t> core_rows(const std::vector<CoreTime>& cores) {
  py::array_t<std::uint64_t> rows(
      {static_cast<py::ssize_t>(cores.size()), static_cast<py::ssize_t>(kPurposes)});
  for (std::size_t cpu = 0; cpu < cores.size(); ++cpu) {
    for (std::size_t purpose = 0; purpose < kPurposes; ++purpose) {
      rows.mutable_at(static_cast<py::ssize_t>(cpu), static_cast<py::ssize_t>(purpose)) =
          cores[cpu].ps[purpose];
    }
  }
  return rows;
}

/// What a trace needs: intervals, the names that they are told by, and the threads when intervals were kept.
template <typename M>
void add_trace(py::dict& result, M& m, std::vector<Interval> trace) {
  result["trace"] = to_array(std::move(trace));
  result["intervals_not_kept"] = m.intervals_not_kept();
  py::list names;
  for (std::uint32_t i = 0; i < m.names().size(); ++i) names.append(m.names()[i]);
  result["names"] = names;
  if (m.config().trace_intervals == 0) return;
  py::list threads;
  for (std::uint32_t i = 0; i < m.thread_count(); ++i) threads.append(m.thread_name(i));
  result["threads"] = threads;
}

template <typename M>
py::array_t<std::uint64_t> responses(const ClosedLoop<M>& loop, Histogram& all) {
  for (const Histogram& one : loop.response_ns) all.add(one);
  std::vector<std::uint64_t> counts = all.counts();
  return to_array(std::move(counts));
}

template <typename M>
void add_turns(py::dict& result, const ClosedLoop<M>& loop, std::uint64_t window_ns) {
  Histogram all;
  result["response_histogram"] = responses(loop, all);
  result["turns"] = all.count();
  result["response_ns_total"] = all.total();
  result["response_ns_p50"] = all.quantile(500);
  result["response_ns_p99"] = all.quantile(990);
  result["window_ns"] = window_ns;
  result["fsyncs"] = loop.file.fsyncs();
}

ClosedLoopConfig closed_loop_config(std::int64_t clients, std::int64_t think_ns, std::int64_t work_ns,
                                    std::int64_t hold_ns, bool latch, std::int64_t fsyncs,
                                    std::int64_t append_bytes, bool exponential, std::int64_t spin_rounds,
                                    std::int64_t warmup_ns) {
  ClosedLoopConfig config;
  config.clients = static_cast<std::uint32_t>(at_least(clients, 1, "clients"));
  config.think_ns = at_least(think_ns, 0, "think_ns");
  config.work_ns = at_least(work_ns, 0, "work_ns");
  config.hold_ns = at_least(hold_ns, 0, "hold_ns");
  config.uses_latch = latch;
  config.fsyncs = static_cast<std::uint32_t>(at_least(fsyncs, 0, "fsyncs"));
  config.append_bytes = static_cast<std::uint32_t>(at_least(append_bytes, 0, "append_bytes"));
  config.is_exponential = exponential;
  config.warmup_ns = at_least(warmup_ns, 0, "warmup_ns");
  config.spin.rounds = at_least(spin_rounds, 0, "spin_rounds");
  if (think_ns + work_ns + hold_ns == 0 && fsyncs == 0 && !latch) {
    throw py::value_error(
        "a turn must take time: think_ns, work_ns, hold_ns or fsyncs must be positive, got 0");
  }
  return config;
}

constexpr const char* kClosedLoopDoc =
    R"(Clients that think, compute, hold a latch and wait for the disk, in virtual time.

parameters: the machine's, by their names in SimConfig; what is left out has its default.
clients, think_ns, work_ns, hold_ns: how many, and the mean times of a turn: asleep, computing, computing under one latch.
latch: whether the latch is taken, also when hold_ns is 0. spin_rounds: how long it spins before it sleeps.
fsyncs, append_bytes: fsyncs per turn, and the bytes written before each.
exponential: whether the times are drawn; else they are constant.
run_ns, warmup_ns: virtual time; turns that end in the warm-up are not counted.
samples: how often, evenly over the run after the warm-up, the clients in the system are counted.
progress: called with the virtual time in ns.

Returns a dict: turns, response times, in_system (the samples), core_ps (after the warm-up) and what a run is asked anyway.
Raises ValueError for a bad argument, RuntimeError for a simulation that stalled.)";

py::dict closed_loop(const py::dict& parameters, std::int64_t clients, std::int64_t think_ns,
                     std::int64_t work_ns, std::int64_t hold_ns, bool latch, std::int64_t fsyncs,
                     std::int64_t append_bytes, bool exponential, std::int64_t spin_rounds,
                     std::int64_t run_ns, std::int64_t warmup_ns, std::int64_t samples, std::int64_t seed,
                     const std::optional<py::function>& progress) {
  const ClosedLoopConfig config = closed_loop_config(clients, think_ns, work_ns, hold_ns, latch, fsyncs,
                                                     append_bytes, exponential, spin_rounds, warmup_ns);
  const std::uint64_t window_ns = at_least(run_ns, 1, "run_ns");
  const std::uint64_t n_samples = std::min(at_least(samples, 0, "samples"), window_ns);
  SimMachine m(sim_config(parameters, static_cast<std::uint64_t>(seed)));
  m.set_poll(stop_or_tell(progress));
  ClosedLoop<SimMachine> loop(m, config);
  Totals before;
  Totals after;
  std::vector<std::uint64_t> in_system;
  {
    const py::gil_scoped_release unlocked;
    validation::spawn_clients(m, loop);
    m.run_on(config.warmup_ns);
    before = m.totals();
    const std::uint64_t pieces = std::max<std::uint64_t>(1, n_samples);
    for (std::uint64_t i = 0; i < pieces; ++i) {
      m.run_on(window_ns * (i + 1) / pieces - window_ns * i / pieces);
      if (n_samples > 0) in_system.push_back(loop.in_system(m.now()));
    }
    after = m.totals();
  }
  py::dict result = observed(m, after.since(before));
  add_turns(result, loop, window_ns);
  result["in_system"] = to_array(std::move(in_system));
  return result;
}

py::dict closed_loop_on_host(std::int64_t clients, std::int64_t think_ns, std::int64_t work_ns,
                             std::int64_t hold_ns, bool latch, std::int64_t fsyncs, std::int64_t append_bytes,
                             bool exponential, std::int64_t spin_rounds, std::int64_t run_ns,
                             std::int64_t warmup_ns, std::int64_t fsync_ns, std::int64_t trace_intervals,
                             std::int64_t seed, const std::optional<py::function>& progress) {
  const ClosedLoopConfig config = closed_loop_config(clients, think_ns, work_ns, hold_ns, latch, fsyncs,
                                                     append_bytes, exponential, spin_rounds, warmup_ns);
  const std::uint64_t window_ns = at_least(run_ns, 1, "run_ns");
  HostMachine m({.seed = static_cast<std::uint64_t>(seed),
                 .fsync_ns = at_least(fsync_ns, 0, "fsync_ns"),
                 .folder = {},
                 .profile = true,
                 .core_times = true,
                 .trace_intervals = at_least(trace_intervals, 0, "trace_intervals")});
  m.set_poll(stop_or_tell(progress));
  ClosedLoop<HostMachine> loop(m, config);
  {
    const py::gil_scoped_release unlocked;
    validation::spawn_clients(m, loop);
    m.run_for(config.warmup_ns + window_ns);
  }
  py::dict result;
  add_turns(result, loop, window_ns);
  result["now_ns"] = window_ns + config.warmup_ns;
  result["waits"] = wait_rows(m.waits(), m.names());
  result["activities"] = activity_rows(m.activities().nodes(), m.names());
  result["core_ps"] = core_rows(m.core_times());
  std::vector<Interval> trace = m.trace();
  add_trace(result, m, std::move(trace));
  return result;
}

constexpr const char* kOpenLoopDoc = R"(Jobs that arrive at random, compute and leave, in virtual time.

jobs, first_counted: how many arrive, and the first one that is counted. interval_ns, work_ns: means, exponential.
durable: a job ends with an fsync that it shares with those who wait at the same time.

Returns a dict: counted, sojourn_ns_total, fsyncs, and what a run is asked anyway.)";

py::dict open_loop(const py::dict& parameters, std::int64_t jobs, std::int64_t first_counted,
                   std::int64_t interval_ns, std::int64_t work_ns, bool durable, std::int64_t seed,
                   const std::optional<py::function>& progress) {
  OpenLoopConfig config;
  config.jobs = static_cast<std::uint32_t>(at_least(jobs, 1, "jobs"));
  config.first_counted = static_cast<std::uint32_t>(at_least(first_counted, 0, "first_counted"));
  config.interval_ns = at_least(interval_ns, 1, "interval_ns");
  config.work_ns = at_least(work_ns, 0, "work_ns");
  config.is_durable = durable;
  SimMachine m(sim_config(parameters, static_cast<std::uint64_t>(seed)));
  m.set_poll(stop_or_tell(progress));
  OpenLoop<SimMachine> loop(m, config);
  {
    const py::gil_scoped_release unlocked;
    validation::spawn_jobs(m, loop);
    m.run();
  }
  py::dict result = observed(m, m.totals());
  result["counted"] = loop.counted;
  result["sojourn_ns_total"] = loop.sojourn_ns;
  result["fsyncs"] = loop.file.fsyncs();
  return result;
}

}  // namespace

SimConfig sim_config(const py::dict& parameters, std::uint64_t seed) {
  auto config = options_from<SimConfig>(parameters);
  config.seed = seed;
  return config;
}

std::function<void(std::uint64_t)> stop_or_tell(const std::optional<py::function>& progress) {
  return [progress](std::uint64_t now_ns) {
    const py::gil_scoped_acquire locked;
    if (PyErr_CheckSignals() != 0) throw py::error_already_set();
    if (progress) (*progress)(now_ns);
  };
}

py::list wait_rows(const std::vector<WaitStats>& waits, const Names& names) {
  py::list rows;
  for (std::size_t site = 0; site < waits.size(); ++site) {
    const WaitStats& stats = waits[site];
    if (stats.ns.count() == 0) continue;
    rows.append(dict_of({{"name", names[static_cast<std::uint32_t>(site)]},
                         {"count", stats.ns.count()},
                         {"total_ns", stats.ns.total()},
                         {"p50_ns", stats.ns.quantile(500)},
                         {"p99_ns", stats.ns.quantile(990)},
                         {"spin_rounds", stats.spin_rounds},
                         {"parks", stats.parks}}));
  }
  return rows;
}

py::list activity_rows(const std::vector<Activity>& nodes, const Names& names) {
  static constexpr const char* kStateNames[kStates] = {"work",   "memory", "spin",    "runnable",
                                                       "parked", "io",     "sleeping"};
  py::list rows;
  for (std::size_t node = 1; node < nodes.size(); ++node) {
    py::list path;
    for (std::size_t at = node; at != 0; at = nodes[at].parent) path.insert(0, names[nodes[at].site]);
    for (std::size_t state = 0; state < kStates; ++state) {
      if (nodes[node].ps[state] > 0) {
        rows.append(py::make_tuple(py::tuple(path), kStateNames[state], nodes[node].ps[state]));
      }
    }
  }
  return rows;
}

py::dict observed(SimMachine& m, const Totals& counted) {
  py::dict result = dict_of({{"events", m.events()},
                             {"trace_hash", m.trace_hash()},
                             {"now_ns", m.now()},
                             {"waits", wait_rows(counted.waits, m.names())},
                             {"activities", activity_rows(counted.activities, m.names())},
                             {"core_ps", core_rows(counted.cores)}});
  std::vector<Interval> trace = m.trace();
  add_trace(result, m, std::move(trace));
  return result;
}

void bind_machine(py::module_& module) {
  py::module_ m = module.def_submodule(
      "machine", "The simulated machine and its models; design and validation: the page on the machine.");
  PYBIND11_NUMPY_DTYPE(Interval, start_ps, end_ps, thread, core, state, site);
  py::register_exception<Stalled>(m, "Stalled", PyExc_RuntimeError).doc() =
      "Nothing could happen any more while threads still waited. The message names them.";
  m.def("closed_loop", &closed_loop, kClosedLoopDoc, py::kw_only(), py::arg("parameters"), py::arg("clients"),
        py::arg("think_ns") = 0, py::arg("work_ns") = 0, py::arg("hold_ns") = 0, py::arg("latch") = false,
        py::arg("fsyncs") = 0, py::arg("append_bytes") = 0, py::arg("exponential") = true,
        py::arg("spin_rounds") = 30, py::arg("run_ns"), py::arg("warmup_ns") = 0, py::arg("samples") = 0,
        py::arg("seed") = 1, py::arg("progress") = py::none());
  m.def("closed_loop_on_host", &closed_loop_on_host,
        "The same clients on real threads; `fsync_ns` is the emulated disk's. Times are wall times; core_ps "
        "is of the whole run. `trace_intervals`: so many intervals a thread are kept for a trace.",
        py::kw_only(), py::arg("clients"), py::arg("think_ns") = 0, py::arg("work_ns") = 0,
        py::arg("hold_ns") = 0, py::arg("latch") = false, py::arg("fsyncs") = 0, py::arg("append_bytes") = 0,
        py::arg("exponential") = true, py::arg("spin_rounds") = 30, py::arg("run_ns"),
        py::arg("warmup_ns") = 0, py::arg("fsync_ns") = 100'000, py::arg("trace_intervals") = 0,
        py::arg("seed") = 1, py::arg("progress") = py::none());
  m.def("open_loop", &open_loop, kOpenLoopDoc, py::kw_only(), py::arg("parameters"), py::arg("jobs"),
        py::arg("first_counted") = 0, py::arg("interval_ns"), py::arg("work_ns") = 0,
        py::arg("durable") = false, py::arg("seed") = 1, py::arg("progress") = py::none());
  def_listed<SimConfig>(m, "parameters", "What a simulated machine can be told: names, defaults and ranges.");
  m.def(
      "check_parameters", [](const SimConfig&) {},
      "Raises ValueError for a parameter that is unknown and for a value that does not fit.",
      py::arg("parameters"));
  m.def(
      "primitives",
      [](std::int64_t samples, const std::string& folder) {
        const std::uint64_t n = at_least(samples, 1, "samples");
        const validation::Primitives measured = without_gil(
            [&] { return validation::measure_primitives(n, folder, stop_or_tell(std::nullopt)); });
        py::dict result;
        for (const validation::Primitive& primitive : measured) {
          std::vector<double> ns = primitive.ns;
          result[py::str(primitive.name)] = to_array(std::move(ns));
        }
        return result;
      },
      "Measures the machine at hand: for each primitive `samples` times in ns. Files are made in `folder`.",
      py::kw_only(), py::arg("samples") = 5, py::arg("folder"));
  const auto need_two_cpus = [](const std::string& what) {
    if (std::thread::hardware_concurrency() < 2) {
      throw std::runtime_error(what + " needs two CPUs, this machine has one: measure on another");
    }
  };
  m.def(
      "copy_beside_write",
      [need_two_cpus] {
        need_two_cpus("a copy beside a write");
        validation::CopyBesideWrite found =
            without_gil([&] { return validation::measure_copy_beside_write(); });
        return py::make_tuple(found.copy_ns, found.write_ns);
      },
      "How long one CPU takes to copy 64 KiB into one half of a log buffer, and another to write as much of "
      "the other half to a file in memory, ns each. Raises RuntimeError on one CPU.");
  m.def(
      "line_transfer",
      [need_two_cpus](std::int64_t hand_overs) {
        const std::uint64_t n = at_least(hand_overs, 1, "hand_overs");
        need_two_cpus("a hand-over");
        const py::gil_scoped_release unlocked;
        return validation::measure_line_transfer(n);
      },
      "How long two CPUs take to hand a cache line over, once, ns: the mean of `hand_overs` each way. Raises "
      "RuntimeError on one CPU.",
      py::kw_only(), py::arg("hand_overs") = 20'000);
  m.def(
      "interruptions",
      [](std::int64_t run_ns) {
        validation::Interruptions found =
            without_gil([&] { return validation::measure_interruptions(at_least(run_ns, 1, "run_ns")); });
        return py::make_tuple(to_array(std::move(found.ns)), found.every_ns);
      },
      "How long something else ran, each time, while two CPUs (or the only one) computed for `run_ns`, and "
      "the computing time between two, ns. 0 where nothing interrupted.",
      py::kw_only(), py::arg("run_ns"));
  bind_crowd(m);
}

}  // namespace engineroom::bindings
