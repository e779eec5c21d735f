// The chapter's load over a log of any design, for a caller that only runs it and counts.
#pragma once

#include <memory>

#include "machine/host_machine.hpp"
#include "machine/sim_machine.hpp"
#include "redo_log/engine.hpp"
#include "sessions/any_sessions.hpp"

namespace engineroom::redo_log {

/// `log` is completed as with_load does.
template <Machine M>
std::unique_ptr<sessions::AnySessions<M>> any_load(Design design, M& m, typename M::File& file,
                                                   const LogConfig& log, const LoadConfig& load);

extern template std::unique_ptr<sessions::AnySessions<machine::SimMachine>> any_load(
    Design, machine::SimMachine&, machine::SimMachine::File&, const LogConfig&, const LoadConfig&);
extern template std::unique_ptr<sessions::AnySessions<machine::HostMachine>> any_load(
    Design, machine::HostMachine&, machine::HostMachine::File&, const LogConfig&, const LoadConfig&);

}  // namespace engineroom::redo_log
