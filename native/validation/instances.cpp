#include "validation/instances.hpp"

namespace engineroom::validation {

using machine::HostMachine;
using machine::SimMachine;

template void spawn_clients(SimMachine&, ClosedLoop<SimMachine>&);
template void spawn_clients(HostMachine&, ClosedLoop<HostMachine>&);
template void spawn_jobs(SimMachine&, OpenLoop<SimMachine>&);
template void run_crowd(SimMachine&, Crowd<SimMachine>&, const std::function<void()>&);
template void run_crowd(HostMachine&, Crowd<HostMachine>&, const std::function<void()>&);

}  // namespace engineroom::validation
