// Queues by hand: who waits for whom, who is granted, what a lock object holds; and the wait-for graph.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "common/described.hpp"
#include "common/tests/described_members.hpp"
#include "common/tests/part_of.hpp"
#include "lock_sys/deadlock_search.hpp"
#include "lock_sys/lock_config.hpp"
#include "lock_sys/lock_load.hpp"
#include "lock_sys/mistakes.hpp"
#include "lock_sys/queues.hpp"
#include "lock_sys/random_runs.hpp"
#include "lock_sys/wait_graph.hpp"
#include "machine/random.hpp"

namespace engineroom::lock_sys {
namespace {

constexpr PageId kPage = 7;
constexpr HeapNo kRow = 5;

TEST(LockConfig, DescribesEachMember) {
  // Two options are members of one member.
  EXPECT_EQ(options::list_of<LockConfig>.all.size(), tests::members<LockConfig>() + 2);
  EXPECT_EQ(options::list_of<RandomRuns>.all.size(), tests::members<RandomRuns>());
  EXPECT_EQ(options::list_of<LoadConfig>.all.size(), tests::members<LoadConfig>());
}

TEST(LockConfig, RefusesASearchInTheRequestOverShards) {
  LockConfig config{.detection = Detection::in_request};
  EXPECT_THROW(options::check(config), std::invalid_argument);
}

/// A queue with transactions to ask for its locks.
template <typename Rules = Sound>
struct Queue {
  explicit Queue(Design design, Policy policy, std::size_t n) : Queue(config_of(design), policy, n) {}
  Queue(LockConfig config, Policy policy, std::size_t n)
      : queues(101, config.queues(), scheduler_of(policy)) {
    for (std::size_t i = 0; i < n; ++i) {
      trxs.emplace_back().number = static_cast<std::uint32_t>(i);
      trxs.back().id = i + 1;
    }
  }
  Answer ask(std::size_t trx, Mode mode, Kind kind = Kind::rec_not_gap, HeapNo heap_no = kRow) {
    return queues.ask(trxs[trx], {.page = kPage, .heap_no = heap_no, .mode = mode, .kind = kind}, looks)
        .answer;
  }
  Answer insert_before(std::size_t trx, HeapNo heap_no = kRow) {
    return queues.ask_to_insert(trxs[trx], {.page = kPage, .heap_no = heap_no}, looks).answer;
  }
  /// Those granted, in this order, when a transaction lets go of all it has.
  std::vector<std::uint32_t> release(std::size_t trx) {
    std::vector<Lock*> granted;
    while (!trxs[trx].locks.empty()) {
      Lock* const lock = trxs[trx].locks.back();
      trxs[trx].locks.pop_back();
      if (lock->is_record) {
        queues.dequeue(*lock, granted, looks);
      } else {
        queues.dequeue_table(*lock, granted, looks);
      }
      trxs[trx].give_lock(lock);
    }
    std::vector<std::uint32_t> numbers;
    for (const Lock* lock : granted) numbers.push_back(lock->trx->number);
    return numbers;
  }
  void weigh(std::size_t trx, std::uint64_t weight) { trxs[trx].schedule_weight = weight; }

