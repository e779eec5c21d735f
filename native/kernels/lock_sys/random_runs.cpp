#include "lock_sys/random_runs.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <deque>
#include <string_view>
#include <vector>

#include "common/require.hpp"
#include "lock_sys/lock_sys.hpp"
#include "machine/random.hpp"
#include "machine/sim_machine.hpp"

namespace engineroom::lock_sys {

namespace {

using machine::Random;
using machine::SimConfig;
using machine::SimMachine;

/// The table of what waits for what, once more and as a table, so that a mistake in the rules is not made here as well.
bool excludes(const Lock& there, Mode mode, Kind kind, HeapNo heap_no) {
  if (mode == Mode::s && there.mode == Mode::s) return false;
  constexpr bool kWaits[4][4] = {
      // there:  next-key, gap, rec-not-gap, insert intention
      {true, false, true, false},    // next-key
      {false, false, false, false},  // gap
      {true, false, true, false},    // rec-not-gap
      {true, true, false, false},    // insert intention
  };
  if (heap_no == kSupremum) return kind == Kind::insert_intention && there.kind != Kind::insert_intention;
  return kWaits[static_cast<std::size_t>(kind)][static_cast<std::size_t>(there.kind)];
}

/// Latches that note who is in which queue.
template <typename Base>
class Watched : public Base {
 public:
  using Base::Base;

  Task<> lock_page(SimMachine& m, Cell cell) {
    co_await Base::lock_page(m, cell);
    come(cell);
  }
  Task<> unlock_page(SimMachine& m, Cell cell) {
    go(cell);
    co_await Base::unlock_page(m, cell);
  }
  Task<> lock_pages(SimMachine& m, Cell a, Cell b) {
    co_await Base::lock_pages(m, a, b);
    come(a);
    if (a.number != b.number) come(b);
  }
  Task<> unlock_pages(SimMachine& m, Cell a, Cell b) {
    go(a);
    if (a.number != b.number) go(b);
    co_await Base::unlock_pages(m, a, b);
  }
  Task<> lock_table(SimMachine& m, TableId table) {
    co_await Base::lock_table(m, table);
    ++inside_;
  }
  Task<> unlock_table(SimMachine& m, TableId table) {
    --inside_;
    co_await Base::unlock_table(m, table);
  }
  Task<> stop_all(SimMachine& m) {
    co_await Base::stop_all(m);
    if (inside_ > 0) ++intruders_;
    ++inside_;
  }
  Task<> let_all_go(SimMachine& m) {
    --inside_;
    co_await Base::let_all_go(m);
  }

  bool is_empty() const { return inside_ == 0; }
  std::uint64_t intruders() const { return intruders_; }

 private:
  void come(Cell cell) {
    ++inside_;
    if (cell.number >= in_cell_.size()) in_cell_.resize(cell.number + 1, 0);
    if (in_cell_[cell.number]++ > 0) ++intruders_;
  }
  void go(Cell cell) {
    --inside_;
    --in_cell_[cell.number];
  }

  std::uint64_t inside_ = 0;
  std::uint64_t intruders_ = 0;
  std::vector<std::uint32_t> in_cell_;
};
template <typename M, typename Rules>
struct WatchedShards : Watched<Shards<M, Rules>> {
  using Watched<Shards<M, Rules>>::Watched;
};
template <typename M, typename Rules>
struct WatchedMutex : Watched<OneMutex<M, Rules>> {
  using Watched<OneMutex<M, Rules>>::Watched;
};

template <template <typename, typename> typename Latches, typename Rules>
class Run {
  using Locks = LockSys<SimMachine, Latches, Rules>;
  using T = typename Locks::T;

  struct Record {
    PageId page;
    HeapNo heap_no;
    T* writer = nullptr;
    std::uint64_t writer_id = 0;
    std::uint64_t counter = 0;  // that transactions add to
    std::uint64_t added = 0;    // how often they did
  };

 public:
  Run(LockConfig config, std::uint64_t seed, RandomReport& report)
      : seed_(seed),
        random_(seed),
        report_(report),
        m_(machine_of(seed)),
        locks_(m_, small(config, seed), scheduler_of(config.policy, seed)),
        tree_(m_, "tree") {
    const std::uint64_t pages = 2 + random_.below(3);
    for (std::uint64_t i = 0; i < 4 + random_.below(4); ++i) {
      records_.push_back({.page = 1 + i % pages, .heap_no = kFirstRecord + static_cast<HeapNo>(i / pages)});
    }
    next_heap_no_.assign(pages + 1, kFirstRecord + 8);
    for (TableId table = 1; table <= 2; ++table) locks_.queues().add_table(table);
    const auto sessions = static_cast<std::uint32_t>(3 + random_.below(5));
    for (std::uint32_t i = 0; i < sessions; ++i) trxs_.emplace_back(m_, i);
    transactions_ = 2 + random_.below(4);
    locks_.on_deadlock([this](std::span<Trx* const> cycle, const Trx&) { check_cycle(cycle); });
    locks_.spawn_threads(m_);
    for (T& trx : trxs_) {
      m_.spawn("session", [this, &trx] { return session(trx); });
    }
  }

