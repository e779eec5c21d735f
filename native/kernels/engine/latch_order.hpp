// The latches of an engine in the order in which one session's statements ask for them.
//
// Models      what performance_schema keeps of a session: each latch that it asks for, one behind the other
// Leaves out  waiting: there is one session
// Cost        a second engine is compiled, over a machine that is told of each latch
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "engine/engine.hpp"
#include "engine/load.hpp"
#include "engine/statements.hpp"
#include "machine/sim_config.hpp"

namespace engineroom::engine {

/// Of one execution of a statement.
struct AskedFor {
  Statement statement = Statement::commit;
  /// By their names in performance_schema. A log without a latch on its way in has log_reservation, where that was.
  std::vector<std::string> latches;
};

/// So many transactions of the load, by one client; `poll` as of the machine. Latches of the engine's own threads are in it if they ask for one meanwhile.
std::vector<AskedFor> latch_order(const machine::SimConfig& machine, const Parts& parts,
                                  const LoadConfig& load, const Demands& demands, std::uint64_t transactions,
                                  std::uint64_t seed, std::function<void(std::uint64_t now_ns)> poll = {});

}  // namespace engineroom::engine
