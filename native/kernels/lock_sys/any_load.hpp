// The chapter's load over a lock system of any design on the simulated machine, for a caller that only runs it and counts, and on real threads.
#pragma once

#include <cstdint>
#include <memory>

#include "lock_sys/lock_config.hpp"
#include "lock_sys/lock_load.hpp"
#include "machine/sim_machine.hpp"
#include "sessions/any_sessions.hpp"

namespace engineroom::lock_sys {

std::unique_ptr<sessions::AnySessions<machine::SimMachine>> any_load(machine::SimMachine& m,
                                                                     const LockConfig& locks,
                                                                     const LoadConfig& load);

/// What row locks cost on real threads, and whether threads that want none of each other's rows disturb one another.
struct ThreadsSeen {
  std::uint64_t row_locks = 0;  // taken and let go
  std::uint64_t transactions = 0;
  std::uint64_t elapsed_ns = 0;
  std::uint64_t cpu_ns = 0;  // of all threads of this process meanwhile
  Latched latched;
};

/// `threads` sessions for `run_ns`, each in a loop over transactions that lock `rows` rows of a table of its own and compute nothing in
/// between.
ThreadsSeen on_threads(const LockConfig& config, std::uint32_t threads, std::uint32_t rows,
                       std::uint64_t run_ns);

}  // namespace engineroom::lock_sys
