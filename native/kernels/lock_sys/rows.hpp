// Statements over a table: which records they lock, in which order and how, as InnoDB's searches and changes do.
//
// Models      row_search_mvcc with row_compare_row_to_range, row_ins_clust_index_entry, row_ins_sec_index_entry and their
//             checks for duplicates, row_upd, row_undo (5.7.22 and 9.7.4, where they differ by RowDesign)
// Leaves out  purge: what was deleted stays, marked; page splits: each index is one page; consistent reads, which lock nothing;
//             NULL; foreign keys; condition pushdown and multi-range reads
// Cost        each lock as lock_sys.hpp says, and the page's latch around it
//
// A table has columns of integers. Index 0 is the clustered one, over column 0; the others hold their column and column 0.
// A statement that must wait for a record gives back the page, waits, and looks for its place again.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <utility>
#include <vector>

#include "lock_sys/lock_sys.hpp"
#include "sync/rw_latch.hpp"

namespace engineroom::lock_sys {

using Value = std::int64_t;
using Row = std::vector<Value>;

struct IndexDefinition {
  std::size_t column = 0;
  bool is_unique = false;
};

/// In what the versions' statements differ.
struct RowDesign {
  /// The record behind a range of primary keys is locked only as far as the range can reach: the gap in front of it (8.0.18).
  bool knows_end_of_range = true;
  /// What a statement inserted and takes back leaves its lock to the gap (8.0).
  bool undone_insert_keeps_lock = true;
  /// Where an inserted primary key is there already, the gap in front of it is locked, too, at REPEATABLE READ (seen on 5.7.22 and
  /// 8.0.15, not on 9.7.4).
  bool duplicate_locks_gap = false;
  /// Behind the last equal entry of a unique index only the gap is locked, not the next entry (seen on 9.7.4, not on 8.0.15).
  bool spares_next_entry = true;
};

/// On one index: both ends may be open.
struct Range {
  std::optional<Value> low;
  std::optional<Value> high;
  bool has_low = true;  // the bound itself belongs to it
  bool has_high = true;

  bool is_point() const { return low && high && *low == *high && has_low && has_high; }
  bool is_below(Value value) const { return low && (value < *low || (value == *low && !has_low)); }
  bool is_above(Value value) const { return high && (value > *high || (value == *high && !has_high)); }
};

enum class Done : std::uint8_t { ok, duplicate, deadlock, timed_out, stopping };
constexpr auto named(names::Of<Done>) {
  return names::table<Done>("result", {{"ok", Done::ok},
                                       {"duplicate", Done::duplicate},
                                       {"deadlock", Done::deadlock},
                                       {"timed out", Done::timed_out},
                                       {"stopping", Done::stopping}});
}

/// For each row that a statement reads: what it does with it.
enum class Does : std::uint8_t { read, update, remove };

template <Machine M, typename Locks>
class Rows {
 public:
  using T = TrxOn<M>;

  struct Record {
    std::vector<Value> key;  // of a secondary index its column, then column 0
    HeapNo heap_no = 0;
    bool is_deleted = false;
    T* writer = nullptr;  // who changed it last, as which transaction
    std::uint64_t writer_id = 0;
    Row row;                    // in the clustered index
    std::optional<Row> before;  // what was committed when the writer came; nothing: it inserted it
  };
  struct Session {
    Session(M& m, std::uint32_t number) : trx(m, number) {}

    T trx;
    bool is_open = false;
    struct Undo {
      std::size_t index;
      std::vector<Value> key;
      bool inserted;  // else: changed or marked
      Record before;
    };
    std::vector<Undo> undo;
    bool has_gaps() const { return !trx.reads_committed; }
  };

  Rows(M& m, Locks& locks, std::size_t columns, const std::vector<IndexDefinition>& secondary,
       RowDesign design)
      : locks_(locks), columns_(columns), design_(design) {
    pages_.emplace_back(m, IndexDefinition{0, true});
    for (const IndexDefinition& each : secondary) pages_.emplace_back(m, each);
  }

  static constexpr TableId kTable = 1;
  static constexpr PageId page_of(std::size_t index) { return (PageId{kTable} << 32) + 4 + index; }
  std::size_t indexes() const { return pages_.size(); }

  /// Rows that are there from the start.
  void load(const Row& row) {
    for (std::size_t index = 0; index < pages_.size(); ++index) {
      place(index, key_of(index, row), row, nullptr, 0);
    }
  }

