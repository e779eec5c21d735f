#include "group_commit/records.hpp"

#include <algorithm>
#include <array>

namespace engineroom::group_commit {

namespace {

constexpr std::uint32_t kUndoPages = 1U << 20;
constexpr std::size_t kStateBytes = 9;  // the state and the XID
constexpr std::uint32_t kServerVersion = 90704;
constexpr std::uint8_t kInUse = 1;
constexpr auto kText = [] {
  std::array<char, 119> text{};
  text.fill('c');
  return text;
}();

}  // namespace

std::span<const std::byte> redo_of(redo_log::Mtr& mtr, State state, std::uint64_t xid, std::size_t bytes) {
  static constexpr std::array<std::byte, redo_log::kPageBytes> kZeroes{};
  mtr.clear();
  std::array<std::byte, kStateBytes> said{};
  said[0] = static_cast<std::byte>(state);
  for (std::size_t i = 0; i < 8; ++i) said[1 + i] = static_cast<std::byte>(xid >> (8 * i));
  mtr.write(static_cast<std::uint32_t>(kUndoPages + xid % kUndoPages), 0, said);
  std::size_t left = bytes - std::min(bytes, redo_log::kRecordHeaderBytes + kStateBytes);
  // A second record needs a header and the byte that ends a group of several.
  while (left > redo_log::kRecordHeaderBytes + 1) {
    const std::size_t filled = std::min(left - redo_log::kRecordHeaderBytes - 1, kZeroes.size());
    mtr.write(static_cast<std::uint32_t>(xid % kUndoPages), 0, std::span(kZeroes).first(filled));
    left -= filled + redo_log::kRecordHeaderBytes;
  }
  return mtr.finish();
}

void States::add(std::span<const std::byte> group) {
  const redo_log::ParsedGroup parsed = redo_log::parse_group(group);
  if (parsed.records.empty() || parsed.records[0].page < kUndoPages) return;
  const std::span<const std::byte> said = parsed.records[0].bytes;
  std::uint64_t xid = 0;
  for (std::size_t i = 0; i < 8; ++i) xid |= std::to_integer<std::uint64_t>(said[1 + i]) << (8 * i);
  states_[xid] = static_cast<State>(said[0]);
}

State States::of(std::uint64_t xid) const {
  const auto found = states_.find(xid);
  return found == states_.end() ? State::absent : found->second;
}

Events::Events(std::uint64_t changed_rows) {
  table_ = {.id = 100,
            .database = "sbtest",
            .name = "sbtest1",
            .columns = {binlog::declared("int not null"), binlog::declared("int not null"),
                        binlog::declared("varchar(120) character set latin1 not null"),
                        binlog::declared("varchar(60) character set latin1 not null")}};
  map_ = binlog::table_map_body(table_);
  rows_ = packed(changed_rows);
  images_ = {.before = binlog::all_columns(table_.columns.size()),
             .after = binlog::all_columns(table_.columns.size())};
}

binlog::PackedRows Events::packed(std::uint64_t changed_rows) const {
  constexpr std::string_view kLong(kText.data(), kText.size());
  const std::vector<binlog::Value> values = {std::int64_t{1}, std::int64_t{2}, kLong, kLong.substr(0, 59)};
  binlog::PackedRows rows;
  for (std::uint64_t i = 0; i < changed_rows; ++i) rows.add(table_.columns, values);
  return rows;
}

void Events::begin_file(binlog::Buffer& out) const {
  out.put(binlog::Span(binlog::kMagic));
  binlog::Writer writer(out, binlog::kFirstEvent, true);
  const std::size_t at = out.size() - binlog::kMagic.size();
  writer.format_description("9.7.4", 0, 0);
  // The checksum is taken without the flag, which is cleared when the file is closed.
  out.data()[at + kInUseAt] = kInUse;
  writer.previous_gtids({});
}

void Events::append(binlog::Buffer& out, std::uint64_t position, std::uint64_t gtid, std::uint64_t xid,
                    std::uint64_t changed_rows) const {
  if (changed_rows == rows_.size()) return append(out, position, gtid, xid, rows_);
  append(out, position, gtid, xid, packed(changed_rows));
}

void Events::append(binlog::Buffer& out, std::uint64_t position, std::uint64_t gtid, std::uint64_t xid,
                    const binlog::PackedRows& rows) const {
  binlog::Writer writer(out, position, true);
  writer.gtid({.number = static_cast<std::int64_t>(gtid),
               .last_committed = static_cast<std::int64_t>(gtid) - 1,
               .sequence_number = static_cast<std::int64_t>(gtid),
               .server_version = kServerVersion});
  binlog::Session session{.thread_id = 1, .database = table_.database};
  writer.begin(session);
  writer.table_map(map_);
  writer.rows(table_, binlog::RowChange::update, images_, rows, rows, binlog::kEndOfStatement);
  writer.xid(xid);
}

void Events::end_file(binlog::Buffer& out, std::uint64_t position) const {
  binlog::Writer(out, position, true).rotate("binlog.next", binlog::kFirstEvent);
}

}  // namespace engineroom::group_commit
