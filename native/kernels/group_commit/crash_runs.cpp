#include "group_commit/crash_runs.hpp"

#include <algorithm>
#include <map>
#include <memory>
#include <vector>

#include "crash/crash.hpp"
#include "group_commit/load.hpp"
#include "group_commit/recovery.hpp"
#include "redo_log/recovery.hpp"

namespace engineroom::group_commit {

namespace {

using crash::Bytes;
using machine::Random;
using machine::SimFile;
using machine::SimMachine;
using Judge = crash::Judge<CrashReport>;

constexpr std::uint64_t kCapacity = std::uint64_t{1} << 20;
constexpr std::size_t kMostMtrBytes = 400;

/// What the run has seen of a transaction.
struct Known {
  std::shared_ptr<Ticket> ticket;
  Step step = Step::begun;
  std::uint64_t told = 0;
};

/// Notes how far each transaction has come, and what is wrong at once.
class Notes {
 public:
  std::map<std::uint64_t, Known> known;  // by XID
  std::vector<std::string> wrong;
  std::uint64_t largest_group = 0;
  bool orders_commits = true;
  bool flushes_redo = true;
  std::function<Lsn()> flushed_lsn;

  void reached(Step step, Tickets tickets) {
    for (const auto& ticket : tickets) {
      Known& one = known[ticket->xid];
      one.ticket = ticket;
      one.step = std::max(one.step, step);
    }
    if (step == Step::binlog_partly_written || step == Step::binlog_written)
      events_are_written(step, tickets);
    if (step == Step::engine_committed && orders_commits) {
      if (tickets[0]->gtid != ++committed_) says(*tickets[0], "commits out of the binlog's order");
    }
    if (step == Step::acknowledged && uses_stages_ && known[tickets[0]->xid].told != 1) {
      says(*tickets[0],
           "is acknowledged and was told " + std::to_string(known[tickets[0]->xid].told) + " times");
    }
  }
  void leads(Stage stage, const Ticket& ticket) {
    if (++leaders_[static_cast<std::size_t>(stage)] > 1) {
      says(ticket, "is the second leader in " + std::string(names::of(stage)));
    }
  }
  void ends(Stage stage) { --leaders_[static_cast<std::size_t>(stage)]; }
  void follows(Stage, const Ticket&) {}
  void delays(Tickets tickets) {
    for (const auto& ticket : tickets) {
      if (known[ticket->xid].step < Step::binlog_written)
        says(*ticket, "is delayed before its events are written");
    }
  }
  void told(const Ticket& ticket) {
    uses_stages_ = true;
    if (++known[ticket.xid].told > 1) says(ticket, "is told again");
  }

 private:
  void events_are_written(Step step, Tickets tickets) {
    largest_group = std::max<std::uint64_t>(largest_group, tickets.size());
    for (const auto& ticket : tickets) {
      if (flushes_redo && ticket->prepare_lsn > flushed_lsn()) {
        says(*ticket, "is in the binlog before its prepare is durable");
      }
      if (step == Step::binlog_written && ticket->gtid != ++written_) {
        says(*ticket, "has not the next GTID");
      }
    }
  }
  void says(const Ticket& ticket, const std::string& what) {
    wrong.push_back("transaction " + std::to_string(ticket.xid) + " " + what);
  }

  std::array<std::int64_t, kStages> leaders_{};
  std::uint64_t written_ = 0;
  std::uint64_t committed_ = 0;
  bool uses_stages_ = false;
};

class Eyes {
 public:
  explicit Eyes(Notes* notes) : notes_(notes) {}
  void reached(Step step, Tickets tickets) const { notes_->reached(step, tickets); }
  void leads(Stage stage, const Ticket& ticket) const { notes_->leads(stage, ticket); }
  void ends(Stage stage) const { notes_->ends(stage); }
  void follows(Stage stage, const Ticket& ticket) const { notes_->follows(stage, ticket); }
  void delays(Tickets tickets) const { notes_->delays(tickets); }
  void told(const Ticket& ticket) const { notes_->told(ticket); }