  Task<> begin(M& m, Session& s) {
    s.is_open = true;
    s.undo.clear();
    co_await locks_.begin(m, s.trx);
  }
  Task<> commit(M& m, Session& s) {
    s.is_open = false;
    s.undo.clear();
    co_await locks_.release_all(m, s.trx);
  }
  Task<> rollback(M& m, Session& s) {
    co_await undo_to(m, s, 0, false);
    s.is_open = false;
    co_await locks_.release_all(m, s.trx);
  }

  /// Reads the range of an index in its order, locks what it reads, and does with each row what it is to. `set`: column and
  /// what is added to it, for an update.
  Task<Done> statement(M& m, Session& s, std::size_t index, Range range, Mode mode, Does does,
                       std::optional<std::pair<std::size_t, Value>> set) {
    const Done got_table = co_await table_lock(m, s, mode == Mode::s ? Mode::is : Mode::ix);
    if (got_table != Done::ok) co_return got_table;
    const std::size_t undo_before = s.undo.size();
    const Done done = co_await scan(m, s, index, range, mode, does, set);
    if (done == Done::duplicate || done == Done::timed_out) {
      // The statement is taken back, rows before the one that failed too; its locks stay.
      co_await undo_to(m, s, undo_before, true);
    }
    if (done == Done::deadlock) co_await rollback(m, s);
    co_return done;
  }

  Task<Done> insert(M& m, Session& s, Row row) {
    const Done got_table = co_await table_lock(m, s, Mode::ix);
    if (got_table != Done::ok) co_return got_table;
    const std::size_t undo_before = s.undo.size();
    Done done = Done::ok;
    s.trx.inserts = true;
    for (std::size_t index = 0; index < pages_.size() && done == Done::ok; ++index) {
      done = co_await insert_entry(m, s, index, row);
      // The row counts as changed as soon as it is there, before its other entries are.
      if (index == 0 && done == Done::ok) ++s.trx.undo_no;
    }
    s.trx.inserts = false;
    if (done == Done::duplicate || done == Done::timed_out) co_await undo_to(m, s, undo_before, true);
    if (done == Done::deadlock) co_await rollback(m, s);
    co_return done;
  }

  /// The records of an index in their order, for whoever tells what a lock's bit means.
  const std::vector<Record>& records(std::size_t index) const { return pages_[index].records; }
  const Record* record(std::size_t index, HeapNo heap_no) const {
    for (const Record& each : pages_[index].records) {
      if (each.heap_no == heap_no) return &each;
    }
    return nullptr;
  }

 private:
  struct Page {
    Page(M& m, IndexDefinition its) : definition(its), latch(m, "index_page") {}

    IndexDefinition definition;
    sync::RwLatch<M> latch;
    std::vector<Record> records;
    HeapNo next_heap_no = kFirstRecord;
    std::vector<HeapNo> free;
  };

  std::vector<Value> key_of(std::size_t index, const Row& row) const {
    if (index == 0) return {row[0]};
    return {row[pages_[index].definition.column], row[0]};
  }
  static std::size_t lower(const Page& page, const std::vector<Value>& key) {
    const auto at =
        std::lower_bound(page.records.begin(), page.records.end(), key,
                         [](const Record& record, const std::vector<Value>& k) { return record.key < k; });
    return static_cast<std::size_t>(at - page.records.begin());
  }
  Record* find(std::size_t index, const std::vector<Value>& key) {
    Page& page = pages_[index];
    const std::size_t at = lower(page, key);
    return at < page.records.size() && page.records[at].key == key ? &page.records[at] : nullptr;
  }
  HeapNo heap_no_at(const Page& page, std::size_t at) const {
    return at < page.records.size() ? page.records[at].heap_no : kSupremum;
  }
  static std::uint32_t count(const Page& page) { return page.next_heap_no; }
  Request request(std::size_t index, HeapNo heap_no, Mode mode, Kind kind,
                  bool may_stay_implicit = false) const {
    return {.page = page_of(index),
            .index = static_cast<std::uint32_t>(index),
            .heap_no = heap_no,
            .mode = mode,
            .kind = kind,
            .records_on_page = count(pages_[index]),
            .may_stay_implicit = may_stay_implicit};
  }
  Record& place(std::size_t index, std::vector<Value> key, const Row& row, T* writer,
                std::uint64_t writer_id) {
    Page& page = pages_[index];
    HeapNo heap_no = page.next_heap_no;
    if (page.free.empty()) {
      ++page.next_heap_no;
    } else {
      heap_no = page.free.back();
      page.free.pop_back();
    }
    const std::size_t at = lower(page, key);
    return *page.records.insert(page.records.begin() + static_cast<std::ptrdiff_t>(at),
                                Record{.key = std::move(key),
                                       .heap_no = heap_no,
                                       .is_deleted = false,
                                       .writer = writer,
                                       .writer_id = writer_id,
                                       .row = index == 0 ? row : Row{},
                                       .before = {}});
  }

