// What a transaction leaves in the two logs, in real bytes: its state in the redo of its undo header, its events in the binlog.
//
// Models      trx_undo_set_state_at_prepare, trx_undo_set_state_at_finish; the events of one UPDATE of SysBench's table by its
//             key, with full row images and checksums
// Leaves out  pages: a record says state and XID, whatever lies on the page; GTIDs are written in every design, 5.6 writes none
//             by default
// Cost        about a microsecond per transaction on the host, in no virtual time
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "binlog/writer.hpp"
#include "common/names.hpp"
#include "redo_log/mtr.hpp"

namespace engineroom::group_commit {

enum class State : std::uint8_t { absent, active, prepared, committed };
constexpr auto named(names::Of<State>) { return names::as_written<State::committed>("state"); }

/// The record group of a mini-transaction that leaves transaction `xid` in `state`: of about so many bytes, at least 18.
std::span<const std::byte> redo_of(redo_log::Mtr& mtr, State state, std::uint64_t xid, std::size_t bytes);

/// The state in which each transaction of these groups is left.
class States {
 public:
  void add(std::span<const std::byte> group);
  State of(std::uint64_t xid) const;

 private:
  std::map<std::uint64_t, State> states_;
};

/// The events of a file and of a transaction.
class Events {
 public:
  explicit Events(std::uint64_t changed_rows);

  /// What a new file begins with. It says that the file is in use.
  void begin_file(binlog::Buffer& out) const;
  /// GTID, BEGIN, table map, rows, XID, as the server that is `position` bytes into the file appends them.
  void append(binlog::Buffer& out, std::uint64_t position, std::uint64_t gtid, std::uint64_t xid) const {
    append(out, position, gtid, xid, rows_);
  }
  /// With so many rows, not those that all others have.
  void append(binlog::Buffer& out, std::uint64_t position, std::uint64_t gtid, std::uint64_t xid,
              std::uint64_t changed_rows) const;
  /// The last event of a file that is full.
  void end_file(binlog::Buffer& out, std::uint64_t position) const;

  /// Where a file says that it is in use.
  static constexpr std::uint64_t kInUseAt = binlog::kFirstEvent + 17;

 private:
  void append(binlog::Buffer& out, std::uint64_t position, std::uint64_t gtid, std::uint64_t xid,
              const binlog::PackedRows& rows) const;
  binlog::PackedRows packed(std::uint64_t changed_rows) const;

  binlog::Table table_;
  std::vector<std::uint8_t> map_;
  binlog::PackedRows rows_;
  binlog::Images images_;
};

}  // namespace engineroom::group_commit
