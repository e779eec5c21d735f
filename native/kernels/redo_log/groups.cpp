#include "redo_log/groups.hpp"

#include <algorithm>

#include "common/require.hpp"
#include "redo_log/mtr.hpp"
#include "redo_log/recovery.hpp"

namespace engineroom::redo_log {

namespace {

constexpr std::size_t kLargestRecord = 200;

std::uint64_t scatter(std::uint64_t x) {
  x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9;
  x = (x ^ x >> 27) * 0x94D049BB133111EB;
  return x ^ x >> 31;
}

}  // namespace

std::vector<std::byte> make_group(std::uint32_t client, std::uint64_t sequence, std::size_t data_bytes) {
  if (data_bytes == 0) refuse("data_bytes is 0: a group has at least one byte of changes");
  Mtr mtr;
  std::uint64_t state = scatter(client * 0x9E3779B97F4A7C15 + sequence);
  for (std::size_t left = data_bytes; left > 0;) {
    std::vector<std::byte> change(std::min(left, kLargestRecord));
    for (std::byte& byte : change) byte = static_cast<std::byte>((state = scatter(state + 1)) & 0xFF);
    mtr.write(static_cast<std::uint32_t>(state >> 32 & 0xF), static_cast<std::uint16_t>(state >> 8 & 31),
              change);
    left -= change.size();
  }
  const auto bytes = mtr.finish();
  return {bytes.begin(), bytes.end()};
}

std::vector<std::byte> write_file(std::span<const std::vector<std::byte>> groups,
                                  std::uint64_t capacity_bytes) {
  std::vector<std::byte> file = new_file_header(capacity_bytes);
  file.resize(kFileHeaderBytes + capacity_bytes);
  const auto block_at = [&](Lsn lsn) {
    return std::span(file)
        .subspan(static_cast<std::size_t>(file_offset(block_of(lsn), capacity_bytes)))
        .first<kBlockBytes>();
  };
  Sn sn = kStartSn;
  // A block of which nothing is data yet has the first group at its start, as the server leaves it at the
  // start.
  Lsn begun = 0;
  const auto begin = [&](Lsn lsn) {
    if (block_of(lsn) == begun) return;
    begun = block_of(lsn);
    std::ranges::fill(block_at(lsn), std::byte{0});
  };
  begin(lsn_of(sn));
  set_first_group(block_at(lsn_of(sn)), kHeaderBytes);
  for (const auto& group : groups) {
    const Lsn start = lsn_of(sn);
    for (const std::byte byte : group) {
      const Lsn lsn = lsn_of(sn++);
      begin(lsn);
      block_at(lsn)[offset_in_block(lsn)] = byte;
    }
    const Lsn end = lsn_of(sn);
    begin(end);
    if (block_of(end) != block_of(start)) set_first_group(block_at(end), offset_in_block(end));
  }
  const Lsn last = lsn_of(sn);
  const std::uint64_t blocks = (block_of(last) - kStartLsn) / kBlockBytes + 1;
  const std::uint64_t kept = std::min<std::uint64_t>(blocks, capacity_bytes / kBlockBytes);
  for (std::uint64_t i = blocks - kept; i < blocks; ++i) {
    const Lsn lsn = kStartLsn + i * kBlockBytes;
    seal(block_at(lsn), lsn, lsn == block_of(last) ? offset_in_block(last) : kBlockBytes, 0);
  }
  return file;
}

}  // namespace engineroom::redo_log