  static Done done_of(Outcome outcome) {
    switch (outcome) {
      case Outcome::granted:
      case Outcome::waits:
        break;
      case Outcome::deadlock:
        return Done::deadlock;
      case Outcome::timed_out:
        return Done::timed_out;
      case Outcome::stopping:
        return Done::stopping;
    }
    return Done::ok;
  }
  Task<Done> table_lock(M& m, Session& s, Mode mode) {
    Outcome outcome = co_await locks_.lock_table(m, s.trx, kTable, mode);
    if (outcome == Outcome::waits) outcome = co_await locks_.wait(m, s.trx);
    co_return done_of(outcome);
  }

  /// Whether somebody else's unfinished transaction changed the record last.
  Task<bool> is_anothers(M& m, Session& s, const Record& record) {
    if (record.writer == nullptr || record.writer == &s.trx) co_return false;
    T& writer = *record.writer;
    const std::uint64_t id = record.writer_id;
    co_await writer.mutex.lock(m);
    const bool is_active = writer.id == id && !writer.is_committed;
    co_await writer.mutex.unlock(m);
    co_return is_active;
  }
  static bool is_own(const Session& s, const Record& record) {
    return record.writer == &s.trx && record.writer_id == s.trx.id;
  }
  /// One record, or the gap in front of it, with the page latched. The lock that its last writer has without an object becomes
  /// one first, also where that is who asks.
  Task<Outcome> ask(M& m, Session& s, std::size_t index, HeapNo heap_no, Mode mode, Kind kind,
                    bool may_stay_implicit) {
    const Record* there = record(index, heap_no);
    // A transaction that marks or revives an entry of a secondary index has changed its row: nobody else has the entry, and the own lock
    // stays without an object.
    if (there != nullptr && !(may_stay_implicit && index != 0)) {
      T* const writer = there->writer;
      const std::uint64_t id = there->writer_id;
      const bool is_taken = co_await is_anothers(m, s, *there);
      if (is_taken || is_own(s, *there)) {
        co_await locks_.make_explicit(m, s.trx, *writer, id,
                                      request(index, heap_no, Mode::x, Kind::rec_not_gap));
      }
    }
    co_return co_await locks_.lock_record(m, s.trx, request(index, heap_no, mode, kind, may_stay_implicit));
  }

  /// What became of one record of a scan.
  struct Locked {
    Done done = Done::ok;
    bool has_waited = false;
    bool is_new = false;  // the lock was not there before
  };
  /// Gives back the page's latch when it waits, and does not take it again.
  Task<Locked> lock_or_wait(M& m, Session& s, std::size_t index, HeapNo heap_no, Mode mode, Kind kind,
                            bool exclusive, bool may_stay_implicit = false) {
    Page& page = pages_[index];
    Locked locked;
    const Record* there = record(index, heap_no);
    const bool held =
        holds(s, index, heap_no, mode, kind) || (there != nullptr && is_own(s, *there));  // without an object
    const Outcome outcome = co_await ask(m, s, index, heap_no, mode, kind, may_stay_implicit);
    locked.is_new = !held;
    if (outcome == Outcome::granted) co_return locked;
    locked.has_waited = true;
    if (exclusive) {
      co_await page.latch.x_unlock(m);
    } else {
      co_await page.latch.s_unlock(m);
    }
    const Outcome end = outcome == Outcome::waits ? co_await locks_.wait(m, s.trx) : outcome;
    locked.done = done_of(end);
    co_return locked;
  }
  bool holds(const Session& s, std::size_t index, HeapNo heap_no, Mode mode, Kind kind) {
    Looks looks;
    return locks_.queues().holds(s.trx, request(index, heap_no, mode, kind), looks);
  }

