// The chapter's load over any design of the commit and of the redo log on the simulated machine, for a caller that only runs it and counts.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "group_commit/load.hpp"
#include "group_commit/recorder.hpp"
#include "machine/sim_machine.hpp"
#include "sessions/any_sessions.hpp"

namespace engineroom::group_commit {

/// `file` is the redo log's; of the binlog's files only the bytes count.
std::unique_ptr<sessions::AnySessions<machine::SimMachine>> any_load(
    machine::SimMachine& m, Design design, redo_log::Design redo, const CommitConfig& commit,
    const redo_log::LogConfig& log, machine::SimMachine::File& file, const LoadConfig& load);

/// What the stages do in the first `run_ns`, for the picture of a run.
std::vector<Happened> trace(machine::SimMachine& m, Design design, redo_log::Design redo,
                            const CommitConfig& commit, const LoadConfig& load, std::uint64_t run_ns);

}  // namespace engineroom::group_commit
