#include "lock_sys/playground.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "common/require.hpp"
#include "machine/sim_machine.hpp"

namespace engineroom::lock_sys {

namespace {

using machine::SimConfig;
using machine::SimMachine;

// Long against what a statement takes, short against the timeout of a wait for a lock.
constexpr std::uint64_t kUntilQuietNs = 20'000'000;

SimConfig machine_of() { return {.sockets = 1, .cores_per_socket = 2, .timer_slack_ps = 0}; }

RowDesign rows_of(Design design) {
  const bool is_new = design == Design::mysql_9_7;
  return {.knows_end_of_range = is_new,
          .undone_insert_keeps_lock = is_new,
          .duplicate_locks_gap = !is_new,
          .spares_next_entry = is_new};
}

constexpr Value kMost = 2'147'483'647;  // of an INT

// What the explorables never ask for is refused where errors can be told: their kernels stay small.
#if defined(__cpp_exceptions)
constexpr bool kTells = true;
#else
constexpr bool kTells = false;
#endif

void check_value(Value value) {
  if constexpr (!kTells) return;
  if (value >= -kMost - 1 && value <= kMost) return;
  refuse("an INT holds -2147483648 to 2147483647, not " + std::to_string(value));
}
void check_row(const Row& row, std::size_t columns) {
  if (row.size() != columns) {
    refuse("a row of " + std::to_string(row.size()) + " values in a table of " + std::to_string(columns) +
           " columns");
  }
  for (const Value value : row) check_value(value);
}

const PlaygroundConfig& checked(const PlaygroundConfig& config) {
  if constexpr (!kTells) return config;
  if (config.columns == 0) refuse("a table has a column at least, its primary key");
  std::vector<std::size_t> unique{0};
  for (const IndexDefinition& index : config.secondary) {
    if (index.column >= config.columns)
      refuse("there is no column " + std::to_string(index.column) + " to index");
    if (index.is_unique) unique.push_back(index.column);
  }
  for (const Row& row : config.rows) check_row(row, config.columns);
  for (const std::size_t column : unique) {
    std::set<Value> seen;
    for (const Row& row : config.rows) {
      if (seen.insert(row[column]).second) continue;
      refuse("two rows have " + std::to_string(row[column]) + " in column " + std::to_string(column) +
             ", which is to be unique");
    }
  }
  return config;
}

}  // namespace

// One mutex for every design: who gets which lock does not depend on how many latches guard the queues, as long as statements
// run one after the other.
class Playground::Inside {
  using Locks = LockSys<SimMachine, OneMutex>;
  using Table = Rows<SimMachine, Locks>;

 public:
  explicit Inside(const PlaygroundConfig& config)
      : m_(machine_of()),
        locks_(m_, lock_config(config.design)),
        table_(m_, locks_, config.columns, config.secondary, rows_of(config.design)),
        columns_(config.columns),
        results_(config.reads_committed.size(), std::string(names::of(Done::ok))) {
    locks_.queues().add_table(Table::kTable);
    for (std::uint32_t i = 0; i < config.reads_committed.size(); ++i) {
      sessions_.emplace_back(m_, i).trx.reads_committed = config.reads_committed[i];
    }
    for (const Row& row : config.rows) table_.load(row);
    locks_.spawn_threads(m_);
  }

  std::string execute(std::uint32_t session, const Statement& statement) {
    check_session(session);
    if (results_[session] == kWaits) refuse("session " + std::to_string(session) + " waits still");
    if (statement.index >= table_.indexes()) refuse("there is no index " + std::to_string(statement.index));
    if (statement.verb == Statement::Verb::insert) check_row(statement.row, columns_);
    if (statement.verb == Statement::Verb::update) {
      if (statement.column >= columns_) refuse("there is no column " + std::to_string(statement.column));
      if (kTells && statement.column == 0 && statement.more != 0)
        refuse("column 0 is the primary key: delete the row and insert another");
      check_value(statement.more);
    }
    results_[session] = kWaits;
    m_.spawn("session", [this, session, statement] { return run(session, statement); });
    m_.run_on(kUntilQuietNs);
    return results_[session];
  }
  std::string result(std::uint32_t session) const {
    check_session(session);
    return results_[session];
  }

