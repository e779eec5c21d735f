// Many sessions that read and write single rows, each statement a transaction, beside purge.
//
// Models      the load of the article on 5.7's read views: autocommit reads mixed with writes; idle sessions whose last read
//             left a closed view; the purge coordinator's loop (srv_do_purge): batch after batch until one removes nothing,
//             then a sleep that ends with a commit, as in 5.6 to 8.0, or after a pause
// Leaves out  rows, their locks, redo, the binary log, purge's workers: what no session would wait for here
// Cost        some 20 events per statement, and one per closed view that purge walks over
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "common/described.hpp"
#include "machine/concept.hpp"
#include "machine/random.hpp"
#include "read_views/purge.hpp"
#include "sessions/sessions.hpp"
#include "sync/event.hpp"
#include "transactions/trx_sys.hpp"

namespace engineroom::read_views {

/// Times are means of exponential distributions where not said otherwise.
struct LoadConfig {
  std::uint32_t clients = 1;
  std::uint32_t idle_clients = 0;
  std::uint64_t away_ns = 0;
  std::uint64_t read_ns = 50'000;
  std::uint64_t write_ns = 80'000;
  std::uint32_t write_percent = 0;
  bool writes_read = false;
  std::uint64_t purge_batch = 300;
  std::uint64_t purge_ns = 2'000;
  std::uint64_t purge_batch_ns = 0;
  std::uint64_t purge_pause_ns = 10'000'000;
};
constexpr std::uint32_t kMostClients = 20'000;
constexpr auto described(options::Of<LoadConfig>) {
  using C = LoadConfig;
  return options::list<C>(
      "a load",
      {
          options::option<&C::clients>({.least = 1, .most = kMostClients}, "sessions, each in a closed loop"),
          options::option<&C::idle_clients>({.most = kMostClients},
                                            "sessions that have read once and do nothing more"),
          options::option<&C::away_ns>("between two statements: the client and the network"),
          options::option<&C::read_ns>("computing, for each read"),
          options::option<&C::write_ns>("computing, for each write"),
          options::option<&C::write_percent>({.most = 100}, "of the statements are writes"),
          options::option<&C::writes_read>("whether a write comes behind a read in its transaction"),
          options::option<&C::purge_batch>({.least = 1}, "innodb_purge_batch_size: undo logs"),
          options::option<&C::purge_ns>("purging one undo log, always the same"),
          options::option<&C::purge_batch_ns>(
              "of a batch besides its undo logs and the search for the oldest "
              "view: waking and awaiting the other purge threads"),
          options::option<&C::purge_pause_ns>("behind a batch that removed nothing, unless a commit comes"),
      });
}

template <machine::Machine M>
class ViewLoad {
 public:
  ViewLoad(M& m, const transactions::TrxSysConfig& trx_sys, const LoadConfig& load)
      : load_(load),
        trx_sys_(m, trx_sys),
        purge_(m, trx_sys_, load.purge_ns),
        wake_up_(m, "srv_purge"),
        counts_(load.clients),
        statement_(m.site("statement")),
        purging_(m.site("purge")) {
    for (std::uint32_t i = 0; i < load.clients + load.idle_clients; ++i) {
      sessions_.push_back(std::make_unique<transactions::Trx<M>>());
    }
  }

  void spawn(M& m) {
    m.spawn("purge", [this, &m] { return purge(m); });
    for (std::uint32_t i = 0; i < load_.clients; ++i) {
      m.spawn("client", [this, &m, i] { return client(m, i); });
    }
    if (load_.idle_clients > 0) m.spawn("idle clients", [this, &m] { return idle(m); });
  }

  // As of sessions::Sessions. Latency is the response time: without the time away.
  sessions::Counts counts() const {
    sessions::Counts all;
    for (const Counted& one : counts_) all.add(one.of_session);
    return all;
  }
  std::uint64_t clients() const { return counts_.size(); }
  std::uint64_t transactions() const {
    std::uint64_t all = 0;
    for (const Counted& one : counts_) all += one.of_session.transactions;
    return all;
  }
  bool ends_by_itself() const { return false; }
  std::uint64_t ended_ns() const { return 0; }

