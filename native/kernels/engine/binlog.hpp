// The binary log of an engine: which server's commit it comes with, and what it counts.
//
// Models      the switch log_bin, and the design of the group commit as the one other choice
// Leaves out  the stages themselves (group_commit/stages.hpp)
// Cost        nothing
#pragma once

#include <cstdint>

#include "common/names.hpp"
#include "group_commit/design.hpp"

namespace engineroom::engine {

/// Of which server the commit with a binary log is, or that there is none.
enum class Binlog : std::uint8_t { off, serialised, stages, one_redo_flush };
constexpr auto named(names::Of<Binlog>) {
  return names::table<Binlog>("binlog", {{"off", Binlog::off},
                                         {"5.5", Binlog::serialised},
                                         {"5.6", Binlog::stages},
                                         {"5.7.6", Binlog::one_redo_flush}});
}

/// Of a commit with a binary log.
constexpr group_commit::Design design_of(Binlog binlog) {
  using group_commit::Design;
  if (binlog == Binlog::serialised) return Design::serialised;
  return binlog == Binlog::stages ? Design::stages : Design::one_redo_flush;
}

/// What a binary log and the stages before it have counted.
struct BinlogCounts {
  std::uint64_t fsyncs = 0;
  std::uint64_t writes = 0;
  std::uint64_t written_bytes = 0;
  std::uint64_t flush_groups = 0;
  std::uint64_t sync_groups = 0;
  std::uint64_t commit_groups = 0;
};

}  // namespace engineroom::engine