  std::vector<LockRow> locks() const {
    std::vector<LockRow> rows;
    for (const auto& session : sessions_) {
      for (const Lock* lock : session.trx.locks) {
        if (!lock->is_record) {
          rows.push_back({session.trx.number, -1, std::string(names::of(lock->mode)), "", lock->is_waiting});
          continue;
        }
        lock->each_record([&](HeapNo heap_no) { rows.push_back(row_of(*lock, heap_no)); });
      }
    }
    return rows;
  }
  std::vector<WaitRow> waits() const {
    std::vector<WaitRow> rows;
    for (const auto& session : sessions_) {
      const Lock* const waiting = session.trx.wait_lock.load();
      if (waiting == nullptr) continue;
      Looks looks;
      locks_.queues().each_conflicting_ahead(*waiting, looks, [&](const Lock& lock) {
        const WaitRow row{session.trx.number, lock.trx->number};
        const auto at = std::lower_bound(rows.begin(), rows.end(), row);
        if (at == rows.end() || *at != row) rows.insert(at, row);
      });
    }
    return rows;
  }
  std::optional<std::uint32_t> blocker(std::uint32_t session) const {
    check_session(session);
    const Trx& trx = sessions_[session].trx;
    const Trx* const blocking = trx.blocking_trx.load();
    if (trx.wait_lock.load() == nullptr || blocking == nullptr) return std::nullopt;
    return blocking->number;
  }
  std::uint64_t weight(std::uint32_t session) const {
    check_session(session);
    const Trx& trx = sessions_[session].trx;
    return trx.wait_lock.load() == nullptr ? 0 : trx.schedule_weight.load();
  }
  std::vector<RecordRow> records(std::size_t index) const {
    if (index >= table_.indexes()) refuse("there is no index " + std::to_string(index));
    std::vector<RecordRow> rows;
    for (const auto& record : table_.records(index)) rows.push_back({record.key, record.is_deleted});
    return rows;
  }

 private:
  static constexpr const char* kWaits = "waits";

  static LockConfig lock_config(Design design) {
    LockConfig config = config_of(design);
    config.cells = 101;
    config.latching = Latching::one_mutex;
    return config;
  }
  void check_session(std::uint32_t session) const {
    if (session >= sessions_.size()) refuse("there is no session " + std::to_string(session));
  }
  LockRow row_of(const Lock& lock, HeapNo heap_no) const {
    std::string data = "supremum pseudo-record";
    if (heap_no != kSupremum) {
      data.clear();
      if (const auto* record = table_.record(lock.index, heap_no)) {
        for (const Value value : record->key) data += (data.empty() ? "" : ", ") + std::to_string(value);
      }
    }
    return {lock.trx->number, static_cast<std::int32_t>(lock.index),
            lock_mode_text(lock.mode, lock.kind, heap_no), data, lock.is_waiting};
  }

  machine::Task<> run(std::uint32_t number, Statement statement) {
    using Verb = Statement::Verb;
    typename Table::Session& s = sessions_[number];
    Done done = Done::ok;
    const bool ends = statement.verb == Verb::commit || statement.verb == Verb::rollback;
    if (!s.is_open && !ends) co_await table_.begin(m_, s);
    switch (statement.verb) {
      case Verb::commit:
        if (s.is_open) co_await table_.commit(m_, s);
        break;
      case Verb::rollback:
        if (s.is_open) co_await table_.rollback(m_, s);
        break;
      case Verb::insert:
        done = co_await table_.insert(m_, s, statement.row);
        break;
      case Verb::select_for_share:
        done = co_await table_.statement(m_, s, statement.index, statement.range, Mode::s, Does::read, {});
        break;
      case Verb::select_for_update:
        done = co_await table_.statement(m_, s, statement.index, statement.range, Mode::x, Does::read, {});
        break;
      case Verb::update:
        done = co_await table_.statement(m_, s, statement.index, statement.range, Mode::x, Does::update,
                                         std::pair(statement.column, statement.more));
        break;
      case Verb::remove:
        done = co_await table_.statement(m_, s, statement.index, statement.range, Mode::x, Does::remove, {});
        break;
    }
    results_[number] = std::string(names::of(done));
  }

  SimMachine m_;
  Locks locks_;
  Table table_;
  std::size_t columns_;
  std::deque<typename Table::Session> sessions_;
  std::vector<std::string> results_;
};

Playground::Playground(const PlaygroundConfig& config) : inside_(std::make_unique<Inside>(checked(config))) {}
Playground::~Playground() = default;

std::string Playground::execute(std::uint32_t session, const Statement& statement) {
  return inside_->execute(session, statement);
}
std::string Playground::result(std::uint32_t session) const { return inside_->result(session); }
std::vector<LockRow> Playground::locks() const { return inside_->locks(); }
std::vector<WaitRow> Playground::waits() const { return inside_->waits(); }
std::optional<std::uint32_t> Playground::blocker(std::uint32_t session) const {
  return inside_->blocker(session);
}
std::uint64_t Playground::weight(std::uint32_t session) const { return inside_->weight(session); }
std::vector<RecordRow> Playground::records(std::size_t index) const { return inside_->records(index); }

}  // namespace engineroom::lock_sys
