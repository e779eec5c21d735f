// Clients over a whole engine on the simulated machine, for a caller that only runs them and counts.
#pragma once

#include <cstdint>
#include <memory>

#include "engine/engine.hpp"
#include "engine/load.hpp"
#include "engine/mix.hpp"
#include "machine/sim_machine.hpp"
#include "sessions/any_sessions.hpp"

namespace engineroom::engine {

using AnyLoad = std::unique_ptr<sessions::AnySessions<machine::SimMachine>>;

/// `redo` is the log's file. Of the files of a binary log only the bytes count. Refuses what Clients does.
AnyLoad any_load(machine::SimMachine& m, machine::SimMachine::File& redo, const Parts& parts,
                 const LoadConfig& load, const Demands& demands, std::uint64_t seed);
AnyLoad any_load(machine::SimMachine& m, machine::SimMachine::File& redo, const Parts& parts,
                 const LoadConfig& load, const Mix& mix, std::uint64_t seed);

}  // namespace engineroom::engine