  /// READ COMMITTED lets go of what does not belong to its result, if this statement locked it.
  Task<> let_go(M& m, Session& s, std::size_t index, HeapNo heap_no, Mode mode, bool is_new) {
    if (s.has_gaps() || !is_new) co_return;
    co_await locks_.unlock_record(m, s.trx, request(index, heap_no, mode, Kind::rec_not_gap));
  }

  Task<Done> scan(M& m, Session& s, std::size_t index, Range range, Mode mode, Does does,
                  std::optional<std::pair<std::size_t, Value>> set) {
    Page& page = pages_[index];
    const bool is_unique = page.definition.is_unique && range.is_point();
    std::vector<Value> from;  // where to go on: at this key, or behind it
    bool is_behind = false;
    bool is_first = true;
    for (;;) {
      co_await page.latch.s_lock(m);
      const std::size_t at = position(page, range, from, is_behind);
      if (at == page.records.size()) {
        if (!s.has_gaps()) {
          co_await page.latch.s_unlock(m);
          co_return Done::ok;
        }
        const Locked locked = co_await lock_or_wait(m, s, index, kSupremum, mode, Kind::next_key, false);
        if (!locked.has_waited) co_await page.latch.s_unlock(m);
        co_return locked.done;
      }
      const Record here = page.records[at];
      const Value value = here.key[0];
      const bool is_beyond = range.is_above(value);
      if (is_beyond && range.is_point()) {
        if (s.has_gaps()) co_await ask(m, s, index, here.heap_no, mode, Kind::gap, false);
        co_await page.latch.s_unlock(m);
        co_return Done::ok;
      }
      Kind kind = Kind::next_key;
      const bool is_exactly_low = index == 0 && is_first && range.low && range.has_low && value == *range.low;
      if (!s.has_gaps() || (is_unique && !here.is_deleted) || is_exactly_low) kind = Kind::rec_not_gap;
      if (is_beyond && index == 0 && design_.knows_end_of_range && s.has_gaps()) {
        // Behind the last value of the range not even the gap can hold a row of it.
        const bool has_reached_end = range.has_high && from == std::vector<Value>{*range.high};
        if (!has_reached_end) co_await ask(m, s, index, here.heap_no, mode, Kind::gap, false);
        co_await page.latch.s_unlock(m);
        co_return Done::ok;
      }
      if (may_read_before(s, index, is_unique, does)) {
        const bool is_taken = co_await would_wait(m, s, index, here, mode);
        const bool is_changed = co_await is_anothers(m, s, here);
        const bool was_there = is_changed ? here.before.has_value() : !here.is_deleted;
        if (is_taken && (is_beyond || !was_there)) {
          if (is_changed) {
            // It asked for the lock and took that back, so that the other's lock has its object.
            co_await locks_.make_explicit(m, s.trx, *here.writer, here.writer_id,
                                          request(index, here.heap_no, Mode::x, Kind::rec_not_gap));
          }
          co_await page.latch.s_unlock(m);
          if (is_beyond) co_return Done::ok;
          from = here.key;
          is_behind = true;
          is_first = false;
          continue;
        }
      }
      const Locked locked = co_await lock_or_wait(m, s, index, here.heap_no, mode, kind, false);
      if (locked.done != Done::ok) co_return locked.done;
      if (locked.has_waited) {
        from = here.key;
        is_behind = false;
        continue;
      }
      // Not the one that was waited for: the server does not know any more that it is new.
      const bool is_new = locked.is_new;
      is_first = false;
      from = here.key;
      is_behind = true;
      if (here.is_deleted) {
        co_await let_go(m, s, index, here.heap_no, mode, is_new);
        co_await page.latch.s_unlock(m);
        if (index == 0 && is_unique) co_return Done::ok;
        continue;
      }
      co_await page.latch.s_unlock(m);
      const std::vector<Value> primary{here.key.back()};
      bool is_row_new = false;
      HeapNo row_heap_no = here.heap_no;
      if (index != 0) {
        const Locked row = co_await lock_row(m, s, primary, mode);
        if (row.done != Done::ok) co_return row.done;
        is_row_new = row.is_new;
        const Record* found = find(0, primary);
        row_heap_no = found == nullptr ? 0 : found->heap_no;
      }
      if (is_beyond) {
        if (index != 0 && row_heap_no != 0) co_await let_go(m, s, 0, row_heap_no, mode, is_row_new);
        co_await let_go(m, s, index, here.heap_no, mode, is_new);
        co_return Done::ok;
      }
      const Done done = co_await act(m, s, primary, does, set);
      if (done != Done::ok) co_return done;
      if (is_unique) co_return Done::ok;
    }
  }
  std::size_t position(const Page& page, const Range& range, const std::vector<Value>& from,
                       bool is_behind) const {
    for (std::size_t at = 0; at < page.records.size(); ++at) {
      const Record& each = page.records[at];
      if (range.is_below(each.key[0])) continue;
      if (!from.empty() && (is_behind ? each.key <= from : each.key < from)) continue;
      return at;
    }
    return page.records.size();
  }
  /// READ COMMITTED looks, in a scan of the rows for an update, at what was committed before it waits.
  static bool may_read_before(const Session& s, std::size_t index, bool is_unique, Does does) {
    return !s.has_gaps() && index == 0 && !is_unique && does == Does::update;
  }
  Task<bool> would_wait(M& m, Session& s, std::size_t index, const Record& here, Mode mode) {
    const bool is_taken = co_await is_anothers(m, s, here);
    if (is_taken) co_return true;
    Looks looks;
    co_return locks_.queues().conflicting(s.trx, request(index, here.heap_no, mode, Kind::rec_not_gap),
                                          looks) != nullptr;
  }

