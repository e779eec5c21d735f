#include "bindings/session_run.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "bindings/arrays.hpp"
#include "bindings/sim_binding.hpp"
#include "sessions/settling.hpp"

namespace engineroom::bindings {

namespace {

using machine::HostMachine;
using machine::SimMachine;
using sessions::AnySessions;
using sessions::EngineCounts;

/// Settled: each client has committed so often in the mean, and half of the interval of the throughput is so much of it.
constexpr std::uint64_t kTurnsPerClient = 5;
constexpr std::uint64_t kHalfWidthPermille = 20;

/// The counts of a window, as the difference of two looks.
template <typename M>
class Looks {
 public:
  Looks(M& m, const AnySessions<M>& sessions) : m_(m), sessions_(sessions) {}

  void before() { before_ = look(); }
  void after() { after_ = look(); }
  void add_to(py::dict& result, std::uint64_t window_ns) const {
    for (std::size_t i = 0; i < after_.counts.size(); ++i) {
      const auto& [name, count] = after_.counts[i];
      result[name] = count - (before_.counts.empty() ? 0 : before_.counts[i].second);
    }
    result["window_ns"] = window_ns;
    const machine::Histogram latency = after_.latency_ns.since(before_.latency_ns);
    result["latency_ns_p50"] = latency.quantile(500);
    result["latency_ns_p99"] = latency.quantile(990);
  }

 private:
  struct Look {
    EngineCounts counts;
    machine::Histogram latency_ns;
  };
  Look look() const {
    const sessions::Counts done = sessions_.counts();
    EngineCounts all = sessions_.engine_counts();
    all.insert(all.end(),
               {{"transactions", done.transactions}, {"mtrs", done.mtrs}, {"cpu_ns", m_.cpu_ns()}});
    return {std::move(all), done.latency_ns};
  }

  M& m_;
  const AnySessions<M>& sessions_;
  Look before_;
  Look after_;
};

}  // namespace

Window window_of(std::int64_t run_ns, std::int64_t warmup_ns, std::int64_t longest_ns) {
  return {.run_ns = at_least(run_ns, 1, "run_ns"),
          .warmup_ns = at_least(warmup_ns, 0, "warmup_ns"),
          .longest_ns = at_least(longest_ns, 0, "longest_ns")};
}

py::dict run_sessions(SimMachine& m, AnySessions<SimMachine>& sessions, const Window& window) {
  Looks looks(m, sessions);
  sessions::Settling settling(kHalfWidthPermille, kTurnsPerClient * sessions.clients());
  std::uint64_t ns = 0;
  machine::Totals before;
  machine::Totals after;
  {
    const py::gil_scoped_release unlocked;
    sessions.spawn(m);
    if (sessions.ends_by_itself()) {
      m.run_on(window.run_ns);
      ns = sessions.ended_ns();
    } else {
      m.run_on(window.warmup_ns);
      looks.before();
      before = m.totals();
      const std::uint64_t piece_ns = std::max<std::uint64_t>(1, window.run_ns / sessions::Settling::kFewest);
      const std::uint64_t longest_ns = std::max(window.run_ns, window.longest_ns);
      while (ns < longest_ns && !(ns >= window.run_ns && window.longest_ns > 0 && settling.is_settled())) {
        const std::uint64_t done = sessions.transactions();
        const std::uint64_t next_ns = std::min(piece_ns, longest_ns - ns);
        m.run_on(next_ns);
        ns += next_ns;
        settling.add(sessions.transactions() - done);
      }
    }
    looks.after();
    after = m.totals();
  }
  if (ns == 0) {
    throw py::value_error("run_ns is " + std::to_string(window.run_ns) +
                          ": the transactions do not end in that time");
  }
  py::dict result = observed(m, after.since(before));
  looks.add_to(result, ns);
  result["is_settled"] = sessions.ends_by_itself() || settling.is_settled();
  result["half_width"] = sessions.ends_by_itself() ? 0.0 : settling.half_width();
  for (const auto& [name, state] : sessions.states()) result[name] = state;
  return result;
}

py::dict run_sessions(HostMachine& m, AnySessions<HostMachine>& sessions, std::uint64_t run_ns) {
  Looks looks(m, sessions);
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
  result["activities"] = activity_rows(m.activities().nodes(), m.names());
  return result;
}

}  // namespace engineroom::bindings
