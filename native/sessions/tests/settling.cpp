// When a window is long enough: against the interval of independent counts, and against convoys.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>

#include "machine/random.hpp"
#include "sessions/settling.hpp"

namespace engineroom::sessions {
namespace {

TEST(Settling, TellsTheIntervalOfTenBatches) {
  Settling settling(20, 0);
  for (const std::uint64_t counted : {90U, 110U, 100U, 95U, 105U, 100U, 98U, 102U, 97U, 103U})
    settling.add(counted);
  // By hand: the squares of what they are apart from 100 are 276, 276 / 9 / 10 is 3.067, its root 1.751, times 2.262.
  EXPECT_NEAR(settling.half_width(), 0.03961, 0.00001);
  EXPECT_FALSE(settling.is_settled());
}

TEST(Settling, IsOverWhenEqualCountsAreEnough) {
  Settling settling(20, 1000);
  std::uint64_t pieces = 0;
  for (; !settling.is_settled() && pieces < 100; ++pieces) settling.add(80);
  EXPECT_EQ(pieces, 13U);  // 10 batches at least, and 1,000 at least
}

TEST(Settling, IsNotOverWhereNothingIsCounted) {
  Settling settling(20, 0);
  for (int i = 0; i < 100; ++i) settling.add(0);
  EXPECT_FALSE(settling.is_settled());
  EXPECT_EQ(settling.half_width(), 1);
}

TEST(Settling, ConvoysAreNoNoiseOnceABatchHoldsSome) {
  // Seven pieces at 10, seven at 190: only batches of many pieces agree.
  Settling settling(20, 0);
  std::uint64_t pieces = 0;
  for (; !settling.is_settled() && pieces < 100'000; ++pieces) settling.add(pieces / 7 % 2 == 0 ? 10 : 190);
  EXPECT_GE(pieces, 100U);
  EXPECT_LT(pieces, 100'000U);
}

TEST(Settling, TheIntervalHoldsTheMeanAboutAsOftenAsItSays) {
  constexpr int kRuns = 2000;
  int held = 0;
  for (std::uint64_t seed = 0; seed < kRuns; ++seed) {
    machine::Random random(seed);
    Settling settling(20, 0);
    std::uint64_t total = 0;
    std::uint64_t pieces = 0;
    while (!settling.is_settled()) {
      // The sum of four uniform numbers up to 200: mean 400, as noisy as commits in a piece of a window.
      std::uint64_t counted = 0;
      for (int i = 0; i < 4; ++i) counted += random.below(201);
      settling.add(counted);
      total += counted;
      ++pieces;
    }
    held += std::abs(static_cast<double>(total) / static_cast<double>(pieces) / 400 - 1) <= 0.02;
  }
  // 95 % if it were looked at once; stopping at the first narrow one costs some.
  EXPECT_GE(held, kRuns * 85 / 100);
  EXPECT_LT(held, kRuns);
}

}  // namespace
}  // namespace engineroom::sessions
