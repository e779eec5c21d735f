// engineroom._native.machine.crowd: one word or one lock under many threads, in virtual time.
#include <string>
#include <utility>
#include <vector>

#include "bindings/arguments.hpp"
#include "bindings/arrays.hpp"
#include "bindings/sim_binding.hpp"
#include "validation/binding.hpp"
#include "validation/instances.hpp"

namespace engineroom::bindings {

namespace {

using machine::SimMachine;
using validation::Crowd;
using validation::CrowdConfig;

std::vector<std::uint64_t> turns_of(const Crowd<SimMachine>& crowd) {
  std::vector<std::uint64_t> turns;
  for (const auto& each : crowd.turns) turns.push_back(each.n);
  return turns;
}

constexpr const char* kCrowdDoc =
    R"(Threads that change one word, or take one lock, again and again, in virtual time.

parameters: the machine's, by their names in SimConfig; what is left out has its default.
run_ns, warmup_ns: virtual time; turns that end in the warm-up are not counted.

Returns a dict: turns (one entry per thread), window_ns, intrusions (threads that came in while another was under the lock) and
what a run is asked anyway. Raises ValueError for a bad argument.)";

py::dict crowd(const CrowdConfig& config, const py::dict& parameters, std::int64_t run_ns,
               std::int64_t warmup_ns, std::int64_t seed) {
  const std::uint64_t window_ns = at_least(run_ns, 1, "run_ns");
  const std::uint64_t before_ns = at_least(warmup_ns, 0, "warmup_ns");
  SimMachine m(sim_config(parameters, static_cast<std::uint64_t>(seed)));
  if (config.cpus && config.cpus->back() >= m.cpus()) {
    throw py::value_error("cpus must be below the machine's " + std::to_string(m.cpus()) + ", got " +
                          std::to_string(config.cpus->back()));
  }
  m.set_poll(stop_or_tell(std::nullopt));
  Crowd<SimMachine> loop(config);
  std::vector<std::uint64_t> turns;
  machine::Totals counted;
  {
    const py::gil_scoped_release unlocked;
    validation::run_crowd(m, loop, [&] {
      m.run_on(before_ns);
      const machine::Totals totals_before = m.totals();
      const std::vector<std::uint64_t> before = turns_of(loop);
      m.run_on(window_ns);
      counted = m.totals().since(totals_before);
      turns = turns_of(loop);
      for (std::size_t i = 0; i < turns.size(); ++i) turns[i] -= before[i];
    });
  }
  py::dict result = observed(m, counted);
  result["turns"] = to_array(std::move(turns));
  result["window_ns"] = window_ns;
  result["intrusions"] = loop.intrusions;
  return result;
}

}  // namespace

void bind_crowd(py::module_& machine) {
  def_with_options(machine, "crowd", &crowd, kCrowdDoc, py::kw_only(), py::arg("parameters"),
                   py::arg("run_ns"), py::arg("warmup_ns") = 0, py::arg("seed") = 1);
}

}  // namespace engineroom::bindings
