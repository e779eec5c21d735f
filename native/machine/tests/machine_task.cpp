// The free lists of coroutine frames, by themselves: under sanitizers the tasks do without them.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <random>
#include <utility>
#include <vector>

#include "machine/task.hpp"

namespace engineroom::machine {
namespace {

TEST(FramePool, AFrameGivenBackIsTheNextOfItsSizeAndOfNoOther) {
  FramePool pool;
  void* const first = pool.take(65);
  void* const second = pool.take(65);
  EXPECT_NE(first, second);
  pool.give(first, 65);
  void* const smaller = pool.take(64);
  void* const larger = pool.take(129);
  EXPECT_NE(smaller, first);
  EXPECT_NE(larger, first);
  EXPECT_EQ(pool.take(128), first);
  EXPECT_EQ(pool.calls, 5U);
  pool.give(first, 128);
  pool.give(second, 65);
  pool.give(smaller, 64);
  pool.give(larger, 129);
}

TEST(FramePool, NoTwoFramesInUseShareAByteWhateverTheirSizes) {
  struct Frame {
    unsigned char* at;
    std::size_t bytes;
    unsigned char mark;
  };
  FramePool pool;
  std::mt19937_64 random(1);
  std::vector<Frame> in_use;
  const auto is_whole = [](const Frame& frame) {
    return std::all_of(frame.at, frame.at + frame.bytes,
                       [&](unsigned char byte) { return byte == frame.mark; });
  };
  for (unsigned step = 0; step < 5000; ++step) {
    if (in_use.size() < 40 && random() % 2 == 0) {
      // Up to what lists hold, and over it.
      const std::size_t bytes = 1 + random() % (step % 10 == 0 ? 5000 : 2048);
      const Frame frame{static_cast<unsigned char*>(pool.take(bytes)), bytes,
                        static_cast<unsigned char>(step)};
      std::fill_n(frame.at, bytes, frame.mark);
      in_use.push_back(frame);
    } else if (!in_use.empty()) {
      std::swap(in_use[random() % in_use.size()], in_use.back());
      ASSERT_TRUE(is_whole(in_use.back())) << "step " << step;
      pool.give(in_use.back().at, in_use.back().bytes);
      in_use.pop_back();
    }
  }
  for (const Frame& frame : in_use) {
    EXPECT_TRUE(is_whole(frame));
    pool.give(frame.at, frame.bytes);
  }
}

}  // namespace
}  // namespace engineroom::machine