  std::uint64_t response_ns() const { return counts().latency_ns.total(); }
  std::uint64_t writes() const {
    std::uint64_t all = 0;
    for (const Counted& one : counts_) all += one.writes;
    return all;
  }
  std::uint64_t purged() const { return purged_; }
  std::size_t history_length() const { return purge_.history_length(); }
  const transactions::TrxSys<M>& trx_sys() const { return trx_sys_; }
  /// Of the list, now.
  std::size_t closed_views(M& m) const {
    std::size_t closed = 0;
    for (auto* view = trx_sys_.views().newest(); view != nullptr; view = view->older) {
      closed += m.peek(view->closed) != 0 ? 1 : 0;
    }
    return closed;
  }

 private:
  struct alignas(64) Counted {
    sessions::Counts of_session;
    std::uint64_t writes = 0;
  };
  struct Undone {
    ViewLoad& load;
    Task<> to_history(M& m, TrxNo no) { return load.to_history(m, no); }
    void became_visible(std::uint64_t) {}
  };
  Task<> to_history(M& m, TrxNo no) {
    co_await purge_.add(m, no, {});
    const std::uint64_t sleeps = co_await m.load(purge_sleeps_);
    if (sleeps != 0) co_await wake_up_.set(m);
  }

  Task<> client(M& m, std::uint32_t i) {
    transactions::Trx<M>& trx = *sessions_[i];
    Counted& mine = counts_[i];
    while (!m.stopping()) {
      if (load_.away_ns > 0) co_await m.wait_for_client(machine::exponential(m.random(), load_.away_ns));
      if (m.stopping()) break;
      const std::uint64_t start = m.now();
      const bool writes = m.random() % 100 < load_.write_percent;
      {
        machine::Scope<M> doing(m, statement_);
        if (writes) {
          co_await write(m, trx);
        } else {
          co_await read(m, trx, machine::exponential(m.random(), load_.read_ns));
        }
      }
      ++mine.of_session.transactions;
      mine.of_session.latency_ns.add(m.now() - start);
      mine.writes += writes ? 1 : 0;
    }
  }
  Task<> read(M& m, transactions::Trx<M>& trx, std::uint64_t computing_ns) {
    co_await trx_sys_.begin(m, trx, true);
    m.work(computing_ns / 2);  // parsing and opening tables come before the view
    co_await trx_sys_.open_view(m, trx);
    m.work(computing_ns - computing_ns / 2);
    co_await trx_sys_.end_of_reads(m, trx);
  }
  Task<> write(M& m, transactions::Trx<M>& trx) {
    const std::uint64_t computing_ns = machine::exponential(m.random(), load_.write_ns);
    co_await trx_sys_.begin(m, trx, false);
    if (load_.writes_read) co_await trx_sys_.open_view(m, trx);
    m.work(computing_ns / 2);
    co_await trx_sys_.become_read_write(m, trx);
    m.work(computing_ns - computing_ns / 2);
    co_await trx_sys_.commit(m, trx, Undone{*this});
  }
  Task<> idle(M& m) {
    for (std::size_t i = load_.clients; i < sessions_.size(); ++i) co_await read(m, *sessions_[i], 0);
  }

  Task<> purge(M& m) {
    while (!m.stopping()) {
      std::uint64_t removed = 0;
      {
        machine::Scope<M> doing(m, purging_);
        removed = co_await purge_.batch(m, load_.purge_batch);
        m.work(load_.purge_batch_ns);
      }
      purged_ += removed;
      if (removed > 0) continue;
      // A commit in between is missed, as in the server.
      const std::uint64_t seen = co_await wake_up_.reset(m);
      co_await m.store(purge_sleeps_, 1);
      co_await wake_up_.wait(m, seen, load_.purge_pause_ns);
      co_await m.store(purge_sleeps_, 0);
    }
  }

  LoadConfig load_;
  transactions::TrxSys<M> trx_sys_;
  Purge<M> purge_;
  sync::Event<M> wake_up_;
  typename M::Word purge_sleeps_{0};
  std::vector<std::unique_ptr<transactions::Trx<M>>> sessions_;
  std::vector<Counted> counts_;
  machine::Site statement_;
  machine::Site purging_;
  std::uint64_t purged_ = 0;
};

}  // namespace engineroom::read_views
