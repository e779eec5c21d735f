#include "machine/sim_file.hpp"

#include <algorithm>

#include "machine/sim_machine.hpp"

namespace engineroom::machine {

SimFile::SimFile(SimMachine& m, std::string_view name, Bytes bytes) : site_(m.site(name)), bytes_(bytes) {}

void SimFile::write(std::uint64_t offset, std::span<const std::byte> bytes) {
  ++writes_;
  written_bytes_ += bytes.size();
  unsubmitted_bytes_ += bytes.size();
  if (bytes_ == Bytes::counted) return;
  const std::uint64_t end = offset + bytes.size();
  if (contents_.size() < end) contents_.resize(static_cast<std::size_t>(end));
  std::copy(bytes.begin(), bytes.end(), contents_.begin() + static_cast<std::ptrdiff_t>(offset));
  dirty_.push_back({offset, bytes.size()});
}

SimFile::Started SimFile::start_fsync() {
  const std::uint64_t dirty_bytes = unsubmitted_bytes_;
  unsubmitted_bytes_ = 0;
  submitted_extents_ = durable_extents_ + dirty_.size();
  return {submitted_extents_, dirty_bytes};
}

void SimFile::end_fsync(std::uint64_t position) {
  ++fsyncs_;
  // What was written over the same place meanwhile may become durable with it, as on a real disk.
  for (; durable_extents_ < position; ++durable_extents_) {
    const Extent extent = dirty_.front();
    dirty_.pop_front();
    if (durable_.size() < contents_.size()) durable_.resize(contents_.size());
    const auto from = static_cast<std::ptrdiff_t>(extent.offset);
    std::copy_n(contents_.begin() + from, extent.bytes, durable_.begin() + from);
  }
}

std::vector<std::byte> SimFile::after_crash(std::uint64_t seed) const {
  std::vector<std::byte> left = durable_;
  Random random(seed);
  for (const Extent& extent : dirty_) {
    const std::uint64_t end = extent.offset + extent.bytes;
    for (std::uint64_t at = extent.offset / kSector * kSector; at < end; at += kSector) {
      if ((random.next() >> 63) == 0) continue;
      const std::uint64_t from = std::max(at, extent.offset);
      const std::uint64_t to = std::min(at + kSector, end);
      if (left.size() < to) left.resize(static_cast<std::size_t>(to));
      std::copy(contents_.begin() + static_cast<std::ptrdiff_t>(from),
                contents_.begin() + static_cast<std::ptrdiff_t>(to),
                left.begin() + static_cast<std::ptrdiff_t>(from));
    }
  }
  return left;
}

}  // namespace engineroom::machine
