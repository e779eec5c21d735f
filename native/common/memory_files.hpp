// Files that are memory and are overwritten by the next ones: for runs in which a disk would only add noise.
//
// Models      a temporary file system in memory whose pages stay with the process
// Leaves out  any bound
//
// Unlike MemoryStorage, which is as small as the browser wants it, a file does not clear what is about to be written, grows
// without being copied where the system can move its pages, and leaves its memory to the next.
#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <vector>

#include "common/storage.hpp"

namespace engineroom {

/// Writes of one file must not come from two threads at once.
class MemoryFiles final : public Storage {
 public:
  MemoryFiles() = default;
  ~MemoryFiles() override;
  std::unique_ptr<File> create() override;

 private:
  class Lent;
  struct Block {
    std::byte* begin = nullptr;
    std::size_t bytes = 0;
  };

  std::mutex guard_;
  std::size_t n_lent_ = 0;
  std::vector<Block> kept_;
};

}  // namespace engineroom
