#include "common/file_storage.hpp"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <system_error>
#include <utility>

#include "common/require.hpp"

namespace engineroom {

namespace {

[[noreturn]] void fail(const char* what, const std::filesystem::path& directory, int error) {
  throw std::system_error(error, std::generic_category(),
                          std::string(what) + " a temporary file in " + directory.string());
}

class RealFile final : public File {
 public:
  explicit RealFile(const std::filesystem::path& directory) : directory_(directory) {
    std::string name = (directory / "engineroom-XXXXXX").string();
    descriptor_ = mkstemp(name.data());
    if (descriptor_ < 0) fail("cannot open", directory, errno);
    unlink(name.c_str());
    const int flags = fcntl(descriptor_, F_GETFD);
    if (flags >= 0) fcntl(descriptor_, F_SETFD, flags | FD_CLOEXEC);
  }

  ~RealFile() override { close(descriptor_); }

  void write(std::uint64_t offset, std::span<const std::byte> bytes) override {
    while (!bytes.empty()) {
      const ssize_t n = pwrite(descriptor_, bytes.data(), bytes.size(), static_cast<off_t>(offset));
      if (n < 0 && errno == EINTR) continue;
      if (n <= 0) fail("cannot write to", directory_, n < 0 ? errno : ENOSPC);
      offset += static_cast<std::uint64_t>(n);
      bytes = bytes.subspan(static_cast<std::size_t>(n));
    }
  }

  void read(std::uint64_t offset, std::span<std::byte> bytes) override {
    while (!bytes.empty()) {
      const ssize_t n = pread(descriptor_, bytes.data(), bytes.size(), static_cast<off_t>(offset));
      if (n < 0 && errno == EINTR) continue;
      if (n <= 0) fail("cannot read back", directory_, n < 0 ? errno : EIO);
      offset += static_cast<std::uint64_t>(n);
      bytes = bytes.subspan(static_cast<std::size_t>(n));
    }
  }

 private:
  std::filesystem::path directory_;
  int descriptor_;
};

}  // namespace

FileStorage::FileStorage(std::filesystem::path directory) : directory_(std::move(directory)) {
  std::error_code ignored;
  if (!std::filesystem::is_directory(directory_, ignored)) {
    refuse("directory must be a folder that exists, got " + directory_.string() +
           "; create it or pass another one");
  }
}

std::unique_ptr<File> FileStorage::create() { return std::make_unique<RealFile>(directory_); }

}  // namespace engineroom