  /// The row behind a secondary index's entry.
  Task<Locked> lock_row(M& m, Session& s, const std::vector<Value>& primary, Mode mode) {
    for (;;) {
      co_await pages_[0].latch.s_lock(m);
      const Record* row = find(0, primary);
      if (row == nullptr) {
        co_await pages_[0].latch.s_unlock(m);
        co_return Locked{};
      }
      const Locked locked = co_await lock_or_wait(m, s, 0, row->heap_no, mode, Kind::rec_not_gap, false);
      if (locked.done != Done::ok) co_return locked;
      if (locked.has_waited) continue;
      co_await pages_[0].latch.s_unlock(m);
      co_return locked;
    }
  }

  // Changes.

  Task<Done> act(M& m, Session& s, const std::vector<Value>& primary, Does does,
                 std::optional<std::pair<std::size_t, Value>> set) {
    if (does == Does::read) co_return Done::ok;
    Record* row = find(0, primary);
    if (row == nullptr || row->is_deleted) co_return Done::ok;
    const Row old = row->row;
    Row now = old;
    if (does == Does::update && set) now[set->first] += set->second;
    co_await pages_[0].latch.x_lock(m);
    row = find(0, primary);
    change(s, 0, *row);
    row->is_deleted = does == Does::remove;
    row->row = now;
    co_await pages_[0].latch.x_unlock(m);
    ++s.trx.undo_no;
    for (std::size_t index = 1; index < pages_.size(); ++index) {
      if (does != Does::remove && key_of(index, old) == key_of(index, now)) continue;
      const Done marked = co_await mark_entry(m, s, index, key_of(index, old));
      if (marked != Done::ok) co_return marked;
      if (does == Does::remove) continue;
      const Done inserted = co_await insert_entry(m, s, index, now);
      if (inserted != Done::ok) co_return inserted;
    }
    co_return Done::ok;
  }
  /// The record is the session's to change.
  void change(Session& s, std::size_t index, Record& record) {
    s.undo.push_back({index, record.key, false, record});
    if (!is_own(s, record)) record.before = record.row;
    record.writer = &s.trx;
    record.writer_id = s.trx.id;
  }
  /// An entry of a secondary index is marked as deleted.
  Task<Done> mark_entry(M& m, Session& s, std::size_t index, const std::vector<Value>& key) {
    for (;;) {
      co_await pages_[index].latch.x_lock(m);
      const Record* entry = find(index, key);
      const Locked locked =
          co_await lock_or_wait(m, s, index, entry->heap_no, Mode::x, Kind::rec_not_gap, true, true);
      if (locked.done != Done::ok) co_return locked.done;
      if (locked.has_waited) continue;
      Record& mine = *find(index, key);
      change(s, index, mine);
      mine.is_deleted = true;
      co_await pages_[index].latch.x_unlock(m);
      co_return Done::ok;
    }
  }