  void run() {
    // Long against what all of it takes, short against the timeout of a wait.
    constexpr std::uint64_t kLongestNs = 20'000'000'000;
    for (std::uint64_t events = 0;; ++events) {
      if (!m_.step()) break;
      if (events % 5 == 0 && locks_.latches().is_empty()) check_locks();
      if (m_.now() > kLongestNs) {
        note(report_.hangs, "a run without an end: " + m_.who_waits());
        return;
      }
    }
    note(report_.intruders, "two threads in one queue", locks_.latches().intruders());
    std::uint64_t left = 0;
    locks_.queues().each_lock([&](const Lock&) { ++left; });
    note(report_.leftovers, "locks are left", left);
    for (const Record& record : records_) {
      note(report_.lost_updates, "an update is lost", record.added - record.counter);
    }
    const LockCounts counts = locks_.counts();
    note(report_.stale_weights, "the weight of a wait that is over", counts.stale_weights);
    report_.waits += counts.waits;
    report_.deadlocks += counts.deadlocks;
    report_.false_positives += counts.false_positives;
  }

 private:
  static SimConfig machine_of(std::uint64_t seed) {
    SimConfig config{.cores_per_socket = 2 + static_cast<std::uint32_t>(seed % 3), .random_schedule = true};
    // Looking at who waits takes long, so that no two edges of a snapshot are of one moment.
    if (seed % 2 == 0) config.same_socket_ps = 3'000'000;
    config.seed = seed;
    return config;
  }
  static LockConfig small(LockConfig config, std::uint64_t seed) {
    config.cells = 7;
    config.page_shards = std::min<std::size_t>(config.page_shards, 4);
    config.table_shards = 2;
    config.global_parts = 3;
    config.release_interval = 2;
    config.has_lines = seed % 4 == 3;
    config.weigh_ns = 5'000;  // so long that much happens between a snapshot and what is made of it
    return config;
  }

  void note(std::uint64_t& count, std::string_view what, std::uint64_t n = 1) {
    count += n;
    if (n > 0 && report_.first_failure.empty()) {
      report_.first_failure = "seed " + std::to_string(seed_) + ": " + std::string(what);
    }
  }

  machine::Task<> session(T& trx) {
    for (std::uint64_t i = 0; i < transactions_; ++i) {
      co_await locks_.begin(m_, trx);
      const std::uint64_t steps = 1 + m_.random() % 5;
      bool is_going = true;
      for (std::uint64_t step = 0; step < steps && is_going; ++step) is_going = co_await one_step(trx);
      m_.work(m_.random() % 2000);
      co_await locks_.release_all(m_, trx);
      if (is_going) ++report_.transactions;
    }
    const std::uint64_t ended = co_await m_.add(ended_, 1);
    if (ended + 1 == trxs_.size()) m_.stop();
  }

  /// False when the transaction is over: rolled back.
  Task<bool> one_step(T& trx) {
    const std::uint64_t draw = m_.random() % 100;
    m_.work(m_.random() % 500);
    if (draw < 45) co_return co_await add_to_counter(trx);
    if (draw < 65) co_return co_await lock_somehow(trx);
    if (draw < 80) co_return co_await insert(trx);
    if (draw < 88) co_return co_await lock_table(trx);
    if (draw < 94) co_return co_await move_in_another_tree(trx);
    co_return co_await move(trx);
  }

  std::size_t any_record() { return static_cast<std::size_t>(m_.random() % records_.size()); }

  /// With the tree latched, either way: the lock of the one that changed the record last is made one that can be seen.
  Task<> convert(T& trx, const Record& record) {
    if (record.writer == nullptr || record.writer == &trx) co_return;
    T& writer = *record.writer;
    const std::uint64_t id = record.writer_id;
    co_await writer.mutex.lock(m_);
    const bool is_active = writer.id == id && !writer.is_committed;
    co_await writer.mutex.unlock(m_);
    if (!is_active) co_return;
    ++report_.made_explicit;
    co_await locks_.make_explicit(m_, trx, writer, id, {.page = record.page, .heap_no = record.heap_no});
  }

