// Clients that lock rows of their own and let them go: nobody waits for a row, so that what is left are the latches.
//
// Models      sessions that scan with FOR UPDATE, or update row by row, each in another part of its tables
// Leaves out  reading, changing, redo, the client: all of it is computing between two locks
// Cost        per row its lock and its release, as lock_sys.hpp says
#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "lock_sys/lock_sys.hpp"
#include "machine/histogram.hpp"
#include "machine/random.hpp"
#include "sessions/program.hpp"
#include "sessions/sessions.hpp"

namespace engineroom::lock_sys {

struct LoadConfig {
  std::uint32_t clients = 1;
  std::uint32_t rows = 10;
  std::uint64_t row_ns = 5'000;
  bool own_tables = true;
};
constexpr auto described(options::Of<LoadConfig>) {
  using C = LoadConfig;
  return options::list<C>(
      "a load of locks",
      {
          options::option<&C::clients>({.least = 1, .most = sessions::kMostSessions},
                                       "sessions, each in a closed loop"),
          options::option<&C::rows>({.least = 1}, "that a transaction locks, each on a page of its own"),
          options::option<&C::row_ns>("computing between two locks, the mean of an exponential distribution"),
          options::option<&C::own_tables>("each client has a table of its own; else all have one"),
      });
}

/// The clients of a run. As `sessions::Sessions`, it is spawned, counted and asked.
template <Machine M, template <typename, typename> typename Latches>
class LockLoad {
 public:
  using T = TrxOn<M>;

  LockLoad(M& m, const LockConfig& config, const LoadConfig& load)
      : load_(load), locks_(m, config), counts_(load.clients), row_(m.site("row")) {
    for (std::uint32_t i = 0; i < load.clients; ++i) {
      trxs_.emplace_back(m, i);
      locks_.queues().add_table(table_of(i));
    }
  }

  void spawn(M& m) {
    locks_.spawn_threads(m);
    for (std::uint32_t i = 0; i < load_.clients; ++i) {
      m.spawn("client", [this, &m, i] { return client(m, i); });
    }
  }

  sessions::Counts counts() const {
    sessions::Counts all;
    for (const sessions::Counts& one : counts_) all.add(one);
    return all;
  }
  std::uint64_t clients() const { return counts_.size(); }
  std::uint64_t transactions() const { return counts().transactions; }
  bool ends_by_itself() const { return false; }
  std::uint64_t ended_ns() const { return 0; }

  /// Latches of the lock system that were taken, over all clients.
  Latched latched() const {
    Latched all;
    for (const T& trx : trxs_) {
      all.global += trx.latched.global;
      all.pages += trx.latched.pages;
      all.tables += trx.latched.tables;
    }
    return all;
  }
  LockCounts lock_counts() const { return locks_.counts(); }

 private:
  TableId table_of(std::uint32_t client) const { return load_.own_tables ? client + 1 : 1; }

  Task<> client(M& m, std::uint32_t number) {
    T& trx = trxs_[number];
    sessions::Counts& mine = counts_[number];
    const TableId table = table_of(number);
    while (!m.stopping()) {
      const std::uint64_t start = m.now();
      co_await locks_.begin(m, trx);
      for (std::uint32_t row = 0; row < load_.rows; ++row) {
        machine::Scope<M> doing(m, row_);
        m.work(machine::exponential(m.random(), load_.row_ns));
        co_await locks_.lock_table(m, trx, table, Mode::ix);
        const PageId page = (PageId{table} << 32) + PageId{number} * load_.rows + row;
        co_await locks_.lock_record(
            m, trx, {.page = page, .heap_no = kFirstRecord, .mode = Mode::x, .kind = Kind::rec_not_gap});
      }
      co_await locks_.release_all(m, trx);
      ++mine.transactions;
      mine.latency_ns.add(m.now() - start);
    }
  }

  LoadConfig load_;
  LockSys<M, Latches> locks_;
  std::deque<T> trxs_;
  std::vector<sessions::Counts> counts_;
  machine::Site row_;
};

}  // namespace engineroom::lock_sys
