// What a server finds behind a crash, and what becomes of each transaction.
//
// Models      MYSQL_BIN_LOG::open and recover, innobase_xa_recover: the last file is scanned unless it was closed, what the
//             engine has prepared is committed if its XID is there and rolled back if not
// Leaves out  undoing the changes; cutting the file behind its last whole transaction, whose position is found; a scan checks
//             every event's checksum
// Cost        one pass over both logs
#pragma once

#include <cstddef>
#include <cstdint>
#include <set>
#include <span>
#include <vector>

#include "group_commit/records.hpp"

namespace engineroom::group_commit {

struct BinlogFile {
  bool has_header = false;           // else the file is not there yet
  bool is_in_use = false;            // nobody has closed it
  std::uint64_t end = 0;             // behind the last whole transaction: the rest is cut off
  std::vector<std::uint64_t> xids;   // of whole transactions, in order
  std::vector<std::uint64_t> gtids;  // the same
};

/// Reads up to the first damage.
BinlogFile read_binlog(std::span<const std::byte> file);

struct Recovered {
  std::uint64_t redo_end = 0;  // LSN behind the last whole group
  States states;
  std::size_t last = 0;             // which binlog file was read
  std::set<std::uint64_t> decided;  // XIDs that the binlog says to commit

  bool is_committed(std::uint64_t xid) const {
    const State state = states.of(xid);
    return state == State::committed || (state == State::prepared && decided.contains(xid));
  }
};

/// `binlogs` in their order; the first one has its header.
Recovered recover(std::span<const std::byte> redo, std::span<const std::vector<std::byte>> binlogs);

}  // namespace engineroom::group_commit