  Task<Outcome> lock(T& trx, std::size_t number, Mode mode, Kind kind) {
    co_await tree_.s_lock(m_);
    const Record record = records_[number];
    co_await convert(trx, record);
    Outcome outcome = co_await locks_.lock_record(
        m_, trx, {.page = record.page, .heap_no = record.heap_no, .mode = mode, .kind = kind});
    co_await tree_.s_unlock(m_);
    if (outcome == Outcome::waits) outcome = co_await locks_.wait(m_, trx);
    co_return outcome;
  }
  Task<bool> add_to_counter(T& trx) {
    const std::size_t number = any_record();
    const bool is_mine = records_[number].writer == &trx && records_[number].writer_id == trx.id;
    // The transaction that inserted it has it without asking.
    if (!is_mine) {
      const Kind kind = m_.random() % 2 == 0 ? Kind::next_key : Kind::rec_not_gap;
      const Outcome outcome = co_await lock(trx, number, Mode::x, kind);
      if (outcome != Outcome::granted) co_return false;
    }
    ++trx.undo_no;
    const std::uint64_t seen = records_[number].counter;
    m_.work(m_.random() % 1000);
    co_await m_.yield();
    records_[number].counter = seen + 1;
    ++records_[number].added;
    co_return true;
  }
  Task<bool> lock_somehow(T& trx) {
    constexpr std::array kKinds{Kind::next_key, Kind::gap, Kind::rec_not_gap};
    const Mode mode = m_.random() % 2 == 0 ? Mode::s : Mode::x;
    if (m_.random() % 6 == 0) {
      // Behind the last record of a page.
      const Record& record = records_[any_record()];
      const Outcome outcome = co_await locks_.lock_record(
          m_, trx, {.page = record.page, .heap_no = kSupremum, .mode = mode, .kind = Kind::next_key});
      co_return outcome == Outcome::granted || co_await waited(trx, outcome);
    }
    const std::size_t number = any_record();
    const Kind kind = kKinds[m_.random() % kKinds.size()];
    const Outcome outcome = co_await lock(trx, number, mode, kind);
    co_return outcome == Outcome::granted;
  }
  Task<bool> waited(T& trx, Outcome outcome) {
    if (outcome == Outcome::waits) outcome = co_await locks_.wait(m_, trx);
    co_return outcome == Outcome::granted;
  }
  Task<bool> insert(T& trx) {
    const std::size_t next = any_record();
    for (;;) {
      co_await tree_.x_lock(m_);
      const Record before = records_[next];
      if (next_heap_no_[before.page] >= kMostHeapNo) {
        co_await tree_.x_unlock(m_);
        co_return true;
      }
      Outcome outcome =
          co_await locks_.lock_to_insert(m_, trx, {.page = before.page, .heap_no = before.heap_no});
      if (outcome == Outcome::granted) {
        check_gap(trx, before);
        const HeapNo heap_no = next_heap_no_[before.page]++;
        records_.push_back({.page = before.page, .heap_no = heap_no, .writer = &trx, .writer_id = trx.id});
        co_await locks_.inherit_on_insert(m_, trx, before.page, heap_no, before.heap_no, heap_no);
        co_await tree_.x_unlock(m_);
        ++trx.undo_no;
        ++report_.inserts;
        co_return true;
      }
      co_await tree_.x_unlock(m_);
      const bool is_granted = co_await waited(trx, outcome);
      if (!is_granted) co_return false;
    }
  }
  Task<bool> lock_table(T& trx) {
    constexpr std::array kModes{Mode::is, Mode::ix, Mode::ix, Mode::s, Mode::x};
    const TableId table = 1 + m_.random() % 2;
    const Outcome outcome = co_await locks_.lock_table(m_, trx, table, kModes[m_.random() % kModes.size()]);
    co_return outcome == Outcome::granted || co_await waited(trx, outcome);
  }
  Task<bool> move(T& trx) {
    co_await tree_.x_lock(m_);
    Record& record = records_[any_record()];
    const PageId to = 1 + m_.random() % (next_heap_no_.size() - 1);
    if (to != record.page && next_heap_no_[to] < kMostHeapNo) {
      const PageId from = record.page;
      const HeapNo was = record.heap_no;
      const HeapNo is = next_heap_no_[to]++;
      // A session that looks between the two finds the record where its locks are.
      co_await locks_.move_record(m_, trx, from, was, to, is, is);
      record.page = to;
      record.heap_no = is;
      ++report_.moves;
    }
    co_await tree_.x_unlock(m_);
    co_return true;
  }

  /// Of another index, whose pages share shards with this one's and whose latch is its own.
  Task<bool> move_in_another_tree(T& trx) {
    for (int i = 0; i < 4; ++i) {
      const PageId from = 1000 + m_.random() % 4;
      const PageId to = 1000 + m_.random() % 4;
      if (from != to)
        co_await locks_.move_record(m_, trx, from, kFirstRecord, to, kFirstRecord, kFirstRecord);
    }
    co_return true;
  }

