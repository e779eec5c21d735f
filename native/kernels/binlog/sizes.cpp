#include "binlog/sizes.hpp"

#include <algorithm>
#include <utility>

namespace engineroom::binlog {

namespace {

constexpr std::size_t kPiece = 16U << 20;
constexpr std::size_t kMostRowsBytes = 8192;  // binlog_row_event_max_size
constexpr std::size_t kFlagsAt = kHeaderBytes + 6;
constexpr std::size_t kShown = 5;
constexpr std::size_t kMostMinutes =
    1'000'000;  // a file of two years; the times of a damaged one are anything

/// The text of a Query event.
std::string_view statement(const Event& event) {
  Cursor cursor(event.body, event.position);
  const char* const what = "a statement";
  cursor.take(8, what);
  const std::uint64_t database = cursor.little(1, what);
  cursor.take(2, what);
  cursor.take(cursor.little(2, what), what);
  cursor.take(database + 1, what);
  const Span text = cursor.take(cursor.left(), what);
  return {reinterpret_cast<const char*>(text.data()), text.size()};
}

std::size_t packed_size(std::uint8_t first) {
  return first < 251 ? 1 : first == 252 ? 3 : first == 253 ? 4 : 9;
}

/// Bytes of the packed length of its transaction in a GTID event; 0 where it has none, as before 8.0.
std::size_t packed_length_of(const Event& event) {
  constexpr std::size_t kTimesAt = 42;
  if (event.body.size() <= kTimesAt + 7) return 0;
  const bool has_original = (event.body[kTimesAt + 6] & 0x80) != 0;
  const std::size_t at = kTimesAt + (has_original ? 14 : 7);
  return at < event.body.size() ? packed_size(event.body[at]) : 0;
}

void put_inner(Buffer& out, Span event) {
  const std::size_t begin = out.size();
  out.put(event);
  Buffer::store_little(out.data() + begin + 9, event.size(), 4);
  Buffer::store_little(out.data() + begin + 13, 0, 4);
}

/// Keeps the first few by what `of` says, the most first.
template <typename Of>
void offer(std::vector<Transaction>& most, const Transaction& one, const Of& of) {
  if (most.size() == kShown && of(one) <= of(most.back())) return;
  if (most.size() == kShown) most.pop_back();
  most.insert(std::ranges::find_if(most, [&](const Transaction& other) { return of(other) < of(one); }), one);
}

}  // namespace

std::vector<const TableSizes*> Sizes::tables() const {
  std::vector<const TableSizes*> all;
  for (const auto& [name, sizes] : tables_) all.push_back(&sizes);
  return all;
}

TableSizes& Sizes::sizes_of(const MappedTable& table) {
  if (const auto found = by_serial_.find(table.serial); found != by_serial_.end()) return *found->second;
  if (by_serial_.size() >= 4096) by_serial_.clear();
  const std::string name = table.database + "." + table.name;
  // A table whose columns have changed counts as another one.
  std::string identity = name + '\0';
  for (const Column& column : table.columns) identity += describe(column) + '\0';
  const auto [found, is_new] = tables_.try_emplace(std::move(identity));
  TableSizes& sizes = found->second;
  by_serial_[table.serial] = &sizes;
  if (!is_new) return sizes;
  const std::size_t n = table.columns.size();
  sizes.name = name;
  sizes.of_columns.resize(n);
  for (std::size_t i = 0; i < n; ++i) {
    std::string number("@");  // as mysqlbinlog calls a column without a name
    number += std::to_string(i + 1);
    sizes.columns.push_back(table.names.empty() ? number : table.names[i]);
    sizes.types.push_back(describe(table.columns[i]));
  }
  if (const auto given = keys_.find(name); given != keys_.end()) {
    sizes.key_from = TableSizes::KeyFrom::given;
    for (const std::size_t i : given->second) {
      if (i < n) sizes.key.push_back(i);
    }
  } else if (!table.key.empty()) {
    sizes.key_from = TableSizes::KeyFrom::logged;
    sizes.key = table.key;
  } else if (n > 0) {
    sizes.key = {0};
  }
  return sizes;
}

void Sizes::add(const Event& event) {
  if (event.kind() == EventType::format_description) {
    known_.clear();
    // An inner event gets a checksum when it is written by itself.
    has_checksums_ = event.has_checksum;
  }
  if (!event.is_inner) {
    Count& count = in_file_[event.type];
    ++count.events;
    count.bytes += event.bytes;
  }
  const std::string_view text = event.kind() == EventType::query ? statement(event) : std::string_view();
  if (is_gtid(event) || (text == "BEGIN" && !group_.is_fresh)) begin_group(event);
  if (!event.is_inner) group_.bytes += event.bytes;
  if (event.timestamp > 0) {
    if (group_.begin_s == 0 || (event.timestamp < group_.begin_s && !is_gtid(event)))
      group_.begin_s = event.timestamp;
    group_.last_s = std::max(group_.last_s, event.timestamp);
  }
  if (event.is_packed) return;
  const std::uint64_t logical = event.bytes + (event.is_inner && has_checksums_ ? kChecksumBytes : 0);
  Count& count = uncompressed_[event.type];
  ++count.events;
  count.bytes += logical;

  Span minimal = event.all;
  rewritten_rows_at_ = 0;
  if (!is_rows_event(event.type)) let_go();
  switch (event.kind()) {
    case EventType::maria_gtid:
      if (!event.is_mariadb) break;
      // It stands for BEGIN, and no server of MariaDB compresses transactions.
      is_open_ = !read_gtid(event).is_alone;
      is_compressible_ = false;
      group_.has_begun = is_open_;
      break;
    case EventType::tagged_gtid:
      gtid_packed_ = 0;
      gtid_bytes_ = 0;
      return;
    case EventType::gtid:
    case EventType::anonymous_gtid:
      gtid_packed_ = packed_length_of(event);
      gtid_bytes_ = gtid_packed_ == 0 ? 0 : event.bytes - gtid_packed_;
      return;
    case EventType::query: {
      if (text == "BEGIN") {
        group_.has_begun = true;
        group_.is_fresh = false;
        is_open_ = true;
        is_compressible_ = true;
      } else if (text == "COMMIT") {
        in_transaction(event, minimal, logical, 0);
        close(false);
        return end_group();
      } else {
        is_compressible_ = false;
      }
      break;
    }
    case EventType::table_map: {
      TableSizes& sizes = sizes_of(known_.map(event));
      ++sizes.maps.events;
      sizes.maps.bytes += logical;
      break;
    }
    default:
      if (is_rows_event(event.type)) minimal = rows(event, logical);
      break;
  }
  if (rewritten_rows_at_ == 0) {
    let_go();
    in_transaction(event, minimal, logical, event.all.size() - minimal.size());
  }
  if (event.kind() == EventType::xid) {
    close(is_compressible_);
    end_group();
  }
}

void Sizes::begin_group(const Event& event) {
  let_go();
  if (is_open_) close(false);
  end_group();
  group_.position = event.position;
  if (!is_gtid(event)) return;
  ReadGtid gtid = read_gtid(event);
  group_.gtid = std::move(gtid.text);
  group_.commit_us = gtid.commit_us;
  group_.is_fresh = true;
}

void Sizes::end_group() {
  const std::uint32_t minute = group_.last_s / 60;
  if (group_.bytes > 0 && minute > 0 && (minutes_.size() < kMostMinutes || minutes_.contains(minute))) {
    Minute& in = minutes_[minute];
    in.bytes += group_.bytes;
    in.transactions += group_.has_begun ? 1 : 0;
  }
  if (group_.has_begun || group_.rows > 0) {
    const double end =
        std::max(static_cast<double>(group_.last_s), static_cast<double>(group_.commit_us) / 1e6);
    group_.seconds = std::max(0.0, end - group_.begin_s);
    offer(largest_, group_, [](const Transaction& one) { return one.bytes; });
    offer(longest_, group_, [](const Transaction& one) { return one.seconds; });
  }
  group_ = {};
}

/// Takes a rewritten event, which continues the one that is held if both are of one statement. How many bytes were saved.
std::uint64_t Sizes::hold(const Event& event, Span minimal, std::uint64_t logical) {
  const std::size_t rows_at = rewritten_rows_at_;
  const std::size_t bytes = minimal.size() - rows_at;
  const auto same = [&](std::size_t from, std::size_t to) {
    return std::ranges::equal(held_.span().subspan(from, to - from), minimal.subspan(from, to - from));
  };
  const bool is_continued = held_.size() > 0 && held_rows_at_ == rows_at && held_.data()[4] == event.type &&
                            (held_.data()[kFlagsAt] & kEndOfStatement) == 0 &&
                            held_.size() - kHeaderBytes + bytes <= kMostRowsBytes &&
                            same(kHeaderBytes, kFlagsAt) && same(kFlagsAt + 2, rows_at);
  if (is_continued) {
    std::copy_n(minimal.data() + kFlagsAt, 2, held_.data() + kFlagsAt);
    held_.put(minimal.subspan(rows_at));
    return logical - bytes;
  }
  let_go();
  held_.put(minimal);
  held_rows_at_ = rows_at;
  return event.all.size() - minimal.size();
}

void Sizes::let_go() {
  if (held_.size() == 0) return;
  if (take_ && is_open_ && is_compressible_) {
    ++open_minimal_events_;
    put_inner(units_.minimal, held_.span());
  }
  held_.clear();
}

void Sizes::in_transaction(const Event& event, Span minimal, std::uint64_t logical, std::uint64_t saved) {
  if (!is_open_) {
    saved_outside_ += saved;
    return;
  }
  open_bytes_ += logical;
  open_saved_ += saved;
  if (!take_ || !is_compressible_) return;
  ++open_events_;
  put_inner(units_.full, event.all);
  if (rewritten_rows_at_ == 0) {
    ++open_minimal_events_;
    put_inner(units_.minimal, minimal);
  }
  if (units_.full.size() - full_at_ >= kPiece) {
    let_go();
    units_.units.push_back({units_.full.size() - full_at_, units_.minimal.size() - minimal_at_, open_events_,
                            open_minimal_events_, gtid_bytes_});
    gtid_bytes_ = 0;
    open_events_ = 0;
    open_minimal_events_ = 0;
    is_handed_over_ = true;
    hand_over();
  }
}

void Sizes::close(bool is_compressible) {
  is_open_ = false;
  ++transactions_;
  if (is_compressible || is_handed_over_) {
    unit_bytes_ += open_bytes_;
    packed_length_bytes_ += gtid_packed_;
    if (take_ && units_.full.size() > full_at_) {
      units_.units.push_back({units_.full.size() - full_at_, units_.minimal.size() - minimal_at_,
                              open_events_, open_minimal_events_, gtid_bytes_});
    }
  } else {
    saved_outside_ += open_saved_;
    units_.full.cut(full_at_);
    units_.minimal.cut(minimal_at_);
  }
  full_at_ = units_.full.size();
  minimal_at_ = units_.minimal.size();
  open_bytes_ = 0;
  open_saved_ = 0;
  open_events_ = 0;
  open_minimal_events_ = 0;
  gtid_bytes_ = 0;
  gtid_packed_ = 0;
  is_handed_over_ = false;
  if (units_.full.size() >= kPiece) hand_over();
}

void Sizes::hand_over() {
  if (take_ && !units_.units.empty()) take_(units_);
  units_.full.clear();
  units_.minimal.clear();
  units_.units.clear();
  full_at_ = 0;
  minimal_at_ = 0;
}

void Sizes::end() {
  let_go();
  if (is_open_) close(false);
  end_group();
  hand_over();
}

template <typename Visit>
void Sizes::each_change(const Event& event, const MappedTable& table, const RowsEvent& rows,
                        const Visit& visit) {
  const auto read = [&](Cursor& cursor, const Columns& in, std::vector<Value>& values, Span json_diffs) {
    values.assign(table.columns.size(), {});
    read_image(
        cursor, table, in,
        [&](std::size_t i, const Column& column, const Span* value) {
          const std::size_t prefix = length_bytes(column);
          values[i].is_in = true;
          values[i].is_diff = column.type != table.columns[i].type;
          values[i].is_null = value == nullptr;
          if (value != nullptr) values[i].bytes = {value->data() - prefix, value->size() + prefix};
        },
        json_diffs);
  };
  Cursor cursor(rows.rows, event.position);
  while (!cursor.at_end()) {
    const std::size_t at = cursor.offset();
    if (rows.change != RowChange::insert) read(cursor, rows.before, change_.before, {});
    if (rows.change != RowChange::remove) {
      const Span json_diffs = read_json_diffs(cursor, rows, table);
      read(cursor, rows.after, change_.after, json_diffs);
    }
    if (cursor.offset() == at) damaged(event.position, "an image without columns has bytes");
    visit(change_);
  }
}

Span Sizes::rows(const Event& event, std::uint64_t logical) {
  const MappedTable& table = known_.of(event);
  const RowsEvent rows = read_rows_event(event, table);
  TableSizes& sizes = sizes_of(table);
  const std::size_t n = table.columns.size();
  ChangeSizes& of_kind = sizes.changes[static_cast<std::size_t>(rows.change)];
  ++of_kind.events;
  of_kind.bytes += logical;
  Columns changed(n);
  each_change(event, table, rows, [&](const Change& change) {
    ++of_kind.rows;
    ++group_.rows;
    for (std::size_t i = 0; i < n; ++i) {
      ColumnSizes& column = sizes.of_columns[i];
      if (rows.change != RowChange::insert) column.before_bytes += change.before[i].bytes.size();
      if (rows.change == RowChange::remove) continue;
      const Value& after = change.after[i];
      column.after_bytes += after.bytes.size();
      if (rows.change == RowChange::insert || !after.is_in) continue;
      const Value& before = change.before[i];
      if (after.is_diff) {
        constexpr std::size_t kLengthBytes = 4;
        if (after.bytes.size() > kLengthBytes) {
          changed.add(i);
        } else {
          column.unchanged_bytes += after.bytes.size();
        }
      } else if (before.is_in && before.is_null == after.is_null &&
                 std::ranges::equal(before.bytes, after.bytes)) {
        column.unchanged_bytes += after.bytes.size();
      } else {
        changed.add(i);
      }
    }
  });
  Span minimal = event.all;
  std::uint64_t saved = 0;
  if (rows.change != RowChange::insert) {
    Columns key(n);
    for (const std::size_t i : sizes.key) {
      if (rows.before.has(i)) key.add(i);
    }
    minimal = rewritten(event, table, rows, key.count() == 0 ? rows.before : key, changed);
    // An event that is minimal already may lack what is assumed to be its key.
    if (minimal.size() > event.all.size()) {
      minimal = event.all;
      rewritten_rows_at_ = 0;
    } else {
      saved = hold(event, minimal, logical);
      in_transaction(event, minimal, logical, saved);
    }
  }
  of_kind.minimal_bytes += logical - saved;
  return minimal;
}

Span Sizes::rewritten(const Event& event, const MappedTable& table, const RowsEvent& rows, const Columns& key,
                      const Columns& changed) {
  rewritten_.clear();
  rewritten_.put(event.all.first(rows.bitmaps_at));
  rewritten_.put(key.bytes());
  if (rows.change == RowChange::update) rewritten_.put(changed.bytes());
  rewritten_rows_at_ = rewritten_.size();
  // Which JSON columns of the table have diffs, if one in the image has.
  const auto put_json_diffs = [&](const std::vector<Value>& values) {
    bool has_diff = false;
    std::size_t n_json = 0;
    for (std::size_t i = 0; i < values.size(); ++i) {
      n_json += table.columns[i].type == Type::json ? 1 : 0;
      has_diff = has_diff || (values[i].is_diff && changed.has(i));
    }
    rewritten_.little(has_diff ? 1 : 0, 1);
    if (!has_diff) return;
    Columns diffs(n_json);
    std::size_t nth = 0;
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (table.columns[i].type != Type::json) continue;
      if (values[i].is_diff && changed.has(i)) diffs.add(nth);
      ++nth;
    }
    rewritten_.put(diffs.bytes());
  };
  const auto put_image = [&](const std::vector<Value>& values, const Columns& in) {
    const std::size_t nulls_at = rewritten_.size();
    const std::size_t null_bytes = bitmap_bytes(in.count());
    std::memset(rewritten_.grow(null_bytes), 0, null_bytes);
    std::size_t nth = 0;
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (!in.has(i)) continue;
      if (values[i].is_null) {
        std::uint8_t& byte = rewritten_.data()[nulls_at + nth / 8];
        byte = static_cast<std::uint8_t>(byte | 1U << nth % 8);
      }
      rewritten_.put(values[i].bytes);
      ++nth;
    }
  };
  each_change(event, table, rows, [&](const Change& change) {
    put_image(change.before, key);
    if (rows.is_partial) put_json_diffs(change.after);
    if (rows.change == RowChange::update) put_image(change.after, changed);
  });
  return rewritten_.span();
}

}  // namespace engineroom::binlog