 private:
  Notes* notes_;
};

redo_log::LogConfig log_of(Random& random) {
  return {.buffer_bytes = (32 + random.next() % 48) * redo_log::kBlockBytes,
          .capacity_bytes = kCapacity,
          .write_ahead_bytes = random.next() % 2 == 0 ? 8192U : 1024U,
          .seals_blocks = true,
          .buffer_pool_instances = 2,
          .has_cpu_gate = random.next() % 2 == 0,
          .recent_written_slots = 2048,
          .recent_closed_slots = 4096,
          .events = 4,
          .user_spin_rounds = 30,
          .log_thread_spin_rounds = 100};
}

CommitConfig commit_of(Random& random, const CrashSettings& settings) {
  CommitConfig config{.sync_binlog = settings.sync_binlog,
                      .flush_log_at_trx_commit = settings.flush_log_at_trx_commit,
                      .order_commits = settings.order_commits};
  constexpr std::uint64_t kDelays[] = {0, 0, 20, 200};
  config.delay_us = kDelays[random.next() % 4];
  config.no_delay_count = random.next() % 4;
  config.own_conditions = random.next() % 2 == 0;
  config.max_binlog_bytes = 2000 + random.next() % 20'000;
  config.flush_log_at_timeout_ns = 1'000'000 + random.next() % 20'000'000;
  config.prepare_bytes = 18 + random.next() % 200;
  config.commit_bytes = 18 + random.next() % 300;
  config.changed_rows = 1 + random.next() % 3;
  config.io_cache_bytes = 200 + random.next() % 3000;
  return config;
}

/// Sessions that change and commit, and what they know.
template <typename Log>
class Server {
 public:
  using Report = CrashReport;
  using Engine = CommitEngine<SimMachine, Log, Broken, Eyes>;

  Server(SimMachine& m, Random& random, const CrashSettings& settings, bool is_kill,
         const redo_log::LogConfig& log)
      : settings_(settings),
        risks_(settings.risks(is_kill)),
        notes_(std::make_unique<Notes>()),
        redo_(std::make_unique<SimFile>(m, "redo")),
        clients_(1 + random.next() % 8),
        transactions_(5 + random.next() % 20),
        clients_left_(clients_),
        has_log_threads_(log.writer_threads),
        engine_(std::make_unique<Engine>(
            m, settings.design, commit_of(random, settings), log, *redo_,
            [&m] { return std::make_unique<SimFile>(m, "binlog"); }, kMostMtrBytes, clients_,
            Eyes(notes_.get()), Broken(settings.mistake))) {
    notes_->orders_commits = settings.order_commits || settings.design == Design::serialised;
    notes_->flushes_redo = settings.flush_log_at_trx_commit == 1;
    notes_->flushed_lsn = [&m, log = &engine_->log()] { return log->flushed_lsn(m); };
  }

  void spawn(SimMachine& m) {
    engine_->spawn_threads(m);
    for (std::uint64_t id = 0; id < clients_; ++id) {
      m.spawn("client", [this, &m] { return client(m); });
    }
    if constexpr (requires { engine_->log().poke_writer(m); }) {
      if (has_log_threads_) m.spawn("poker", [this, &m] { return poker(m); });
    }
  }
  std::uint64_t steps() const { return 12 * clients_ * transactions_; }
  std::vector<const SimFile*> files() const {
    std::vector<const SimFile*> all{redo_.get()};
    for (const auto& file : engine_->binlog().files()) all.push_back(file.get());
    return all;
  }

  void look(SimMachine&, Judge& judge) {
    for (const std::string& what : notes_->wrong) judge.fails(&CrashReport::disorders, what);
    notes_->wrong.clear();
  }

  void recover(std::vector<Bytes> files, Random&, Judge& judge) {
    if (notes_->known.empty()) return;  // the server has not started
    Bytes& redo = files[0];
    const Bytes header = redo_log::new_file_header(kCapacity);
    if (redo.size() < header.size()) redo.resize(header.size());
    std::copy(header.begin(), header.end(), redo.begin());
    const std::span binlogs(files.begin() + 1, files.end());
    const Recovered found = group_commit::recover(redo, binlogs);
    std::vector<std::uint64_t> intact;
    for (std::size_t i = 0; i < binlogs.size(); ++i) {
      intact.push_back(intact_bytes(engine_->binlog().files()[i]->contents(), binlogs[i]));
    }
    Counted counted;
    for (const auto& [xid, one] : notes_->known) judge_one(found, intact, xid, one, counted, judge);
    CrashReport& report = judge.report;
    report.lost += counted.lost;
    report.only_in_binlog += counted.only_in_binlog;
    report.only_in_engine += counted.only_in_engine;
    if (counted.lost > 0) ++report.crashes_with_loss;
    const auto excluded = [&](bool is_possible, std::uint64_t n, const char* what) {
      if (!is_possible && n > 0) judge.fails(&CrashReport::impossible, std::to_string(n) + what);
    };
    excluded(risks_.loses, counted.lost, " acknowledged transactions are rolled back");
    excluded(risks_.only_in_binlog, counted.only_in_binlog, " transactions are in the binlog alone");
    excluded(risks_.only_in_engine, counted.only_in_engine, " transactions are in the engine alone");
  }

  void end(SimMachine&, Judge& judge) {
    judge.report.commits += commits_;
    judge.report.rotations += engine_->counters().rotations;
    judge.report.largest_group = std::max(judge.report.largest_group, notes_->largest_group);
  }

