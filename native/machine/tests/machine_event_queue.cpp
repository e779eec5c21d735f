// The small parts under the simulated machine, each against the plainest thing that does the same.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "machine/cpu_set.hpp"
#include "machine/event_queue.hpp"
#include "machine/histogram.hpp"
#include "machine/observed.hpp"
#include "machine/random.hpp"
#include "machine/sim_machine.hpp"

namespace engineroom::machine {
namespace {

TEST(CpuSets, AreSets) {
  Random random(7);
  CpuSet set;
  std::set<std::uint32_t> plain;
  for (int n = 0; n < 3000; ++n) {
    const auto cpu = static_cast<std::uint32_t>(random.below(256));
    switch (random.below(n % 500 < 250 ? 3 : 2)) {
      case 0:
        set.remove(cpu);
        plain.erase(cpu);
        break;
      default:
        set.add(cpu);
        plain.insert(cpu);
    }
    if (n % 777 == 0) {
      set.become(cpu);
      plain = {cpu};
    }
    ASSERT_EQ(set.none(), plain.empty());
    ASSERT_EQ(set.has(cpu), plain.contains(cpu));
    ASSERT_EQ(set.only(cpu), plain == std::set<std::uint32_t>{cpu});
    ASSERT_EQ(set.only_one(), plain.size() == 1 ? *plain.begin() : CpuSet::kMost);
    const auto from = static_cast<std::uint32_t>(random.below(257));
    const auto to = from + static_cast<std::uint32_t>(random.below(257 - from));
    const auto first = plain.lower_bound(from);
    const bool is_any = first != plain.end() && *first < to;
    ASSERT_EQ(set.first_in(from, to), is_any ? *first : to) << from << " " << to;
    CpuSet range;
    for (std::uint32_t i = from; i < to; ++i) range.add(i);
    ASSERT_EQ(set.meets(range), is_any) << from << " " << to;
    ASSERT_EQ(range.meets(set), is_any) << from << " " << to;
    const bool none_outside = plain.empty() || (*plain.begin() >= from && *plain.rbegin() < to);
    ASSERT_EQ(set.is_within(range), none_outside) << from << " " << to;
  }
}

TEST(CpuSets, OfAllCpusHaveEach) {
  CpuSet set;
  for (std::uint32_t cpu = 0; cpu < CpuSet::kMost; ++cpu) set.add(cpu);
  for (std::uint32_t cpu = 0; cpu < CpuSet::kMost; ++cpu) EXPECT_EQ(set.first_in(cpu, CpuSet::kMost), cpu);
  EXPECT_EQ(set.first_in(CpuSet::kMost, CpuSet::kMost), CpuSet::kMost);
}

/// Few threads and many ties; many threads; times far apart.
struct Load {
  std::uint64_t threads;
  std::uint64_t ahead;
};

TEST(EventQueues, GiveTheEarliestAndOfTwoAtOneTimeThatOfTheEarlierRequest) {
  Random random(11);
  for (const Load load :
       {Load{40, 30}, Load{2, 3}, Load{300, 1'000'000}, Load{100, std::uint64_t{1} << 45}}) {
    EventQueue queue;
    Time now = 0;                                         // what is asked for lies ahead
    std::map<std::uint32_t, std::pair<Time, int>> plain;  // thread -> when, and the request
    for (int n = 0; n < 20'000; ++n) {
      const auto thread = static_cast<std::uint32_t>(random.below(load.threads));
      const std::uint64_t what = random.below(10);
      const bool is_filling = n % 4000 < 2000;
      if (what < (is_filling ? 6U : 4U)) {
        // Of the same order, and of one far below: the times between events change in a run.
        const auto at =
            now + static_cast<Time>(random.below(n % 3 == 0 ? 1 + load.ahead / 1000 : load.ahead));
        queue.set(thread, at);
        plain[thread] = {at, n};
      } else if (what < 7) {
        queue.remove(thread);
        plain.erase(thread);
      } else if (!plain.empty()) {
        const auto first = std::ranges::min_element(plain, {}, [](const auto& each) { return each.second; });
        ASSERT_EQ(queue.next_at(), first->second.first);
        const EventQueue::Next next = queue.pop();
        ASSERT_EQ(next.at, first->second.first);
        now = next.at;
        ASSERT_EQ(next.thread, first->first);
        plain.erase(first);
      }
      ASSERT_EQ(queue.empty(), plain.empty());
      if (plain.empty()) {
        ASSERT_EQ(queue.next_at(), kNever);
      }
    }
  }
}

TEST(Histograms, HoldEveryValueInAClassThatIsNoWiderThanASixteenthOfIt) {
  for (std::uint64_t value = 1; value < (std::uint64_t{1} << 40); value += 1 + value / 7) {
    Histogram one;
    one.add(value);
    EXPECT_EQ(one.count(), 1U);
    const auto middle = static_cast<double>(one.quantile(500));
    EXPECT_NEAR(middle, static_cast<double>(value), static_cast<double>(value) / 32 + 0.5);
    EXPECT_EQ(one.quantile(0), one.quantile(1000));
  }
}

TEST(Histograms, AddedToOneAnotherAreOneOfAll) {
  Histogram odd;
  Histogram even;
  Histogram all;
  for (std::uint64_t value = 1; value <= 1000; ++value) {
    (value % 2 == 0 ? even : odd).add(value * 1000);
    all.add(value * 1000);
  }
  odd.add(even);
  EXPECT_EQ(odd.count(), 1000U);
  for (const std::uint64_t permille : {0U, 1U, 100U, 500U, 900U, 999U, 1000U}) {
    EXPECT_EQ(odd.quantile(permille), all.quantile(permille));
    EXPECT_NEAR(static_cast<double>(all.quantile(permille)),
                static_cast<double>(std::max(permille, std::uint64_t{1})) * 1000,
                static_cast<double>(permille) * 32 + 100);
  }
  EXPECT_EQ(Histogram().quantile(500), 0U);
}

TEST(Histograms, TellWhatWasAddedSince) {
  Histogram some;
  for (const std::uint64_t value : {3U, 5U, 1000U}) some.add(value);
  const Histogram before = some;
  for (const std::uint64_t value : {5U, 7U}) some.add(value);
  Histogram added;
  for (const std::uint64_t value : {5U, 7U}) added.add(value);
  EXPECT_EQ(some.since(before).counts(), added.counts());
  EXPECT_EQ(some.since(before).quantile(1000), 7U);
}

TEST(Totals, TellWhatTheRootHadSince) {
  Totals before;
  before.activities.resize(1);
  before.activities[0].ps[0] = 5;
  Totals later = before;
  later.activities[0].ps[0] = 8;
  EXPECT_EQ(later.since(before).activities[0].ps[0], 3U);
}

TEST(Names, GiveTheFirstNumberToWhatHasNoName) {
  Names names;
  EXPECT_EQ(names.intern("first"), 1U);
  EXPECT_EQ(names[0], "unnamed");
}

TEST(Times, AreCutWhereTheirSumsWouldOverflow) {
  for (const std::uint64_t days : {1U, 25U, 30U, 200U}) {
    const std::uint64_t ns = days * 86'400 * 1'000'000'000;
    const Time most = std::int64_t{26} * 86'400 * 1'000'000'000 * kPerNs;
    EXPECT_GT(time_of(ns), 0) << days;
    EXPECT_LT(time_of(ns), most * 2) << days;
    if (days < 26) {
      EXPECT_EQ(time_of(ns), static_cast<Time>(ns) * kPerNs) << days;
    }
  }
  EXPECT_EQ(time_of(UINT64_MAX), time_of(UINT64_MAX / 2));
  EXPECT_GT(time_of(UINT64_MAX), time_of(std::uint64_t{25} * 86'400 * 1'000'000'000));
}

TEST(Histograms, HaveClassesThatMeet) {
  for (std::size_t i = 0; i + 1 < Histogram::kClasses; ++i) {
    const std::uint64_t from = Histogram::lower_bound(i);
    const std::uint64_t to = Histogram::lower_bound(i + 1);
    ASSERT_LT(from, to) << i;
    ASSERT_EQ(Histogram::class_of(from), i);
    ASSERT_EQ(Histogram::class_of(to - 1), i);
  }
  Histogram some;
  for (const std::uint64_t value : {3U, 5U, 1000U}) some.add(value);
  EXPECT_EQ(some.total(), 1008U);
  some.add(some);
  EXPECT_EQ(some.total(), 2016U);
  EXPECT_EQ(some.counts()[3], 2U);
  Histogram none;
  some.add(none);
  EXPECT_EQ(some.count(), 6U);
  none.add(some);
  EXPECT_EQ(none.counts(), some.counts());
  Histogram zeroes;
  zeroes.add(0);
  zeroes.add(zeroes);
  EXPECT_EQ(zeroes.counts()[0], 2U);
}

TEST(SimFiles, CountWritesAndKeepAnySectorOfThemUntilTheFsyncEnds) {
  SimMachine m(SimConfig{});
  SimFile file(m, "file");
  const std::vector<std::byte> two(2 * SimFile::kSector, std::byte{1});
  const std::vector<std::byte> over(SimFile::kSector, std::byte{2});
  file.write(0, two);
  file.end_fsync(file.start_fsync().position);
  file.write(5 * SimFile::kSector, two);
  file.write(0, over);
  EXPECT_EQ(file.writes(), 3U);
  EXPECT_EQ(file.written_bytes(), 5 * SimFile::kSector);
  EXPECT_EQ(file.fsyncs(), 1U);
  std::map<std::vector<int>, int> left;
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    std::vector<std::byte> bytes = file.after_crash(seed);
    bytes.resize(7 * SimFile::kSector);
    const auto has = [&](std::size_t sector) {
      const auto whole = std::span(bytes).subspan(sector * SimFile::kSector, SimFile::kSector);
      EXPECT_TRUE(std::ranges::all_of(whole, [&](std::byte each) { return each == whole[0]; })) << sector;
      return std::to_integer<int>(whole[0]);
    };
    EXPECT_GE(has(0), 1);
    EXPECT_EQ(has(1), 1);
    EXPECT_EQ(has(2) + has(3) + has(4), 0);
    ++left[{has(0), has(5), has(6)}];
  }
  ASSERT_EQ(left.size(), 8U);
  for (const auto& [which, times] : left) EXPECT_GT(times, 20);
}

TEST(Randoms, AreSplitMix64) {
  // The first numbers of its authors' program, from state 0.
  Random random;
  for (const std::uint64_t expected :
       {0xE220A8397B1DCDAFU, 0x6E789E6AA1B965F4U, 0x06C45D188009454FU, 0xF88BB8A8724C81ECU}) {
    EXPECT_EQ(random.next(), expected);
  }
}

TEST(Randoms, OfAnotherSeedOrStreamAreOthers) {
  std::set<std::uint64_t> first;
  for (std::uint64_t seed = 0; seed < 30; ++seed) {
    for (std::uint64_t stream = 0; stream < 30; ++stream) first.insert(Random(seed, stream).next());
  }
  EXPECT_EQ(first.size(), 900U);
}

TEST(Randoms, BelowANumberAreUniform) {
  Random random(3);
  std::vector<std::uint64_t> counts(10);
  for (int i = 0; i < 100'000; ++i) ++counts.at(random.below(10));
  for (const std::uint64_t count : counts) EXPECT_NEAR(static_cast<double>(count), 10'000, 500);
  EXPECT_EQ(random.below(0), 0U);
  EXPECT_EQ(random.below(1), 0U);
}

TEST(Randoms, ExponentialOnesAreMinusTheLogarithmOfTheirBits) {
  Random random(5);
  constexpr std::uint64_t kMean = 1'000'000'000'000;
  for (int i = 0; i < 20'000; ++i) {
    const std::uint64_t bits = random.next() >> (i % 64);
    const double expected = -std::log((static_cast<double>(bits | 1)) * 0x1p-64) * static_cast<double>(kMean);
    EXPECT_NEAR(static_cast<double>(exponential(bits, kMean)), expected, 1e-5 * static_cast<double>(kMean))
        << bits;
  }
  EXPECT_EQ(exponential(0, kMean), exponential(1, kMean));
  EXPECT_EQ(exponential(12345, 0), 0U);
}

TEST(Distributions, AreDrawnFromTheirQuantilesEvenly) {
  Random random(9);
  const Distribution even{{1000, 2000, 4000, 8000}};
  std::vector<int> cells(3);
  for (int i = 0; i < 30'000; ++i) {
    const Time drawn = even.draw(random);
    ASSERT_GE(drawn, 1000);
    ASSERT_LT(drawn, 8000);
    ++cells[drawn < 2000 ? 0 : drawn < 4000 ? 1 : 2];
  }
  for (const int count : cells) EXPECT_NEAR(count, 10'000, 500);
  EXPECT_EQ(Distribution{{7}}.draw(random), 7);
}

TEST(Activities, OfOneNameAreOneUnderEachParent) {
  Activities activities;
  const std::uint32_t a = activities.child(0, 5);
  const std::uint32_t b = activities.child(a, 5);
  const std::uint32_t c = activities.child(a, 7);
  const std::uint32_t d = activities.child(0, 7);
  EXPECT_EQ((std::set<std::uint32_t>{0, a, b, c, d}.size()), 5U);
  EXPECT_EQ(activities.child(0, 5), a);
  EXPECT_EQ(activities.child(a, 5), b);
  EXPECT_EQ(activities.child(a, 7), c);
  EXPECT_EQ(activities[c].parent, a);
  EXPECT_EQ(activities[c].site, 7U);
  EXPECT_EQ(activities.nodes().size(), 5U);
}

}  // namespace
}  // namespace engineroom::machine
