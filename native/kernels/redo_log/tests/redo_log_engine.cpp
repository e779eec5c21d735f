// As many sessions as a kernel takes, on a machine of four sockets: all of them begin, commit and end.
#include <gtest/gtest.h>

#include <cstdint>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

#include "machine/sim_machine.hpp"
#include "redo_log/engine.hpp"

namespace engineroom::redo_log {
namespace {

using machine::SimConfig;
using machine::SimMachine;

SimConfig four_sockets() {
  return {.sockets = 4,
          .cores_per_socket = 22,
          .threads_per_core = 2,
          .timer_ps = 1'000'000,
          .disk_fsync = {.quantiles_ps = {100'000'000}}};
}

LoadConfig load_of(std::uint32_t clients) {
  return {
      .clients = clients, .statements = 1, .away_ns = 1'000'000, .statement_ns = 5'000, .transactions = 1};
}

class ManySessions : public testing::TestWithParam<Design> {};

TEST_P(ManySessions, AllCommitWhatTheyHaveTo) {
  SimMachine m(four_sockets());
  SimMachine::File file(m, "redo", machine::Bytes::counted);
  with_load(GetParam(), m, file, {}, load_of(sessions::kMostSessions), [&](auto& made) {
    made.sessions.spawn(m);
    EXPECT_GE(m.live_threads(), sessions::kMostSessions);
    m.run();
    EXPECT_EQ(made.sessions.counts().transactions, sessions::kMostSessions);
    EXPECT_EQ(made.sessions.counts().latency_ns.count(), sessions::kMostSessions);
    EXPECT_EQ(m.live_threads(), 0U);
  });
}

std::string name_of_test(const testing::TestParamInfo<Design>& info) {
  return info.param == Design::log_5_7 ? "Log57" : "Log80";
}
INSTANTIATE_TEST_SUITE_P(RedoLog, ManySessions, testing::Values(Design::log_5_7, Design::log_8_0),
                         name_of_test);

TEST(RedoEngine, MiniTransactionsDirtyAPageAsOftenAsTheirShareSays) {
  const auto dirtied = [](std::uint32_t percent) {
    SimMachine m(four_sockets());
    SimMachine::File file(m, "redo", machine::Bytes::counted);
    LoadConfig load = load_of(300);
    load.dirty_percent = percent;
    std::size_t pages = 0;
    with_load(Design::log_5_7, m, file, {}, load, [&](auto& made) {
      made.engine.log().flush_lists().keep(true);
      made.sessions.spawn(m);
      m.run();
      made.engine.log().flush_lists().added([&](const std::vector<Lsn>& added) { pages += added.size(); });
    });
    return pages;
  };
  EXPECT_EQ(dirtied(0), 0U);
  EXPECT_GT(dirtied(100), dirtied(30));
}

TEST(RedoEngine, EachDesignRunsItsOwnLog) {
  const auto runs = [](Design design) {
    SimMachine m(four_sockets());
    SimMachine::File file(m, "redo", machine::Bytes::counted);
    std::string name;
    with_load(design, m, file, {}, load_of(1), [&](auto& made) {
      using Log = std::remove_cvref_t<decltype(made.engine.log())>;
      if constexpr (std::is_same_v<Log, Log56<SimMachine>>) name = "5.6";
      if constexpr (std::is_same_v<Log, Log57<SimMachine>>) name = "5.7";
      if constexpr (std::is_same_v<Log, Log80<SimMachine>>) {
        made.engine.spawn_threads(m);
        name = m.live_threads() > 0 ? "8.0" : "8.0, writer threads off";
      }
    });
    return name;
  };
  for (const Design design :
       {Design::log_5_6, Design::log_5_7, Design::log_8_0, Design::log_8_0_no_writer_threads}) {
    EXPECT_EQ(runs(design), names::of(design));
  }
}

TEST(Sessions, MoreThanAKernelTakesAreRefusedByTheirNumber) {
  try {
    options::check(load_of(sessions::kMostSessions + 1));
    FAIL() << "one session too many";
  } catch (const std::invalid_argument& refusal) {
    EXPECT_NE(std::string(refusal.what()).find("4097"), std::string::npos) << refusal.what();
  }
}

}  // namespace
}  // namespace engineroom::redo_log
