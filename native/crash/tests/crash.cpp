// The crash runs with a kernel of two files that is no redo log: a journal of what will be paid, and a ledger of what was.
// A payment is promised when its ledger entry is durable; what the ledger has, the journal must have.
#include "crash/crash.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "sync/latch.hpp"

namespace engineroom::crash {
namespace {

using machine::Task;

constexpr std::size_t kSector = SimFile::kSector;

struct PaymentReport {
  std::uint64_t runs = 0;
  std::uint64_t crashes = 0;
  std::uint64_t hangs = 0;
  std::uint64_t payments = 0;
  std::uint64_t lost_payments = 0;         // promised, and not in the ledger
  std::uint64_t unannounced_payments = 0;  // in the ledger, and not in the journal
  std::string first_failure;
};
static_assert(Report<PaymentReport>);

enum class Slip { none, ledger_first, no_fsync, sleeps_for_ever };

/// Entry n is sector n of each file; a sector that is there is not zero.
class Payments {
 public:
  using Report = PaymentReport;

  Payments(SimMachine& m, Random& random, Slip slip)
      : slip_(slip),
        clients_(1 + random.next() % 3),
        left_(clients_),
        journal_(m, "journal"),
        ledger_(m, "ledger"),
        latch_(m, "counter"),
        asleep_(m.site("asleep")) {}

  void spawn(SimMachine& m) {
    for (std::uint64_t i = 0; i < clients_; ++i) m.spawn("client", [this, &m] { return client(m); });
  }
  std::uint64_t steps() const { return clients_ * kEach * 6; }
  std::vector<const SimFile*> files() const { return {&journal_, &ledger_}; }

  void look(SimMachine&, Judge<Report>&) {}
  void recover(std::vector<Bytes> files, Random&, Judge<Report>& judge) {
    for (const std::uint64_t entry : promised_) {
      if (!has(files[1], entry)) {
        return judge.fails(&Report::lost_payments, "payment " + std::to_string(entry) + " is lost");
      }
    }
    for (std::uint64_t entry = 0; entry < next_; ++entry) {
      if (has(files[1], entry) && !has(files[0], entry)) {
        return judge.fails(&Report::unannounced_payments,
                           "payment " + std::to_string(entry) + " is not in the journal");
      }
    }
  }
  void end(SimMachine&, Judge<Report>& judge) { judge.report.payments += promised_.size(); }

 private:
  static constexpr std::uint64_t kEach = 20;

  static bool has(const Bytes& file, std::uint64_t entry) {
    const std::size_t at = entry * kSector;
    return at < file.size() && file[at] != std::byte{0};
  }

  Task<> write_durably(SimMachine& m, SimFile& file, std::uint64_t entry) {
    const Bytes sector(kSector, std::byte{1});
    co_await m.pwrite(file, entry * kSector, sector);
    if (slip_ != Slip::no_fsync) co_await m.fsync(file);
  }

  Task<> client(SimMachine& m) {
    for (std::uint64_t i = 0; i < kEach && !m.stopping(); ++i) {
      m.work(m.random() % 3000);
      co_await latch_.lock(m);
      const std::uint64_t entry = next_++;
      co_await latch_.unlock(m);
      const bool is_swapped = slip_ == Slip::ledger_first;
      co_await write_durably(m, is_swapped ? ledger_ : journal_, entry);
      co_await write_durably(m, is_swapped ? journal_ : ledger_, entry);
      promised_.push_back(entry);
      if (slip_ == Slip::sleeps_for_ever) co_await m.park(never_, 0, asleep_);
    }
    if (--left_ == 0) m.stop();
  }

  Slip slip_;
  std::uint64_t clients_;
  std::uint64_t left_;
  SimFile journal_;
  SimFile ledger_;
  sync::Latch<SimMachine> latch_;
  machine::Site asleep_;
  SimMachine::Word never_{};
  std::uint64_t next_ = 0;
  std::vector<std::uint64_t> promised_;
};

PaymentReport runs(Slip slip) {
  return crash_runs<PaymentReport>({.seed = 1, .runs = 40, .crashes_per_run = 20},
                                   [&](SimMachine& m, Random& random) { return Payments(m, random, slip); });
}

TEST(Crashes, OfTwoFilesFindNothingWrongWithASoundKernel) {
  const PaymentReport report = runs(Slip::none);
  EXPECT_EQ(report.runs, 40U);
  EXPECT_GT(report.crashes, 200U);
  EXPECT_GT(report.payments, 500U);
  EXPECT_EQ(report.lost_payments + report.unannounced_payments + report.hangs, 0U) << report.first_failure;
}

TEST(Crashes, FindFilesThatAreWrittenInTheWrongOrder) {
  const PaymentReport report = runs(Slip::ledger_first);
  EXPECT_GT(report.unannounced_payments, 0U);
  EXPECT_EQ(report.first_failure.rfind("seed ", 0), 0U);
}

TEST(Crashes, FindAPromiseWithoutAnFsync) { EXPECT_GT(runs(Slip::no_fsync).lost_payments, 0U); }

TEST(Crashes, FindAWaitThatNobodyEnds) { EXPECT_GT(runs(Slip::sleeps_for_ever).hangs, 0U); }

TEST(Crashes, RefuseNoRuns) {
  EXPECT_THROW(
      crash_runs<PaymentReport>(
          {.runs = 0}, [](SimMachine& m, Random& random) { return Payments(m, random, Slip::none); }),
      std::invalid_argument);
}

}  // namespace
}  // namespace engineroom::crash
