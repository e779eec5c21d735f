// Record groups whose content says who wrote them, so that recovery can be checked byte by byte; and the log
// file that they should make, written in the plainest way.
//
// Models      nothing: what the tests and the crash runs of this chapter compare with
// Cost        O(bytes)
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "redo_log/block.hpp"

namespace engineroom::redo_log {

/// The bytes of group number `sequence` of `client`: `data_bytes` of changes in records of at most 200 bytes,
/// each a pattern of client, sequence and position. The group is longer by its record headers and its end
/// mark.
std::vector<std::byte> make_group(std::uint32_t client, std::uint64_t sequence, std::size_t data_bytes);

/// A file that holds `groups` one behind the other from the first LSN on: header, checkpoint, sealed blocks.
std::vector<std::byte> write_file(std::span<const std::vector<std::byte>> groups,
                                  std::uint64_t capacity_bytes);

}  // namespace engineroom::redo_log