  // What must hold.

  void check_gap(const T& trx, const Record& next) {
    Looks looks;
    locks_.queues().each_in_queue(next.page, next.heap_no, looks, [&](const Lock& lock) {
      if (lock.trx != &trx && !lock.is_waiting &&
          excludes(lock, Mode::x, Kind::insert_intention, next.heap_no)) {
        note(report_.phantoms, "a phantom");
      }
      return true;
    });
  }
  void check_cycle(std::span<Trx* const> cycle) {
    for (std::size_t i = 0; i < cycle.size(); ++i) {
      const Lock* const waiting = cycle[i]->wait_lock.load();
      const Trx* const next = cycle[(i + 1) % cycle.size()];
      bool is_edge = false;
      if (waiting != nullptr) {
        Looks looks;
        locks_.queues().each_conflicting_ahead(
            *waiting, looks, [&](const Lock& lock) { is_edge = is_edge || lock.trx == next; });
      }
      if (!is_edge) return note(report_.needless_victims, "a victim without a deadlock");
    }
  }
  void check_locks() {
    std::vector<const Lock*> all;
    locks_.queues().each_lock([&](const Lock& lock) { all.push_back(&lock); });
    for (std::size_t i = 0; i < all.size(); ++i) {
      const Lock& lock = *all[i];
      if (lock.is_record) {
        lock.each_record([&](HeapNo heap_no) { check_lock(all, i, heap_no); });
      } else if (lock.is_waiting) {
        Looks looks;
        if (locks_.queues().conflicting_ahead(lock, looks) == nullptr) {
          note(report_.waits_for_nobody, "a table lock waits for nobody");
        }
      }
    }
  }
  void check_lock(const std::vector<const Lock*>& all, std::size_t i, HeapNo heap_no) {
    const Lock& lock = *all[i];
    bool has_blocker = false;
    bool blocker_is_one = false;
    const Trx* const said = lock.trx->blocking_trx.load();
    for (std::size_t k = 0; k < i; ++k) {
      const Lock& ahead = *all[k];
      if (!ahead.is_record || ahead.place != lock.place || !ahead.has(heap_no)) continue;
      const bool is_others = ahead.trx != lock.trx;
      const bool blocks = is_others && excludes(ahead, lock.mode, lock.kind, heap_no);
      if (lock.is_waiting) {
        has_blocker = has_blocker || blocks;
        blocker_is_one = blocker_is_one || (blocks && ahead.trx == said);
        continue;
      }
      if (ahead.is_waiting && locks_.queues().design().granted_in_front) {
        note(report_.disorders, "a granted lock behind one that waits");
      }
      // An intention to insert keeps nobody out, also not when it was granted; the other way round it was granted before.
      const bool either = blocks || (is_others && excludes(lock, ahead.mode, ahead.kind, heap_no));
      const bool inserts = lock.kind == Kind::insert_intention || ahead.kind == Kind::insert_intention;
      if (!ahead.is_waiting && either && !inserts)
        note(report_.conflicts, "two granted locks exclude each other");
    }
    if (!lock.is_waiting) return;
    if (!has_blocker) note(report_.waits_for_nobody, "a lock waits for nobody");
    if (has_blocker && locks_.queues().design().knows_blockers && !blocker_is_one) {
      note(report_.wrong_blockers, "a waiter is said to wait for another than it does");
    }
  }

  static constexpr HeapNo kMostHeapNo = 120;

  std::uint64_t seed_;
  Random random_;
  RandomReport& report_;
  SimMachine m_;
  Locks locks_;
  sync::RwLatch<SimMachine> tree_;
  std::vector<Record> records_;
  std::vector<HeapNo> next_heap_no_;
  std::deque<T> trxs_;
  std::uint64_t transactions_ = 1;
  SimMachine::Word ended_;
};

}  // namespace

RandomReport random_runs(const LockConfig& config, Mistake mistake, const RandomRuns& runs) {
  options::check(config);
  options::check(runs);
  const bool is_sharded = config.latching == Latching::sharded;
  if (!is_sharded && mistake != Mistake::none) refuse("a mistake is planted where latching is 'sharded'");
  RandomReport report;
  for (std::uint64_t i = 0; i < runs.runs; ++i) {
    ++report.runs;
    const std::uint64_t seed = runs.seed + i;
    if (is_sharded) {
      with_rules(mistake, [&]<typename Rules>() { Run<WatchedShards, Rules>(config, seed, report).run(); });
    } else {
      Run<WatchedMutex, Sound>(config, seed, report).run();
    }
  }
  return report;
}

}  // namespace engineroom::lock_sys
