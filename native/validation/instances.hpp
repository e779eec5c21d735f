// The loops on the machines that they are run on, compiled once (instances.cpp) for all who run them.
#pragma once

#include <functional>

#include "machine/host_machine.hpp"
#include "machine/sim_machine.hpp"
#include "validation/closed_loop.hpp"
#include "validation/crowd.hpp"
#include "validation/open_loop.hpp"

namespace engineroom::validation {

extern template void spawn_clients(machine::SimMachine&, ClosedLoop<machine::SimMachine>&);
extern template void spawn_clients(machine::HostMachine&, ClosedLoop<machine::HostMachine>&);
extern template void spawn_jobs(machine::SimMachine&, OpenLoop<machine::SimMachine>&);
extern template void run_crowd(machine::SimMachine&, Crowd<machine::SimMachine>&,
                               const std::function<void()>&);
extern template void run_crowd(machine::HostMachine&, Crowd<machine::HostMachine>&,
                               const std::function<void()>&);

}  // namespace engineroom::validation
