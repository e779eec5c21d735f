// The chapter's load over a lock system of any design on the simulated machine, for a caller that only runs it and counts.
#pragma once

#include <memory>

#include "lock_sys/lock_config.hpp"
#include "lock_sys/lock_load.hpp"
#include "machine/sim_machine.hpp"
#include "sessions/any_sessions.hpp"

namespace engineroom::lock_sys {

std::unique_ptr<sessions::AnySessions<machine::SimMachine>> any_load(machine::SimMachine& m,
                                                                     const LockConfig& locks,
                                                                     const LoadConfig& load);

}  // namespace engineroom::lock_sys
