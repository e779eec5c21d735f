#include "group_commit/recovery.hpp"

#include <stdexcept>

#include "binlog/reader.hpp"
#include "redo_log/recovery.hpp"

namespace engineroom::group_commit {

namespace {

constexpr std::size_t kGtidNumberAt = 17;  // behind a byte of flags and the server's identity

}  // namespace

BinlogFile read_binlog(std::span<const std::byte> file) {
  BinlogFile found;
  std::uint64_t gtid = 0;
  const auto take = [&](const binlog::Event& event) {
    if (event.kind() == binlog::EventType::previous_gtids) found.has_header = true;
    if (event.kind() == binlog::EventType::gtid)
      gtid = binlog::load_little(event.body.data() + kGtidNumberAt, 8);
    if (event.kind() != binlog::EventType::xid) return;
    found.xids.push_back(binlog::load_little(event.body.data(), 8));
    found.gtids.push_back(gtid);
    found.end = event.position + event.bytes;
  };
  binlog::Reader reader(file.size(), take, {});
  try {
    reader.feed({reinterpret_cast<const std::uint8_t*>(file.data()), file.size()});
  } catch (const std::runtime_error&) {
    // The file ends here for whoever recovers it.
  }
  found.is_in_use = reader.format().is_in_use;
  return found;
}

Recovered recover(std::span<const std::byte> redo, std::span<const std::vector<std::byte>> binlogs) {
  Recovered found;
  if (const auto log = redo_log::recover(redo)) {
    found.redo_end = log->end_lsn;
    for (const redo_log::RecoveredGroup& group : log->groups) found.states.add(log->bytes_of(group));
  }
  for (std::size_t i = binlogs.size(); i-- > 0;) {
    const BinlogFile file = read_binlog(binlogs[i]);
    if (!file.has_header) continue;
    found.last = i;
    if (file.is_in_use) found.decided.insert(file.xids.begin(), file.xids.end());
    break;
  }
  return found;
}

}  // namespace engineroom::group_commit