 private:
  struct Counted {
    std::uint64_t lost = 0;
    std::uint64_t only_in_binlog = 0;
    std::uint64_t only_in_engine = 0;
  };

  Task<> client(SimMachine& m) {
    for (std::uint64_t i = 0; i < transactions_ && !m.stopping(); ++i) {
      m.work(m.random() % 3000);
      auto trx = engine_->begin(m, i);
      const std::uint64_t changes = 1 + m.random() % 3;
      bool goes_on = true;
      for (std::uint64_t k = 0; k < changes && goes_on; ++k) {
        goes_on = co_await engine_->mini_transaction(
            m, trx, {.count = 1, .bytes = 18 + m.random() % (kMostMtrBytes - 18), .dirty_percent = 50});
      }
      if (goes_on) goes_on = co_await engine_->commit(m, trx);
      if (!goes_on) break;
      ++commits_;
    }
    if (--clients_left_ == 0) m.stop();
  }

  /// With all timeouts taken away, somebody must wake the log writer now and then.
  Task<> poker(SimMachine& m) {
    while (!m.stopping()) {
      co_await m.sleep(20'000);
      co_await engine_->log().poke_writer(m);
    }
  }

  /// So many bytes are as the server wrote them; whether the file is in use does not count.
  static std::uint64_t intact_bytes(const Bytes& written, const Bytes& left) {
    std::size_t at = 0;
    while (at < left.size() && at < written.size() && (left[at] == written[at] || at == Events::kInUseAt))
      ++at;
    return at;
  }

  void judge_one(const Recovered& found, const std::vector<std::uint64_t>& intact, std::uint64_t xid,
                 const Known& one, Counted& counted, Judge& judge) {
    const Ticket& ticket = *one.ticket;
    const std::uint64_t there =
        ticket.binlog_end == 0 ? 0 : intact[static_cast<std::size_t>(ticket.binlog_file)];
    const Left left = ticket.binlog_end == 0 || there <= ticket.binlog_begin ? Left::none
                      : there < ticket.binlog_end                            ? Left::part
                                                                             : Left::whole;
    const bool is_committed = found.is_committed(xid);
    const bool is_acknowledged = one.step == Step::acknowledged;
    ++judge.report.outcomes[static_cast<std::size_t>(one.step)][static_cast<std::size_t>(
        found.states.of(xid))][static_cast<std::size_t>(left)][is_committed ? 1 : 0];
    if (is_acknowledged && !is_committed) ++counted.lost;
    if (left == Left::whole && !is_committed) ++counted.only_in_binlog;
    if (left != Left::whole && is_committed) ++counted.only_in_engine;
    const auto wrong = [&](const char* what) {
      judge.fails(&CrashReport::wrong_outcomes, "transaction " + std::to_string(xid) + " " + what);
    };
    // The binlog was synced: nothing of it may be missing.
    if (one.step >= Step::binlog_synced && settings_.sync_binlog == 1 && left != Left::whole) {
      wrong("is synced, and not whole");
    }
    // What the table says, from how much of each log is left.
    if (ticket.prepare_lsn == kOnItsWay || ticket.commit_lsn == kOnItsWay) return;
    const bool has_commit = ticket.commit_lsn > 0 && ticket.commit_lsn <= found.redo_end;
    const bool has_prepare = ticket.prepare_lsn > 0 && ticket.prepare_lsn <= found.redo_end;
    const bool is_decided = left == Left::whole && ticket.binlog_file == found.last;
    const bool is_expected = has_commit || (has_prepare && is_decided);
    if (is_committed != is_expected) {
      wrong(is_committed ? "is committed against the table" : "is rolled back against the table");
    }
  }

  CrashSettings settings_;
  Risks risks_;
  std::unique_ptr<Notes> notes_;
  std::unique_ptr<SimFile> redo_;
  std::uint64_t clients_;
  std::uint64_t transactions_;
  std::uint64_t clients_left_;
  bool has_log_threads_;
  std::unique_ptr<Engine> engine_;
  std::uint64_t commits_ = 0;
};

}  // namespace

CrashReport crash_runs(const CrashSettings& settings, const crash::Config& config) {
  if (!is_possible(settings.design, settings.mistake)) {
    refuse("the commit of " + std::string(names::of(settings.design)) + " cannot make the mistake " +
           std::string(names::of(settings.mistake)) + ": choose another");
  }
  CrashReport report;
  redo_log::with_type<SimMachine>(settings.redo, [&]<typename Log>() {
    report = crash::crash_runs<CrashReport>(config, [&](SimMachine& m, Random& random) {
      redo_log::LogConfig log = redo_log::completed(settings.redo, log_of(random));
      log.buffer_bytes += log.write_ahead_bytes;
      return Server<Log>(m, random, settings, config.is_kill, log);
    });
  });
  return report;
}

}  // namespace engineroom::group_commit
