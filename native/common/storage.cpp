#include "common/storage.hpp"

#include <algorithm>
#include <cassert>
#include <cstring>

namespace engineroom {

namespace {

class MemoryFile final : public File {
 public:
  void write(std::uint64_t offset, std::span<const std::byte> bytes) override {
    const auto end = static_cast<std::size_t>(offset) + bytes.size();
    if (end > bytes_.size()) bytes_.resize(end);
    std::copy(bytes.begin(), bytes.end(), bytes_.begin() + static_cast<std::ptrdiff_t>(offset));
  }

  void read(std::uint64_t offset, std::span<std::byte> bytes) override {
    assert(offset + bytes.size() <= bytes_.size());
    std::copy_n(bytes_.begin() + static_cast<std::ptrdiff_t>(offset), bytes.size(), bytes.begin());
  }

  std::span<const std::byte> map(std::size_t bytes) override {
    assert(bytes <= bytes_.size());
    return std::span(bytes_).first(bytes);
  }

 private:
  std::vector<std::byte> bytes_;
};

}  // namespace

std::unique_ptr<File> MemoryStorage::create() { return std::make_unique<MemoryFile>(); }

void BufferedFile::append(std::span<const std::byte> bytes) {
  assert(writing_);
  while (!bytes.empty()) {
    const std::size_t n = std::min(bytes.size(), kBufferBytes - buffer_.size());
    buffer_.insert(buffer_.end(), bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(n));
    bytes = bytes.subspan(n);
    if (buffer_.size() == kBufferBytes) flush();
  }
}

void BufferedFile::flush() {
  if (buffer_.empty()) return;
  file_->write(written_, buffer_);
  written_ += buffer_.size();
  ++writes_;
  buffer_.clear();
}

void BufferedFile::rewind() {
  if (writing_) flush();
  writing_ = false;
  buffer_.clear();
  position_ = 0;
  next_read_ = 0;
}

void BufferedFile::read(std::span<std::byte> bytes) {
  assert(!writing_);
  while (!bytes.empty()) {
    if (position_ == buffer_.size()) {
      const auto n = static_cast<std::size_t>(std::min<std::uint64_t>(kBufferBytes, written_ - next_read_));
      assert(n > 0);
      buffer_.resize(n);
      file_->read(next_read_, buffer_);
      next_read_ += n;
      position_ = 0;
    }
    const std::size_t n = std::min(bytes.size(), buffer_.size() - position_);
    std::memcpy(bytes.data(), buffer_.data() + position_, n);
    position_ += n;
    bytes = bytes.subspan(n);
  }
}

}  // namespace engineroom
