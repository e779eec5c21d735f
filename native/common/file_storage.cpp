#include "common/file_storage.hpp"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
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

}  // namespace

/// A descriptor and how much of its file is mapped.
struct FileStorage::Opened {
  int descriptor;
  void* map = nullptr;
  std::size_t mapped_bytes = 0;

  void unmap() {
    if (mapped_bytes > 0) munmap(map, mapped_bytes);
    mapped_bytes = 0;
  }
  void release() {
    unmap();
    close(descriptor);
  }
};

class FileStorage::RealFile final : public File {
 public:
  explicit RealFile(FileStorage& storage) : storage_(storage), opened_{.descriptor = -1} {
    const std::lock_guard lock(storage_.guard_);
    if (!storage_.kept_.empty()) {
      opened_ = storage_.kept_.back();
      storage_.kept_.pop_back();
      return;
    }
    std::string name = (storage_.directory_ / "engineroom-XXXXXX").string();
    opened_.descriptor = mkstemp(name.data());
    if (opened_.descriptor < 0) fail("cannot open", storage_.directory_, errno);
    unlink(name.c_str());
    const int flags = fcntl(opened_.descriptor, F_GETFD);
    if (flags >= 0) fcntl(opened_.descriptor, F_SETFD, flags | FD_CLOEXEC);
  }

  ~RealFile() override {
    if (storage_.closed_ == Closed::goes_back) {
      opened_.release();
    } else {
      const std::lock_guard lock(storage_.guard_);
      storage_.kept_.push_back(opened_);
    }
  }

  void write(std::uint64_t offset, std::span<const std::byte> bytes) override {
    while (!bytes.empty()) {
      const ssize_t n = pwrite(opened_.descriptor, bytes.data(), bytes.size(), static_cast<off_t>(offset));
      if (n < 0 && errno == EINTR) continue;
      if (n <= 0) fail("cannot write to", storage_.directory_, n < 0 ? errno : ENOSPC);
      offset += static_cast<std::uint64_t>(n);
      bytes = bytes.subspan(static_cast<std::size_t>(n));
    }
  }

  void read(std::uint64_t offset, std::span<std::byte> bytes) override {
    while (!bytes.empty()) {
      const ssize_t n = pread(opened_.descriptor, bytes.data(), bytes.size(), static_cast<off_t>(offset));
      if (n < 0 && errno == EINTR) continue;
      if (n <= 0) fail("cannot read back", storage_.directory_, n < 0 ? errno : EIO);
      offset += static_cast<std::uint64_t>(n);
      bytes = bytes.subspan(static_cast<std::size_t>(n));
    }
  }

  std::span<const std::byte> map(std::size_t bytes) override {
    if (opened_.mapped_bytes < bytes) {
      opened_.unmap();
      int flags = MAP_SHARED;
#ifdef MAP_POPULATE
      flags |= MAP_POPULATE;  // most of it is in the system's cache, and one call is cheaper than many faults
#endif
      void* const begin = mmap(nullptr, bytes, PROT_READ, flags, opened_.descriptor, 0);
      if (begin == MAP_FAILED) fail("cannot map", storage_.directory_, errno);
      opened_.map = begin;
      opened_.mapped_bytes = bytes;
    }
    return {static_cast<const std::byte*>(opened_.map), bytes};
  }

 private:
  FileStorage& storage_;
  Opened opened_;
};

FileStorage::FileStorage(std::filesystem::path directory, Closed closed)
    : directory_(std::move(directory)), closed_(closed) {
  std::error_code ignored;
  if (!std::filesystem::is_directory(directory_, ignored)) {
    refuse("directory must be a folder that exists, got " + directory_.string() +
           "; create it or pass another one");
  }
}

FileStorage::~FileStorage() {
  for (Opened& opened : kept_) opened.release();
}

std::unique_ptr<File> FileStorage::create() { return std::make_unique<RealFile>(*this); }

}  // namespace engineroom
