// What a log file still says after a crash: the record groups from the newest checkpoint to the first doubt.
//
// Models      recv_recovery_from_checkpoint_start, recv_scan_log_recs, recv_parse_log_recs
// Leaves out  several files (ours is one, used in a circle), spaces, encryption, applying in parallel
// Cost        one pass over the log behind the checkpoint
//
// A block is doubted when its number is not the expected one (never written, or left from the last round),
// when its checksum fails, or behind a block that is not full. What is assumed, as InnoDB does: a write of
// one aligned block of 512 bytes happens as a whole. A device that tears a block can take with it what was
// durable in that block.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "redo_log/block.hpp"
#include "redo_log/mtr.hpp"

namespace engineroom::redo_log {

/// A file header of 2048 bytes (identity, checkpoint slots at 512 and 1536), then blocks, used in a circle.
inline constexpr std::size_t kFileHeaderBytes = 4 * kBlockBytes;
inline constexpr std::size_t kCheckpointAt[2] = {kBlockBytes, 3 * kBlockBytes};

struct Checkpoint {
  std::uint64_t number;
  Lsn lsn;
};

/// Where a block lies in a file that holds `capacity_bytes` of log.
constexpr std::uint64_t file_offset(Lsn lsn, std::uint64_t capacity_bytes) {
  return kFileHeaderBytes + (lsn - kStartLsn) % capacity_bytes;
}

/// The header of a new file, with checkpoint 0 at the first LSN. `capacity_bytes` is a multiple of 512.
std::vector<std::byte> new_file_header(std::uint64_t capacity_bytes);
/// A checkpoint's block; number n belongs into slot n % 2, so that the other one survives a torn write.
std::vector<std::byte> checkpoint_block(Checkpoint checkpoint);

enum class Stop { end_of_file, wrong_number, bad_checksum, partial_block, corrupt_record, whole_circle };
std::string_view name_of(Stop stop);

struct RecoveredGroup {
  Lsn start_lsn;
  Lsn end_lsn;
  std::size_t at;  // in Recovered::log
  std::size_t bytes;
};

struct Recovered {
  Checkpoint checkpoint;
  std::vector<std::byte> log;  // the data bytes, headers and trailers taken out
  std::vector<RecoveredGroup> groups;
  Lsn end_lsn;  // of the last complete group: here a new log goes on
  Stop stop;

  std::span<const std::byte> bytes_of(const RecoveredGroup& group) const {
    return std::span(log).subspan(group.at, group.bytes);
  }
  /// Applies all groups to `pages`; twice is as good as once.
  void apply_to(Pages& pages) const;
};

/// Nothing when the file has no readable header or no valid checkpoint.
std::optional<Recovered> recover(std::span<const std::byte> file);

}  // namespace engineroom::redo_log
