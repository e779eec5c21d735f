// Sessions over any engine (sessions/), run from Python on either machine: the window, what is counted in it, and what a
// run is asked afterwards.
#pragma once

#include <pybind11/pybind11.h>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "machine/host_machine.hpp"
#include "machine/sim_machine.hpp"
#include "sessions/sessions.hpp"
#include "sim_binding.hpp"

namespace engineroom::bindings {

namespace py = pybind11;

/// Virtual time that is run. With sessions that end by themselves the run goes on to their end, `run_ns` bounds it, and
/// nothing is warm-up.
struct Window {
  std::uint64_t run_ns = 1;
  std::uint64_t warmup_ns = 0;
};

/// What the engine has counted since its start, by name.
using EngineCounts = std::vector<std::pair<const char*, std::uint64_t>>;

template <typename File>
EngineCounts file_counts(const File& file) {
  return {{"fsyncs", file.fsyncs()}, {"writes", file.writes()}, {"written_bytes", file.written_bytes()}};
}

/// The counts of a window, as the difference of two looks.
template <typename M, typename Sessions, typename Counted>
class Looks {
 public:
  Looks(M& m, const Sessions& sessions, const Counted& engine_counts)
      : m_(m), sessions_(sessions), engine_counts_(engine_counts) {}

  void before() { before_ = look(); }
  void after() { after_ = look(); }
  void add_to(py::dict& result, std::uint64_t window_ns) const {
    for (std::size_t i = 0; i < after_.size(); ++i) {
      result[after_[i].first] = after_[i].second - (before_.empty() ? 0 : before_[i].second);
    }
    result["window_ns"] = window_ns;
    const machine::Histogram latency = sessions_.counts().latency_ns;
    result["latency_ns_p50"] = latency.quantile(500);
    result["latency_ns_p99"] = latency.quantile(990);
  }

 private:
  EngineCounts look() const {
    const sessions::Counts done = sessions_.counts();
    EngineCounts all = engine_counts_();
    all.insert(all.end(),
               {{"transactions", done.transactions}, {"mtrs", done.mtrs}, {"cpu_ns", m_.cpu_ns()}});
    return all;
  }

  M& m_;
  const Sessions& sessions_;
  const Counted& engine_counts_;
  EngineCounts before_;
  EngineCounts after_;
};

/// In virtual time. `engine_counts()` gives EngineCounts; the GIL is held before and behind.
template <typename Sessions, typename Counted>
py::dict run_sessions(machine::SimMachine& m, Sessions& sessions, const Counted& engine_counts,
                      const Window& window) {
  Looks looks(m, sessions, engine_counts);
  std::uint64_t ns = window.run_ns;
  {
    const py::gil_scoped_release unlocked;
    sessions.spawn(m);
    if (sessions.ends_by_itself()) {
      m.run_on(window.run_ns);
      ns = sessions.ended_ns();
    } else {
      m.run_on(window.warmup_ns);
      looks.before();
      m.run_on(window.run_ns);
    }
    looks.after();
    m.stop();
    m.run();
  }
  if (ns == 0) {
    throw py::value_error("run_ns is " + std::to_string(window.run_ns) +
                          ": the transactions do not end in that time");
  }
  py::dict result = observed(m);
  looks.add_to(result, ns);
  return result;
}

/// On real threads, in wall time, without a warm-up.
template <typename Sessions, typename Counted>
py::dict run_sessions(machine::HostMachine& m, Sessions& sessions, const Counted& engine_counts,
                      std::uint64_t run_ns) {
  Looks looks(m, sessions, engine_counts);
  {
    const py::gil_scoped_release unlocked;
    looks.before();
    sessions.spawn(m);
    m.run_for(run_ns);
    looks.after();
  }
  py::dict result;
  looks.add_to(result, sessions.ends_by_itself() && sessions.ended_ns() > 0 ? sessions.ended_ns() : run_ns);
  result["waits"] = wait_rows(m.waits(), m.names());
  result["activities"] = activity_rows(m.activities(), m.names());
  return result;
}

}  // namespace engineroom::bindings
