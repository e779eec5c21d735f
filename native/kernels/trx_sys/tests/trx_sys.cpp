#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <map>

#include "machine/sim_config.hpp"
#include "trx_sys/latch_steps.hpp"

// A slow reference and bad arguments are in tests/kernels/test_trx_sys.py.

namespace engineroom::trx_sys {
namespace {

machine::SimConfig eight_cores() { return {.cores_per_socket = 8}; }

TEST(LatchSteps, OneReaderOf57TakesTheMutexForItsViewAndToDropIt) {
  const LatchSteps seen = latch_steps(
      {.latches = transactions::Latches::one_5_7, .transaction = Transaction::select, .sessions = 1}, {});
  ASSERT_EQ(seen.steps.size(), 4U);
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(seen.steps[i].latch, 0U);
    EXPECT_EQ(seen.steps[i].call, i < 2 ? Call::make_view : Call::drop_view);
    EXPECT_EQ(seen.steps[i].does, i % 2 == 0 ? Does::takes : Does::leaves);
  }
  EXPECT_EQ(seen.mutex, 2U);
}

TEST(LatchSteps, WhoWaitsTakesInTheEndAndLeaves) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    machine::SimConfig machine = eight_cores();
    machine.seed = seed;
    const LatchSteps seen = latch_steps({.sessions = 7, .open = 1000}, machine);
    std::map<std::uint32_t, std::uint32_t> has;
    std::size_t waiting = 0;
    std::uint64_t before_ns = 0;
    for (const LatchStep& step : seen.steps) {
      EXPECT_GE(step.now_ns, before_ns);
      before_ns = step.now_ns;
      if (step.does == Does::waits) ++waiting;
      if (step.does == Does::takes) {
        EXPECT_TRUE(has.emplace(step.latch, step.session).second);
      }
      if (step.does == Does::leaves) {
        ASSERT_TRUE(has.contains(step.latch));
        EXPECT_EQ(has.extract(step.latch).mapped(), step.session);
      }
    }
    EXPECT_TRUE(has.empty());
    EXPECT_GT(waiting, 0U);
  }
}

}  // namespace
}  // namespace engineroom::trx_sys
