// What the binding files of all kernels on the machine share: parameters in, observations out, Ctrl-C and
// progress.
#pragma once

#include <pybind11/pybind11.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "machine/sim_machine.hpp"

namespace engineroom::bindings {

namespace py = pybind11;

/// A simulated machine's parameters from a dict of the names of SimConfig; what is left out has its default.
/// Raises ValueError for a name that it does not know and for a value of another type.
machine::SimConfig sim_config(const py::dict& parameters, std::uint64_t seed);

/// For SimMachine::set_poll and HostMachine::set_poll: Ctrl-C ends the run, and `progress`, if given, is
/// called with the time in ns. Make it while the GIL is held; it may be called without.
std::function<void(std::uint64_t)> stop_or_tell(const std::optional<py::function>& progress);

/// What a run is asked afterwards, as a dict: of the whole of it events, trace_hash, now_ns, threads, trace; of `counted`
/// waits, activities and core_ps.
py::dict observed(machine::SimMachine& m, const machine::Totals& counted);
py::list wait_rows(const std::vector<machine::WaitStats>& waits, const machine::Names& names);
py::list activity_rows(const std::vector<machine::Activity>& nodes, const machine::Names& names);

}  // namespace engineroom::bindings
