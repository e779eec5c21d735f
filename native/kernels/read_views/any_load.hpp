// The chapter's load on the simulated machine, for a caller that only runs it and counts.
#pragma once

#include <memory>

#include "machine/sim_machine.hpp"
#include "read_views/load.hpp"
#include "sessions/any_sessions.hpp"
#include "transactions/trx_sys.hpp"

namespace engineroom::read_views {

std::unique_ptr<sessions::AnySessions<machine::SimMachine>> any_load(
    machine::SimMachine& m, const transactions::TrxSysConfig& trx_sys, const LoadConfig& load);

}  // namespace engineroom::read_views
