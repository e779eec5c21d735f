// Real files for native builds: opened in a folder and unlinked at once, so that nothing is left behind
// whatever happens to the process.
#pragma once

#include <filesystem>
#include <memory>
#include <mutex>
#include <vector>

#include "common/storage.hpp"

namespace engineroom {

/// Anonymous files in `directory`, which must exist. Every failure of the operating system (no space, too
/// many open files) ends in std::system_error with the folder's name. Only a file that is read in place
/// (File::map) and that the disk cannot read back ends the process, as every mapped file would.
class FileStorage final : public Storage {
 public:
  /// Whether a file that is closed goes back to the system, or is overwritten by the next one created here:
  /// its place in the system's cache need not be found and cleared again.
  enum class Closed : std::uint8_t { goes_back, is_kept };

  explicit FileStorage(std::filesystem::path directory, Closed closed = Closed::goes_back);
  ~FileStorage() override;
  std::unique_ptr<File> create() override;

 private:
  class RealFile;
  struct Opened;

  std::filesystem::path directory_;
  Closed closed_;
  std::mutex guard_;
  std::vector<Opened> kept_;
};

}  // namespace engineroom
