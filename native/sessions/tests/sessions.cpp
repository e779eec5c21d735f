// Sessions over an engine that has no redo: rows under one latch each, a commit that is a sleep.
#include "sessions/sessions.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <deque>
#include <vector>

#include "machine/host_machine.hpp"
#include "machine/ready.hpp"
#include "machine/sim_machine.hpp"
#include "sync/latch.hpp"

namespace engineroom::sessions {
namespace {

using machine::HostMachine;
using machine::SimConfig;
using machine::SimMachine;
using machine::Task;

/// Latches rows for as long as a transaction lasts, always in the same order.
template <Machine M>
class RowEngine {
 public:
  struct Transaction {
    std::uint32_t rows = 0;
  };

  RowEngine(M& m, std::size_t rows) {
    for (std::size_t i = 0; i < rows; ++i) latches_.emplace_back(m, "row");
  }

  void spawn_threads(M&) {}
  Transaction begin(M&, std::uint64_t) { return {}; }
  Task<bool> statement(M& m, Transaction& trx, const Statement& statement) {
    for (std::uint32_t i = 0; i < statement.rows && trx.rows < latches_.size(); ++i) {
      co_await latches_[trx.rows].lock(m);
      ++trx.rows;
    }
    most_rows_ = std::max(most_rows_, trx.rows);
    co_return !m.stopping();
  }
  machine::Ready<bool> mini_transaction(M&, Transaction&, const MiniTransactions&) { return {true}; }
  Task<bool> commit(M& m, Transaction& trx) {
    co_await m.sleep(1000);
    commits_of_.resize(std::max<std::size_t>(commits_of_.size(), trx.rows + 1));
    ++commits_of_[trx.rows];
    for (; trx.rows > 0; --trx.rows) co_await latches_[trx.rows - 1].unlock(m);
    co_return true;
  }

  std::uint32_t most_rows() const { return most_rows_; }
  /// How many transactions held so many rows at their end.
  const std::vector<std::uint64_t>& commits_of() const { return commits_of_; }

 private:
  std::deque<sync::Latch<M>> latches_;
  std::uint32_t most_rows_ = 0;
  std::vector<std::uint64_t> commits_of_;  // under the first row's latch
};

SimConfig four_cores(std::uint64_t seed = 1) { return {.cores_per_socket = 4, .seed = seed}; }

/// Three transactions of one row to one of two statements with two rows each.
Config mixed(std::uint32_t clients, std::uint64_t transactions) {
  const Statement one_row{.away_ns = 2000, .computing_ns = 500, .rows = 1, .mtrs = {.count = 2}};
  const Statement two_rows{.computing_ns = 1000, .rows = 2, .mtrs = {.count = 0}};
  return {.clients = clients,
          .transactions = transactions,
          .mix = {{.weight = 3, .statements = {one_row}, .commit = {.count = 1}},
                  {.weight = 1, .statements = {two_rows, two_rows}, .commit = {.count = 0}}},
          .first_mix = {}};
}

TEST(Sessions, DrawTheirProgramsByWeightAndEndWhenAllHaveHadTheirs) {
  SimMachine m(four_cores());
  RowEngine<SimMachine> engine(m, 8);
  Sessions<SimMachine, RowEngine<SimMachine>> sessions(m, engine, mixed(5, 400));
  sessions.spawn(m);
  m.run();
  const Counts done = sessions.counts();
  EXPECT_EQ(done.transactions, 5U * 400);
  EXPECT_EQ(done.latency_ns.count(), 5U * 400);
  EXPECT_TRUE(sessions.ends_by_itself());
  EXPECT_GT(sessions.ended_ns(), 0U);
  const std::uint64_t small = engine.commits_of()[1];
  const std::uint64_t large = engine.commits_of()[4];
  EXPECT_EQ(small + large, 5U * 400);
  EXPECT_EQ(done.mtrs, 3 * small);  // two of the statement, one of the commit
  EXPECT_NEAR(static_cast<double>(small) / 2000, 0.75, 0.03);
  EXPECT_EQ(engine.most_rows(), 4U);
}

TEST(Sessions, GiveTheSameTraceForTheSameSeed) {
  const auto trace = [](std::uint64_t seed) {
    SimMachine m(four_cores(seed));
    RowEngine<SimMachine> engine(m, 4);
    Sessions<SimMachine, RowEngine<SimMachine>> sessions(m, engine, mixed(3, 50));
    sessions.spawn(m);
    m.run();
    return m.trace_hash();
  };
  EXPECT_EQ(trace(1), trace(1));
  EXPECT_NE(trace(1), trace(2));
}

TEST(Sessions, ThatNeverCommitRunUntilTheyAreStopped) {
  SimMachine m(four_cores());
  RowEngine<SimMachine> engine(m, 1);
  Config config{.clients = 2,
                .mix = {{.statements = {{.away_ns = 1000, .computing_ns = 1000, .rows = 0}}}},
                .first_mix = {}};
  config.first_mix = config.mix;
  config.first_mix[0].never_commits = true;
  config.mix[0].statements[0].mtrs.count = 0;
  config.mix[0].commit.count = 0;
  Sessions<SimMachine, RowEngine<SimMachine>> sessions(m, engine, config);
  sessions.spawn(m);
  m.run_for(100'000'000);
  EXPECT_GT(sessions.counts().transactions, 100U);  // of the other one
  EXPECT_GT(sessions.counts().mtrs, 100U);          // of the first, whose changes alone are counted here
}

TEST(Sessions, RunOnRealThreadsToo) {
  HostMachine m;
  RowEngine<HostMachine> engine(m, 8);
  Sessions<HostMachine, RowEngine<HostMachine>> sessions(m, engine, mixed(4, 50));
  sessions.spawn(m);
  m.run();
  EXPECT_EQ(sessions.counts().transactions, 4U * 50);
  std::uint64_t committed = 0;
  for (const std::uint64_t n : engine.commits_of()) committed += n;
  EXPECT_EQ(committed, 4U * 50);
}

}  // namespace
}  // namespace engineroom::sessions
