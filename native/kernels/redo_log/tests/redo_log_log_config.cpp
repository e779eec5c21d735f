// Small log buffers: each size of a mini-transaction either runs to the end or is refused before anything runs.
#include <gtest/gtest.h>

#include <cstdint>
#include <stdexcept>
#include <string>

#include "common/tests/part_of.hpp"
#include "machine/sim_machine.hpp"
#include "redo_log/engine.hpp"

namespace engineroom::redo_log {
namespace {

using machine::SimMachine;

constexpr std::uint64_t kLimitNs = 60'000'000'000;  // what takes a ms of work has long ended

enum class Outcome { ended, refused, hung };

struct Seen {
  Outcome outcome;
  std::string problem;
};

Seen run(Design design, const LogConfig& log, const LoadConfig& load) {
  SimMachine m({.cores_per_socket = 2, .disk_fsync = {.quantiles_ps = {20'000'000}}});
  SimMachine::File file(m, "redo", machine::Bytes::counted);
  Seen seen{Outcome::hung, "no end"};
  try {
    with_load(design, m, file, log, load, [&](auto& made) {
      made.sessions.spawn(m);
      m.run_on(kLimitNs);
      const std::uint64_t done = made.sessions.counts().transactions;
      if (done == load.clients * load.transactions) seen.outcome = Outcome::ended;
      if (m.live_threads() > 0) seen.problem = m.who_waits();
      m.stop();
      if (seen.outcome == Outcome::ended) m.run();
    });
  } catch (const std::invalid_argument& refusal) {
    seen = {Outcome::refused, refusal.what()};
  } catch (const machine::Stalled& stalled) {
    seen = {Outcome::hung, stalled.what()};
  }
  return seen;
}

/// The same with what the refusals ask for: a larger buffer, and then perhaps more slots.
Seen run_with_what_it_asks_for(Design design, LogConfig log, const LoadConfig& load,
                               const std::string& refusal) {
  const std::uint64_t least = std::stoull(refusal.substr(refusal.find("at least ") + 9));
  if (refusal.find("buffer_bytes") != std::string::npos) {
    log.buffer_bytes = least;
  } else {
    log.recent_closed_slots = least;
  }
  Seen seen = run(design, log, load);
  if (seen.outcome != Outcome::refused || seen.problem == refusal) return seen;
  return run_with_what_it_asks_for(design, log, load, seen.problem);
}

class SmallBuffers : public testing::TestWithParam<Design> {};

TEST_P(SmallBuffers, EitherDoOrAreRefusedWithWhatWouldDo) {
  std::uint64_t ended = 0;
  std::uint64_t refused = 0;
  std::uint64_t configuration = 0;
  for (const std::size_t blocks : {16U, 17U, 18U, 20U, 24U, 32U, 47U, 64U, 264U, 265U, 280U, 512U}) {
    for (const std::size_t bytes : {1U, 100U, 496U, 497U, 1000U, 1900U, 2456U, 3000U, 4095U, 4096U, 4097U,
                                    6912U, 7000U, 20'000U, 66'000U}) {
      for (const std::uint32_t clients : {1U, 3U}) {
        if (configuration++ % (kIsSanitized ? 11 : 1) != 0) continue;
        LogConfig log{.buffer_bytes = blocks * kBlockBytes,
                      .write_ahead_bytes = 1024,
                      .recent_written_slots = 1024,
                      .recent_closed_slots = 16'384};
        const LoadConfig load{.clients = clients,
                              .statements = 2,
                              .statement_ns = 1000,
                              .mtr_bytes = bytes,
                              .flush_every = 3,
                              .transactions = 40};
        const std::string what = std::string(names::of(GetParam())) + ", " + std::to_string(blocks) +
                                 " blocks, " + std::to_string(bytes) + " bytes, " + std::to_string(clients) +
                                 " clients: ";
        const Seen seen = run(GetParam(), log, load);
        ASSERT_NE(seen.outcome, Outcome::hung) << what << seen.problem;
        ++(seen.outcome == Outcome::ended ? ended : refused);
        if (seen.outcome == Outcome::ended) continue;
        EXPECT_NE(seen.problem.find(std::to_string(bytes) + " bytes"), std::string::npos) << seen.problem;
        const Seen again = run_with_what_it_asks_for(GetParam(), log, load, seen.problem);
        EXPECT_EQ(again.outcome, Outcome::ended) << what << again.problem;
      }
    }
  }
  EXPECT_GT(ended, part_of(200));
  EXPECT_GE(refused, part_of(30));
}

std::string name_of_test(const testing::TestParamInfo<Design>& info) {
  constexpr const char* kNames[] = {"Log56", "Log57", "Log80", "Log80WithoutWriterThreads"};
  return kNames[static_cast<std::size_t>(info.param)];
}
INSTANTIATE_TEST_SUITE_P(RedoLog, SmallBuffers,
                         testing::Values(Design::log_5_6, Design::log_5_7, Design::log_8_0,
                                         Design::log_8_0_no_writer_threads),
                         name_of_test);

TEST(RedoLog56, HasRoomWhereItsBufferIsNeverMovedByHalf) {
  // What is written lies before half of the buffer, and what is left behind it is too little for a group.
  LogConfig log{.buffer_bytes = 8192};
  const LoadConfig load{.clients = 1, .statements = 0, .mtr_bytes = 1900, .transactions = 100};
  EXPECT_EQ(run(Design::log_5_6, log, load).outcome, Outcome::ended);
}

}  // namespace
}  // namespace engineroom::redo_log
