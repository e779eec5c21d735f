// Sessions over any engine (sessions/), run from Python on either machine: the window, what is counted in it, and what a
// run is asked afterwards.
#pragma once

#include <pybind11/pybind11.h>

#include <cstdint>

#include "machine/host_machine.hpp"
#include "machine/sim_machine.hpp"
#include "sessions/any_sessions.hpp"

namespace engineroom::bindings {

namespace py = pybind11;

/// Virtual time that is run. With sessions that end by themselves the run goes on to their end, `run_ns` bounds it, and
/// nothing is warm-up. A `longest_ns` above `run_ns` lets the window grow until it is settled.
struct Window {
  std::uint64_t run_ns = 1;
  std::uint64_t warmup_ns = 0;
  std::uint64_t longest_ns = 0;
};

/// Refuses no time at all.
Window window_of(std::int64_t run_ns, std::int64_t warmup_ns, std::int64_t longest_ns);

/// In virtual time; the GIL is held before and behind. Neither the warm-up is counted nor what is under way at the end, which is
/// dropped.
py::dict run_sessions(machine::SimMachine& m, sessions::AnySessions<machine::SimMachine>& sessions,
                      const Window& window);

/// On real threads, in wall time, without a warm-up.
py::dict run_sessions(machine::HostMachine& m, sessions::AnySessions<machine::HostMachine>& sessions,
                      std::uint64_t run_ns);

}  // namespace engineroom::bindings
