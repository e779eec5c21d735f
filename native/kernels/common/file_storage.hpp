// Real files for native builds: opened in a folder and unlinked at once, so that nothing is left behind
// whatever happens to the process.
#pragma once

#include <filesystem>
#include <memory>

#include "common/storage.hpp"

namespace engineroom {

/// Anonymous files in `directory`, which must exist. Every failure of the operating system (no space, too
/// many open files) ends in std::system_error with the folder's name.
class FileStorage final : public Storage {
 public:
  explicit FileStorage(std::filesystem::path directory);
  std::unique_ptr<File> create() override;

 private:
  std::filesystem::path directory_;
};

}  // namespace engineroom