  LockQueues<Rules> queues;
  std::deque<Trx> trxs;
  Looks looks;
};
using Numbers = std::vector<std::uint32_t>;

TEST(LockConflict, IsTheTableOfTheHeader) {
  constexpr Kind kKinds[] = {Kind::next_key, Kind::gap, Kind::rec_not_gap, Kind::insert_intention};
  constexpr bool kWaits[4][4] = {{true, false, true, false},
                                 {false, false, false, false},
                                 {true, false, true, false},
                                 {true, true, false, false}};
  Trx one;
  Trx other;
  for (std::size_t asked = 0; asked < 4; ++asked) {
    for (std::size_t there = 0; there < 4; ++there) {
      for (const Mode mode : {Mode::s, Mode::x}) {
        for (const bool is_waiting : {false, true}) {
          Lock lock{.trx = &other, .mode = mode, .kind = kKinds[there], .is_waiting = is_waiting};
          const Request request{.page = kPage, .heap_no = kRow, .mode = Mode::x, .kind = kKinds[asked]};
          EXPECT_EQ(must_wait(one, request, lock), kWaits[asked][there]) << asked << " for " << there;
          EXPECT_FALSE(must_wait(other, request, lock)) << "nobody waits for himself";
        }
      }
    }
  }
}

TEST(LockConflict, SharedLocksAgreeAndTheSupremumIsAGap) {
  Queue queue(Design::mysql_9_7, Policy::cats_8_0_20, 3);
  EXPECT_EQ(queue.ask(0, Mode::s), Answer::granted);
  EXPECT_EQ(queue.ask(1, Mode::s), Answer::granted);
  EXPECT_EQ(queue.ask(0, Mode::x, Kind::next_key, kSupremum), Answer::granted);
  EXPECT_EQ(queue.ask(1, Mode::x, Kind::next_key, kSupremum), Answer::granted)
      << "both have the gap behind the last row";
  EXPECT_EQ(queue.insert_before(2, kSupremum), Answer::waits);
}

TEST(LockConflict, TableModesAreThoseOfTheServer) {
  const std::vector<Mode> all{Mode::is, Mode::ix, Mode::s, Mode::x, Mode::auto_inc};
  std::string rows;
  for (const Mode asked : all) {
    for (const Mode held : all) rows += is_compatible(asked, held) ? '1' : '0';
    rows += ' ';
  }
  EXPECT_EQ(rows, "11101 11001 10100 00000 11000 ");
  Queue queue(Design::mysql_9_7, Policy::cats_8_0_20, 3);
  EXPECT_EQ(queue.queues.ask_table(queue.trxs[0], 1, Mode::ix, queue.looks).answer, Answer::granted);
  EXPECT_EQ(queue.queues.ask_table(queue.trxs[1], 1, Mode::s, queue.looks).answer, Answer::waits);
  EXPECT_EQ(queue.queues.ask_table(queue.trxs[2], 1, Mode::ix, queue.looks).answer, Answer::waits)
      << "who waits for the whole table is not overtaken";
  EXPECT_TRUE(queue.queues.holds_table(queue.trxs[0], 1, Mode::is));
}

TEST(LockTable, AnIntentionLockLooksAtEachLockOfTheTableOrAtNone) {
  constexpr std::size_t kOthers = 20;
  const auto looked_at = [](TableLooks table_looks, bool is_wanted_whole) {
    Queue queue({.table_looks = table_looks}, Policy::cats_8_0_20, kOthers + 2);
    for (std::size_t i = 0; i < kOthers; ++i) queue.queues.ask_table(queue.trxs[i], 1, Mode::ix, queue.looks);
    if (is_wanted_whole) queue.queues.ask_table(queue.trxs[kOthers + 1], 1, Mode::s, queue.looks);
    queue.looks = {};
    EXPECT_EQ(queue.queues.ask_table(queue.trxs[kOthers], 1, Mode::ix, queue.looks).answer,
              is_wanted_whole ? Answer::waits : Answer::granted);
    const std::uint64_t asking = queue.looks.objects;
    queue.looks = {};
    queue.release(5);
    return std::pair(asking, queue.looks.objects);
  };
  EXPECT_EQ(looked_at(TableLooks::flat, false), std::pair(kOthers, kOthers));
  EXPECT_EQ(looked_at(TableLooks::each, false), std::pair(kOthers, kOthers - 5)) << "those behind";
  EXPECT_EQ(looked_at(TableLooks::counts, false), std::pair(std::size_t{0}, std::size_t{0}));
  EXPECT_EQ(looked_at(TableLooks::counts, true).first, kOthers + 1) << "somebody wants all of it";
}

TEST(LockTable, WaitersComeAlikeHoweverManyLocksAreLookedAt) {
  const auto story = [](TableLooks table_looks) {
    constexpr std::size_t kTransactions = 6;
    constexpr Mode kModes[] = {Mode::is, Mode::ix, Mode::ix, Mode::s, Mode::x, Mode::auto_inc};
    machine::Random random(7);
    Queue queue({.table_looks = table_looks}, Policy::cats_8_0_20, kTransactions);
    std::string told;
    for (int i = 0; i < 5'000; ++i) {
      const auto trx = static_cast<std::size_t>(random.below(kTransactions));
      const Mode mode = kModes[random.below(std::size(kModes))];
      if (queue.trxs[trx].wait_lock.load() == nullptr && random.below(3) > 0) {
        const auto got = queue.queues.ask_table(queue.trxs[trx], 1, mode, queue.looks);
        told += got.answer == Answer::waits ? 'w' : 'g';
      } else {
        for (const std::uint32_t granted : queue.release(trx)) told += static_cast<char>('0' + granted);
        told += ';';
      }
    }
    return told;
  };
  EXPECT_EQ(story(TableLooks::counts), story(TableLooks::flat));
  EXPECT_EQ(story(TableLooks::each), story(TableLooks::flat));
}

TEST(LockObjects, HoldAThousandRecordsOfAPageInOneBitmap) {
  Queue queue(Design::mysql_9_7, Policy::cats_8_0_20, 1);
  for (HeapNo heap_no = kFirstRecord; heap_no < kFirstRecord + 1000; ++heap_no) {
    const Request request{.page = kPage, .heap_no = heap_no, .records_on_page = 1000};
    ASSERT_EQ(queue.queues.ask(queue.trxs[0], request, queue.looks).answer, Answer::granted);
  }
  EXPECT_EQ(queue.trxs[0].locks.size(), 1U);
  EXPECT_EQ(queue.trxs[0].locks[0]->records(), 1000U);
  EXPECT_EQ(queue.looks.created, 1U);
  EXPECT_EQ(bits_for(1000), 8U * (1 + (1000 + 64) / 8));
}

TEST(LockObjects, AreUsedAgainByTheNextTransaction) {
  Queue queue(Design::mysql_9_7, Policy::cats_8_0_20, 1);
  for (int i = 0; i < 10; ++i) {
    queue.ask(0, Mode::x);
    queue.ask(0, Mode::s, Kind::gap);
    queue.release(0);
  }
  EXPECT_EQ(queue.trxs[0].lock_objects_made(), 2U);
}

TEST(LockRequests, WaitBehindAWaiterAlthoughTheyAgreeWithTheHolder) {
  Queue queue(Design::mysql_9_7, Policy::cats_8_0_20, 3);
  EXPECT_EQ(queue.ask(0, Mode::s), Answer::granted);
  EXPECT_EQ(queue.ask(1, Mode::x), Answer::waits);
  EXPECT_EQ(queue.ask(2, Mode::s), Answer::waits) << "else readers would starve the writer";
  EXPECT_EQ(queue.trxs[2].blocking_trx.load(), &queue.trxs[1]);
}

TEST(LockRequests, OfAHolderPassTheWaiterOnlySince8_0) {
  for (const Design design : {Design::mysql_5_7, Design::mysql_9_7}) {
    Queue queue(design, config_of(design).policy, 2);
    EXPECT_EQ(queue.ask(0, Mode::s), Answer::granted);
    EXPECT_EQ(queue.ask(1, Mode::x), Answer::waits);
    const Answer upgrade = queue.ask(0, Mode::x);
    EXPECT_EQ(upgrade, design == Design::mysql_9_7 ? Answer::granted : Answer::waits);
  }
}

TEST(LockRequests, LookOnceMoreAtAQueueOnlyForAWaiterInTheWay) {
  const auto looks_of = [](Mode mode) {
    Queue queue(Design::mysql_9_7, Policy::cats_8_0_20, 2);
    queue.ask(0, Mode::x);
    queue.looks = {};
    EXPECT_EQ(queue.ask(1, mode), Answer::waits);
    return queue.looks.objects;
  };
  EXPECT_EQ(looks_of(Mode::x), looks_of(Mode::s)) << "who holds it is not passed";
}

TEST(LockRequests, ForRecordAndGapTakeTheGapAloneWhereTheRecordIsTheirs) {
  Queue queue(Design::mysql_9_7, Policy::cats_8_0_20, 1);
  queue.ask(0, Mode::x, Kind::rec_not_gap);
  queue.ask(0, Mode::s, Kind::gap, kRow + 1);
  EXPECT_EQ(queue.ask(0, Mode::x, Kind::next_key), Answer::granted);
  EXPECT_EQ(queue.trxs[0].locks.back()->kind, Kind::gap);
  EXPECT_EQ(queue.ask(0, Mode::s, Kind::gap), Answer::held);
}

TEST(LockGrants, GoToTheHeaviestFirstAndTheLightOnesInQueueOrder) {
  Queue queue(Design::mysql_9_7, Policy::cats_8_0_20, 5);
  queue.ask(0, Mode::x);
  for (std::size_t i = 1; i <= 4; ++i) queue.ask(i, Mode::x);
  queue.weigh(1, 0);
  queue.weigh(2, 1);
  queue.weigh(3, 2);
  queue.weigh(4, 4);
  EXPECT_EQ(queue.release(0), Numbers{4});
  EXPECT_EQ(queue.trxs[1].blocking_trx.load(), &queue.trxs[4])
      << "the others are told for whom they wait now";
  EXPECT_EQ(queue.release(4), Numbers{3});
  EXPECT_EQ(queue.release(3), Numbers{1}) << "a weight of 0 and one of 1 are the same";
  EXPECT_EQ(queue.release(1), Numbers{2});
}

// A is released; a reader, a writer for whom two others wait, and a reader wait for it.
template <typename Rules = Sound>
Numbers granted_of_three(Policy policy, const LockConfig& config, std::uint64_t writers_weight) {
  Queue<Rules> queue(config, policy, 4);
  queue.ask(0, Mode::x);
  queue.ask(1, Mode::s);
  queue.ask(2, Mode::x);
  queue.ask(3, Mode::s);
  for (std::size_t i = 1; i <= 3; ++i) queue.weigh(i, 1);
  queue.weigh(2, writers_weight);
  return queue.release(0);
}

TEST(LockGrants, OfTheWorkedExample) {
  const LockConfig of_9_7 = config_of(Design::mysql_9_7);
  EXPECT_EQ(granted_of_three(Policy::cats_8_0_20, of_9_7, 3), Numbers{2}) << "the heavy writer alone";
  EXPECT_EQ(granted_of_three(Policy::cats_8_0_20, of_9_7, 1), (Numbers{1, 3}))
      << "both readers, one past the writer";
  EXPECT_EQ(granted_of_three(Policy::equal_weights, of_9_7, 3), (Numbers{1, 3}));
  EXPECT_EQ(granted_of_three(Policy::fcfs_5_7, config_of(Design::mysql_5_7), 3), Numbers{1})
      << "in 5.7 the second reader waits behind the writer: equal weights are not its order";
  EXPECT_EQ(granted_of_three(Policy::ldsf, of_9_7, 3), Numbers{2});
  EXPECT_EQ(granted_of_three(Policy::ldsf, of_9_7, 2), (Numbers{1, 3}))
      << "two readers together weigh as much";
  EXPECT_EQ(granted_of_three(Policy::vats, of_9_7, 1), (Numbers{1, 3}));
}

TEST(LockGrants, WithEarlierWaitersCheckedTheHeavyOneCannotOvertake) {
  EXPECT_EQ(granted_of_three<EarlierWaitersChecked>(Policy::cats_8_0_20, config_of(Design::mysql_9_7), 3),
            Numbers{1});
}

TEST(LockGrants, LookOnlyAtThoseWhoWaitForWhoLetsGo) {
  Queue queue(Design::mysql_9_7, Policy::cats_8_0_20, 3);
  queue.ask(0, Mode::s);
  queue.ask(1, Mode::s);
  queue.ask(2, Mode::x);
  Trx* const first = queue.trxs[2].blocking_trx;
  const std::size_t other = first == &queue.trxs[0] ? 1 : 0;
  const std::uint64_t before = queue.looks.renewed;
  EXPECT_EQ(queue.release(other), Numbers{});
  EXPECT_EQ(queue.looks.renewed, before) << "it does not wait for this one";
  EXPECT_EQ(queue.release(1 - other), Numbers{2});
}

TEST(LockGrants, RenewTheBlockerWhenAnotherHolderIsInTheWay) {
  Queue queue(Design::mysql_9_7, Policy::cats_8_0_20, 3);
  queue.ask(0, Mode::s);
  queue.ask(1, Mode::s);
  queue.ask(2, Mode::x);
  const std::size_t first = queue.trxs[2].blocking_trx.load() == &queue.trxs[0] ? 0 : 1;
  EXPECT_EQ(queue.release(first), Numbers{});
  EXPECT_EQ(queue.trxs[2].blocking_trx.load(), &queue.trxs[1 - first]);
  EXPECT_EQ(queue.release(1 - first), Numbers{2});
}

TEST(LockGrants, By8_0_3GoByAgeOnceThirtyTwoWait) {
  LockConfig config = config_of(Design::mysql_8_0_15);
  const auto first_granted = [&](std::size_t waiters) {
    Queue queue(config, Policy::cats_8_0_3, waiters + 1);
    queue.ask(0, Mode::x, Kind::rec_not_gap, kRow);
    queue.ask(2, Mode::x, Kind::rec_not_gap, kRow + 1);
    queue.ask(1, Mode::x, Kind::rec_not_gap, kRow);
    queue.ask(2, Mode::x, Kind::rec_not_gap, kRow);
    // The others wait for the second in the queue, who is as old as they are many.
    for (std::size_t i = 3; i <= waiters; ++i) queue.ask(i, Mode::x, Kind::rec_not_gap, kRow + 1);
    EXPECT_EQ(queue.trxs[2].age, waiters - 2);
    EXPECT_EQ(queue.trxs[0].age, waiters) << "a waiter of a waiter counts";
    return queue.release(0);
  };
  EXPECT_EQ(first_granted(20), Numbers{1});
  EXPECT_EQ(first_granted(40), Numbers{2});
}

TEST(LockGrants, OfTheOldestFirstAndOfAPolicyOfOnesOwn) {
  Queue queue(Design::mysql_9_7, Policy::vats, 4);
  queue.ask(2, Mode::x);
  queue.ask(3, Mode::x);
  queue.ask(1, Mode::x);
  queue.ask(0, Mode::x);
  EXPECT_EQ(queue.release(2), Numbers{0});

  LockQueues<> mine(11, QueueDesign{}, scheduler_of([](std::span<const Waiter> waiters) {
                      // The last to come, and nobody else.
                      return Numbers{static_cast<std::uint32_t>(waiters.size() - 1)};
                    }));
  std::deque<Trx> trxs(3);
  Looks looks;
  for (Trx& trx : trxs) mine.ask(trx, {.page = kPage, .mode = Mode::x}, looks);
  std::vector<Lock*> granted;
  Lock* const lock = trxs[0].locks.back();
  mine.dequeue(*lock, granted, looks);
  ASSERT_EQ(granted.size(), 1U);
  EXPECT_EQ(granted[0]->trx, &trxs[2]);
  EXPECT_EQ(trxs[1].blocking_trx.load(), &trxs[2]) << "who was left out waits for who was not";
}

/// Whom one script of random requests and releases grants, one after the other. Records are locked in ascending order, so nobody waits for ever.
Numbers granted_by(Policy policy, std::uint64_t seed, bool weighs) {
  constexpr std::size_t kTrxs = 12;
  Queue queue(Design::mysql_9_7, policy, kTrxs);
  std::vector<HeapNo> next(kTrxs, kRow);
  machine::Random random(seed);
  Numbers all;
  for (int step = 0; step < 200; ++step) {
    const auto trx = static_cast<std::size_t>(random.below(kTrxs));
    const Mode mode = random.below(3) == 0 ? Mode::s : Mode::x;
    const auto skipped = static_cast<HeapNo>(random.below(2));
    const std::uint64_t weight = random.below(6);
    const bool releases = random.below(3) == 0;
    if (weighs) queue.weigh(trx, weight);
    if (queue.trxs[trx].wait_lock.load() != nullptr) continue;
    if (releases || next[trx] + skipped > kRow + 2) {
      const Numbers granted = queue.release(trx);
      all.insert(all.end(), granted.begin(), granted.end());
      next[trx] = kRow;
    } else {
      queue.ask(trx, mode, Kind::rec_not_gap, next[trx] + skipped);
      next[trx] += skipped + 1;
    }
  }
  return all;
}

TEST(LockGrants, AreThoseOfEqualWeightsIfWeightsAreNeverMade) {
  std::size_t grants = 0;
  std::size_t others = 0;
  for (std::uint64_t seed = 1; seed <= 1'000; ++seed) {
    const Numbers equal = granted_by(Policy::equal_weights, seed, false);
    ASSERT_EQ(granted_by(Policy::cats_8_0_20, seed, false), equal) << "seed " << seed;
    grants += equal.size();
    if (granted_by(Policy::cats_8_0_20, seed, true) != equal) ++others;
  }
  EXPECT_GT(grants, 10'000U);
  EXPECT_GT(others, 500U) << "else the weights would decide nothing here";
}

TEST(LockOrders, SortLightOnesOnlyByMistake) {
  const std::vector<Waiter> waiters{
      {.trx = 0, .weight = 0}, {.trx = 1, .weight = 1}, {.trx = 2, .weight = 2}};
  EXPECT_EQ(cats_order<Sound>(waiters), (Numbers{2, 0, 1}));
  EXPECT_EQ(cats_order<LightOnesSorted>(waiters), (Numbers{2, 1, 0}));
}

TEST(LockOrders, OfBatchesStopWhereReadersDelayEachOther) {
  // One heavy reader and five light ones: more than the heavy one does not pay, 1 + log2 grows faster.
  std::vector<Waiter> waiters(6, Waiter{.weight = 1, .mode = Mode::s});
  waiters[3].weight = 40;
  EXPECT_EQ(scheduler_of(Policy::ldsf).order(waiters).size(), 6U);
  EXPECT_EQ(scheduler_of(Policy::bldsf).order(waiters), Numbers{3});
  // Three take twice as long as one: 8 / 2 is 4 / 1, and of what is worth the same the larger batch goes.
  waiters = {{.trx = 0, .weight = 4, .mode = Mode::s},
             {.trx = 1, .weight = 2, .mode = Mode::s},
             {.trx = 2, .weight = 2, .mode = Mode::s}};
  EXPECT_EQ(scheduler_of(Policy::bldsf).order(waiters), (Numbers{0, 1, 2}));
}

TEST(LockInheritance, GivesWhoHasAGapBothPartsOfIt) {
  Queue queue(Design::mysql_9_7, Policy::cats_8_0_20, 2);
  queue.ask(0, Mode::s, Kind::next_key);
  queue.ask(1, Mode::s, Kind::rec_not_gap);
  const auto heirs = queue.queues.locks_to_inherit(kPage, kRow, true, queue.looks);
  ASSERT_EQ(heirs.size(), 1U) << "who has the record alone has no gap to share";
  queue.queues.inherit(heirs[0], kPage, kRow + 1, 16, queue.looks);
  EXPECT_EQ(queue.insert_before(1, kRow + 1), Answer::waits);
}

// The wait-for graph.

std::vector<Snapped> snapped(std::deque<Trx>& trxs,
                             const std::vector<std::pair<std::size_t, std::size_t>>& edges) {
  for (std::size_t i = 0; i < trxs.size(); ++i) trxs[i].number = static_cast<std::uint32_t>(i);
  std::vector<Snapped> all;
  for (std::size_t i = 0; i < edges.size(); ++i) {
    all.push_back({&trxs[edges[i].first], &trxs[edges[i].second], i, i + 1});
  }
  return all;
}

struct Overtaken {
  std::uint64_t times = 0;  // by one that came later, up to the grant or the end
  std::uint64_t most_waiting = 0;
  bool is_granted = false;
};

/// One transaction for which nobody waits, in a queue where `ahead` others wait at any time, each with somebody who waits for it: whenever one
/// is granted the next comes. Weights are made anew before each release, as the background thread does when nothing delays it.
template <bool kBoosts>
Overtaken overtaken_by_a_stream(std::size_t ahead, std::size_t most_rounds) {
  const std::size_t pairs = ahead + most_rounds;
  Queue queue(Design::mysql_9_7, Policy::cats_8_0_20, 2 + 2 * pairs);
  std::vector<std::uint64_t> began(queue.trxs.size(), 0);  // the number of its wait; 0: it does not wait
  std::uint64_t waits = 0;
  std::size_t next = 2;
  const auto come = [&](std::size_t i, HeapNo heap_no) {
    EXPECT_EQ(queue.ask(i, Mode::x, Kind::rec_not_gap, heap_no), Answer::waits);
    began[i] = ++waits;
  };
  const auto come_with_a_follower = [&] {
    const std::size_t leader = next++;
    const std::size_t follower = next++;
    const auto own = static_cast<HeapNo>(kRow + leader);
    queue.ask(leader, Mode::x, Kind::rec_not_gap, own);
    come(leader, kRow);
    come(follower, own);
  };
  std::size_t holder = 0;
  constexpr std::size_t kLight = 1;
  queue.ask(holder, Mode::x);
  come(kLight, kRow);
  for (std::size_t i = 0; i < ahead; ++i) come_with_a_follower();
  Overtaken seen;
  for (; seen.times < most_rounds; ++seen.times) {
    std::vector<Snapped> waiters;
    for (std::size_t i = 0; i < began.size(); ++i) {
      if (began[i] != 0) waiters.push_back({&queue.trxs[i], queue.trxs[i].blocking_trx.load(), i, began[i]});
    }
    seen.most_waiting = std::max<std::uint64_t>(seen.most_waiting, waiters.size());
    const std::vector<std::int32_t> outgoing = outgoing_edges(waiters);
    std::vector<std::uint64_t> weights =
        kBoosts ? initial_weights(waiters, waits) : std::vector<std::uint64_t>(waiters.size(), 1);
    std::vector<bool> is_final;
    add_up(outgoing, weights, is_final);
    for (std::size_t i = 0; i < waiters.size(); ++i) queue.weigh(waiters[i].trx->number, weights[i]);
    const std::size_t before = holder;
    for (const std::uint32_t granted : queue.release(before)) {
      began[granted] = 0;
      if (queue.trxs[granted].locks.size() == 1 && granted != kLight) {
        EXPECT_TRUE(queue.release(granted).empty()) << "a follower commits at once";
      } else {
        holder = granted;
      }
    }
    if (holder == before) {
      ADD_FAILURE() << "nobody was granted";
      return seen;
    }
    if (holder == kLight) {
      seen.is_granted = true;
      return seen;
    }
    come_with_a_follower();
  }
  return seen;
}

TEST(WaitGraph, BoostsWhoIsOvertakenTooOften) {
  for (const std::size_t ahead : {1U, 2U, 5U, 20U, 60U}) {
    const Overtaken seen = overtaken_by_a_stream<true>(ahead, 1'000);
    EXPECT_TRUE(seen.is_granted) << ahead;
    // Itself, the pairs and the holder's follower wait, and with each grant two more begin to. It is boosted once more than twice as many as
    // wait have begun after it: 2 * (2 * ahead + 2) < 2 * ahead + 2 * times.
    EXPECT_EQ(seen.most_waiting, 2 * ahead + 2);
    EXPECT_EQ(seen.times, ahead + 3) << ahead;
  }
}

TEST(WaitGraph, WithoutABoostALightOneStarves) {
  for (const std::size_t ahead : {1U, 5U, 20U}) {
    const Overtaken seen = overtaken_by_a_stream<false>(ahead, 1'000);
    EXPECT_FALSE(seen.is_granted) << ahead;
    EXPECT_EQ(seen.times, 1'000U);
  }
}

TEST(WaitGraph, OfAHundredThousandBoostedWaitersFitsInto32Bits) {
  std::vector<Snapped> waiters(100'000);
  const auto weights = initial_weights(waiters, 1'000'000);
  EXPECT_EQ(weights[0], 10'000U);
  std::uint64_t sum = 0;
  for (const std::uint64_t each : weights) sum += each;
  EXPECT_LT(sum, std::uint64_t{1} << 31);
}

TEST(WaitGraph, FindsEachCycleOnceAndTheWeightsBesideIt) {
  // 1 -> 2 -> 3 -> 1, with 4 waiting for 2; 5 -> 6 -> 5; 7 -> 8, which runs.
  std::deque<Trx> trxs(9);
  std::vector<Snapped> waiters = snapped(trxs, {{1, 2}, {2, 3}, {3, 1}, {4, 2}, {5, 6}, {6, 5}, {7, 8}});
  const auto outgoing = outgoing_edges(waiters);
  auto weights = initial_weights(waiters, 7);
  std::vector<bool> is_final;
  add_up(outgoing, weights, is_final);
  EXPECT_EQ(is_final, (std::vector<bool>{false, false, false, true, false, false, true}));
  auto found = cycles(outgoing);
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0].size(), 3U);
  EXPECT_EQ(found[1].size(), 2U);
  // Equal weights: who began to wait last is the victim, and the others get what they have without it.
  const std::size_t victim = choose_victim(found[0], waiters);
  EXPECT_EQ(waiters[found[0][victim]].trx->number, 3U);
  add_up_without(victim, found[0], weights);
  EXPECT_EQ(weights[0], 1U) << "1 waits for 2";
  EXPECT_EQ(weights[1], 3U) << "1 and 4 wait for it";
  EXPECT_EQ(weights[2], 0U);
}

TEST(WaitGraph, VictimIsTheLightestOfTheWholeCycle) {
  std::deque<Trx> trxs(4);
  trxs[1].undo_no = 5;
  trxs[2].undo_no = 1;
  trxs[3].undo_no = 5;
  std::vector<Snapped> waiters = snapped(trxs, {{1, 2}, {2, 3}, {3, 1}});
  auto found = cycles(outgoing_edges(waiters));
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(waiters[found[0][choose_victim(found[0], waiters)]].trx->number, 2U);
  // A transaction that cannot take back all of it is heavier than one that can, and an urgent one is spared.
  trxs[2].changed_non_transactional = true;
  EXPECT_NE(waiters[found[0][choose_victim(found[0], waiters)]].trx->number, 2U);
  trxs[1].is_urgent = trxs[3].is_urgent = true;
  EXPECT_EQ(waiters[found[0][choose_victim(found[0], waiters)]].trx->number, 2U);
}

// The search in the request.

/// `n` transactions, each with a row of its own, of which each waits for the next one's.
struct Ring {
  explicit Ring(std::size_t n) : queue(Design::mysql_5_7, Policy::fcfs_5_7, n) {
    for (std::size_t i = 0; i < n; ++i) queue.ask(i, Mode::x, Kind::rec_not_gap, row(i));
  }
  static HeapNo row(std::size_t i) { return kFirstRecord + static_cast<HeapNo>(i); }
  Found wait_for_next(std::size_t i) {
    EXPECT_EQ(queue.ask(i, Mode::x, Kind::rec_not_gap, row((i + 1) % queue.trxs.size())), Answer::waits);
    return search_deadlock(queue.queues, queue.trxs[i], mark, queue.looks);
  }
  Queue<> queue;
  std::uint64_t mark = 0;
};

TEST(DeadlockSearch, FindsARingWhenItClosesAndTakesTheLighterOfTheTwoThatMet) {
  Ring ring(4);
  for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(ring.wait_for_next(i).victim, nullptr);
  ring.queue.trxs[3].undo_no = 5;
  const Found found = ring.wait_for_next(3);
  EXPECT_EQ(found.victim, &ring.queue.trxs[2]) << "who waits for the requester is lighter";
  EXPECT_EQ(found.cycle.size(), 4U);
  ring.queue.trxs[3].undo_no = 0;
  EXPECT_EQ(search_deadlock(ring.queue.queues, ring.queue.trxs[3], ring.mark, ring.queue.looks).victim,
            &ring.queue.trxs[3])
      << "of equals the requester";
}

TEST(DeadlockSearch, GivesUpBeyondItsDepthAndTakesTheRequester) {
  constexpr std::size_t kLong = kMostDepth + 2;
  Ring ring(kLong + 1);
  for (std::size_t i = kLong; i-- > 1;) EXPECT_EQ(ring.wait_for_next(i).victim, nullptr) << i;
  const Found found = ring.wait_for_next(0);
  EXPECT_TRUE(found.is_too_deep) << "there is no deadlock, and it cannot know";
  EXPECT_EQ(found.victim, &ring.queue.trxs[0]);
}

TEST(DeadlockSearch, LooksAtAQueueAgainForEachWhoComes) {
  const auto looks_of_the_last = [](std::size_t n) {
    Queue queue(Design::mysql_5_7, Policy::fcfs_5_7, n);
    std::uint64_t mark = 0;
    for (std::size_t i = 0; i < n; ++i) {
      queue.ask(i, Mode::x);
      queue.looks = {};
      if (i > 0) search_deadlock(queue.queues, queue.trxs[i], mark, queue.looks);
    }
    return queue.looks.objects;
  };
  const std::uint64_t of_50 = looks_of_the_last(50);
  const std::uint64_t of_100 = looks_of_the_last(100);
  EXPECT_GT(of_100, 3 * of_50)
      << "each waiter ahead has a queue ahead of it: twice the crowd, four times the looks";
}

// Runs at random.

class EachVersion : public testing::TestWithParam<Design> {};

TEST_P(EachVersion, KeepsItsRulesUnderAThousandSchedules) {
  const RandomReport report =
      random_runs(config_of(GetParam()), Mistake::none, {.seed = 1, .runs = part_of(1000)});
  EXPECT_TRUE(report.is_clean()) << report.first_failure;
  // What could go wrong was there.
  EXPECT_GT(report.transactions, part_of(10'000));
  EXPECT_GT(report.waits, part_of(5'000));
  EXPECT_GT(report.deadlocks, part_of(500));
  EXPECT_GT(report.inserts, part_of(3'000));
  EXPECT_GT(report.moves, part_of(1'000));
  EXPECT_GT(report.made_explicit, part_of(500));
}
std::string name_of_test(const testing::TestParamInfo<Design>& info) {
  constexpr const char* kNames[] = {"Of5_7", "Of8_0_15", "Of9_7"};
  return kNames[static_cast<std::size_t>(info.param)];
}
INSTANTIATE_TEST_SUITE_P(LockSys, EachVersion,
                         testing::Values(Design::mysql_5_7, Design::mysql_8_0_15, Design::mysql_9_7),
                         name_of_test);

TEST(LockPolicies, AllKeepTheRules) {
  for (const std::string_view name : names::list<Policy>()) {
    LockConfig config = config_of(Design::mysql_9_7);
    config.policy = names::parse<Policy>(name);
    const RandomReport report = random_runs(config, Mistake::none, {.seed = 5000, .runs = part_of(150)});
    EXPECT_TRUE(report.is_clean()) << name << ", " << report.first_failure;
  }
}

TEST(LockShards, OneOrManyGiveRunsThatKeepTheRules) {
  for (const std::size_t shards : {1U, 2U, 4U}) {
    LockConfig config = config_of(Design::mysql_9_7);
    config.page_shards = shards;
    EXPECT_TRUE(random_runs(config, Mistake::none, {.seed = 9000, .runs = part_of(100)}).is_clean())
        << shards;
  }
}

struct Planted {
  Mistake mistake;
  std::uint64_t RandomReport::*counter;
};
class EachLockMistake : public testing::TestWithParam<Planted> {};

TEST_P(EachLockMistake, IsFoundByRunsAtRandom) {
  if (kIsSanitized) GTEST_SKIP() << "counted over more runs than sanitizers have time for";
  const RandomReport report =
      random_runs(config_of(Design::mysql_9_7), GetParam().mistake, {.seed = 1, .runs = 300});
  EXPECT_GT(report.*GetParam().counter, 0U) << names::of(GetParam().mistake) << ": " << report.first_failure;
}
INSTANTIATE_TEST_SUITE_P(
    LockSys, EachLockMistake,
    testing::Values(Planted{Mistake::shard_by_record, &RandomReport::intruders},
                    Planted{Mistake::latched_in_request_order, &RandomReport::hangs},
                    Planted{Mistake::gap_requests_wait, &RandomReport::waits_for_nobody},
                    Planted{Mistake::insert_intention_blocks, &RandomReport::waits_for_nobody},
                    Planted{Mistake::any_wait_is_the_same, &RandomReport::stale_weights},
                    Planted{Mistake::blocker_not_renewed, &RandomReport::wrong_blockers},
                    Planted{Mistake::implicit_locks_forgotten, &RandomReport::lost_updates}),
    [](const auto& info) { return std::string(names::of(info.param.mistake)); });

}  // namespace
}  // namespace engineroom::lock_sys
