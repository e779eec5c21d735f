// engineroom._native.trx_sys
#include "trx_sys/latch_steps.hpp"

#include "bindings/arrays.hpp"
#include "bindings/options.hpp"
#include "bindings/sim_binding.hpp"
#include "submodules.hpp"

namespace engineroom::bindings {

namespace {

using namespace trx_sys;

py::dict steps(const StepsConfig& config, const py::dict& parameters, std::int64_t seed, bool is_observed) {
  const LatchSteps seen =
      latch_steps(config, sim_config(parameters, static_cast<std::uint64_t>(seed)), is_observed);
  py::list rows;
  for (const LatchStep& step : seen.steps) {
    rows.append(dict_of({{"now_ns", step.now_ns},
                         {"session", step.session},
                         {"latch", step.latch},
                         {"call", names::of(step.call)},
                         {"does", names::of(step.does)}}));
  }
  return dict_of({{"steps", rows},
                  {"trace_hash", seen.trace_hash},
                  {"mutex", seen.mutex},
                  {"serialisation", seen.serialisation},
                  {"shards", seen.shards}});
}

}  // namespace

void bind_trx_sys(py::module_& module) {
  py::module_ m = module.def_submodule("trx_sys", "Sessions at the latches of the transaction system.");
  m.def("latch_steps", &steps,
        "One transaction of each session: a list of what happens to latches, each with the time, the "
        "session, the latch (0 trx_sys_mutex, 1 trx_sys_serialisation_mutex, from 2 on shards), the call "
        "that it is in and what it does; and how often the sessions took each kind.",
        py::arg("config") = py::dict(), py::kw_only(), py::arg("parameters") = py::dict(),
        py::arg("seed") = 1, py::arg("is_observed") = true);
}

}  // namespace engineroom::bindings
