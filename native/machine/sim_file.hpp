// A file of the simulated machine: what programs read back, and what a crash would leave.
//
// Models      a file behind the page cache: fsync makes durable what was written before it began
// Leaves out  the directory, the file's length as metadata; a sector of 512 bytes is written whole or not
//             at all
// Cost        two copies of the bytes, or none (Bytes::counted)
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>
#include <string_view>
#include <vector>

#include "machine/concept.hpp"
#include "machine/random.hpp"

namespace engineroom::machine {

class SimMachine;

enum class Bytes : std::uint8_t { kept, counted };

class SimFile {
 public:
  static constexpr std::size_t kSector = 512;

  SimFile(SimMachine& m, std::string_view name, Bytes bytes = Bytes::kept);
  SimFile(const SimFile&) = delete;
  SimFile& operator=(const SimFile&) = delete;

  Site site() const { return site_; }
  /// As programs see it.
  const std::vector<std::byte>& contents() const { return contents_; }
  /// What a crash now leaves: each sector written since the last fsync that ended is there or not, by seed.
  std::vector<std::byte> after_crash(std::uint64_t seed) const;

  std::uint64_t writes() const { return writes_; }
  std::uint64_t written_bytes() const { return written_bytes_; }
  std::uint64_t fsyncs() const { return fsyncs_; }

  // For the machine.
  void write(std::uint64_t offset, std::span<const std::byte> bytes);
  /// An fsync begins: the position up to which it makes durable what was written, and how many bytes those
  /// are.
  struct Started {
    std::uint64_t position;
    std::uint64_t dirty_bytes;
  };
  Started start_fsync();
  void end_fsync(std::uint64_t position);

 private:
  struct Extent {
    std::uint64_t offset;
    std::uint64_t bytes;
  };

  Site site_;
  Bytes bytes_;
  std::vector<std::byte> contents_;
  std::vector<std::byte> durable_;
  std::deque<Extent> dirty_;  // not yet durable, oldest first
  std::uint64_t durable_extents_ = 0;
  std::uint64_t submitted_extents_ = 0;
  std::uint64_t unsubmitted_bytes_ = 0;
  std::uint64_t writes_ = 0;
  std::uint64_t written_bytes_ = 0;
  std::uint64_t fsyncs_ = 0;
};

}  // namespace engineroom::machine
