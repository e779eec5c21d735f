// What the stages do in a run of the chapter's load, for the picture of it.
#pragma once

#include <cstdint>
#include <vector>

#include "group_commit/load.hpp"
#include "group_commit/recorder.hpp"
#include "machine/sim_machine.hpp"

namespace engineroom::group_commit {

/// In the first `run_ns`.
std::vector<Happened> trace(machine::SimMachine& m, Design design, redo_log::Design redo,
                            const CommitConfig& commit, const LoadConfig& load, std::uint64_t run_ns);

}  // namespace engineroom::group_commit