  Task<Done> insert_entry(M& m, Session& s, std::size_t index, const Row& row) {
    Page& page = pages_[index];
    const std::vector<Value> key = key_of(index, row);
    for (;;) {
      co_await page.latch.x_lock(m);
      if (page.definition.is_unique) {
        const Locked checked = co_await check_duplicate(m, s, index, key);
        if (checked.done != Done::ok) co_return checked.done;
        if (checked.has_waited) continue;
      }
      if (Record* same = find(index, key)) {
        // One that was deleted comes back to life.
        const Locked locked =
            co_await lock_or_wait(m, s, index, same->heap_no, Mode::x, Kind::rec_not_gap, true, true);
        if (locked.done != Done::ok) co_return locked.done;
        if (locked.has_waited) continue;
        Record& mine = *find(index, key);
        change(s, index, mine);
        mine.is_deleted = false;
        if (index == 0) mine.row = row;
        co_await page.latch.x_unlock(m);
        co_return Done::ok;
      }
      const HeapNo next = heap_no_at(page, lower(page, key));
      const Outcome outcome =
          co_await locks_.lock_to_insert(m, s.trx, request(index, next, Mode::x, Kind::insert_intention));
      if (outcome != Outcome::granted) {
        co_await page.latch.x_unlock(m);
        const Outcome end = outcome == Outcome::waits ? co_await locks_.wait(m, s.trx) : outcome;
        if (end != Outcome::granted) co_return done_of(end);
        continue;
      }
      const HeapNo heap_no = place(index, key, row, &s.trx, s.trx.id).heap_no;
      s.undo.push_back({index, key, true, {}});
      co_await locks_.inherit_on_insert(m, s.trx, page_of(index), heap_no, next, count(page));
      co_await page.latch.x_unlock(m);
      co_return Done::ok;
    }
  }
  /// With the page latched, which it gives back when it waits or finds a duplicate. A statement that finds one keeps it locked: it must not
  /// go away unseen.
  Task<Locked> check_duplicate(M& m, Session& s, std::size_t index, const std::vector<Value>& key) {
    Page& page = pages_[index];
    const auto is_same = [&](const Record& record) { return record.key[0] == key[0]; };
    std::size_t at = lower(page, {key[0]});
    if (at == page.records.size() || !is_same(page.records[at])) co_return Locked{};
    const bool locks_gap = index != 0 || (design_.duplicate_locks_gap && s.has_gaps());
    const Kind kind = locks_gap ? Kind::next_key : Kind::rec_not_gap;
    for (;; ++at) {
      const HeapNo heap_no = heap_no_at(page, at);
      const bool is_behind = at >= page.records.size() || !is_same(page.records[at]);
      const bool is_gap = is_behind && design_.spares_next_entry && heap_no != kSupremum;
      const Locked locked =
          co_await lock_or_wait(m, s, index, heap_no, Mode::s, is_gap ? Kind::gap : kind, true);
      if (locked.done != Done::ok || locked.has_waited) co_return locked;
      if (is_behind) break;
      if (!page.records[at].is_deleted) {
        co_await page.latch.x_unlock(m);
        co_return Locked{.done = Done::duplicate};
      }
      if (index == 0) break;
    }
    co_return Locked{};
  }

  /// Takes back what was done since, newest first; `goes_on`: the transaction has still to keep others from what it saw.
  Task<> undo_to(M& m, Session& s, std::size_t until, bool goes_on) {
    while (s.undo.size() > until) {
      const typename Session::Undo last = s.undo.back();
      s.undo.pop_back();
      if (last.index == 0) --s.trx.undo_no;
      Page& page = pages_[last.index];
      co_await page.latch.x_lock(m);
      Record* record = find(last.index, last.key);
      if (last.inserted) {
        const HeapNo gone = record->heap_no;
        if (design_.undone_insert_keeps_lock && goes_on) {
          co_await locks_.make_explicit(m, s.trx, s.trx, s.trx.id,
                                        request(last.index, gone, Mode::x, Kind::rec_not_gap));
        }
        const std::size_t at = lower(page, last.key);
        page.records.erase(page.records.begin() + static_cast<std::ptrdiff_t>(at));
        page.free.push_back(gone);
        co_await locks_.inherit_on_delete(m, s.trx, page_of(last.index), gone, heap_no_at(page, at),
                                          count(page));
      } else {
        const HeapNo heap_no = record->heap_no;
        *record = last.before;
        record->heap_no = heap_no;
      }
      co_await page.latch.x_unlock(m);
    }
  }

  Locks& locks_;
  std::size_t columns_;
  RowDesign design_;
  std::deque<Page> pages_;
};

}  // namespace engineroom::lock_sys
