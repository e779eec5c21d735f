// Where a kernel puts bytes that do not fit into memory: anonymous files, written and read at an offset.
//
// Models      the temporary files of the server: no name, gone when closed or when the process dies
// Leaves out  the server's encryption of temporary files
//
// The virtual functions are the point: natively the bytes go to real files (file_storage.hpp), in a
// browser and in most tests to memory that is only counted.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace engineroom {

/// One anonymous file. Calls at different offsets may come from different threads.
class File {
 public:
  File() = default;
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  virtual ~File() = default;

  /// Writes all of `bytes` at `offset`, or does not return.
  virtual void write(std::uint64_t offset, std::span<const std::byte> bytes) = 0;
  /// Fills all of `bytes` from `offset`, or does not return. Only what was written may be read.
  virtual void read(std::uint64_t offset, std::span<std::byte> bytes) = 0;
  /// The first `bytes` of the file to be read in place, as long as the file lives. For one caller, once,
  /// after the last write.
  virtual std::span<const std::byte> map(std::size_t bytes) = 0;
};

/// Makes files. It must live longer than they do.
class Storage {
 public:
  Storage() = default;
  Storage(const Storage&) = delete;
  Storage& operator=(const Storage&) = delete;
  virtual ~Storage() = default;

  virtual std::unique_ptr<File> create() = 0;
};

/// Files that are memory: for the browser, and for runs in which a disk would only add noise.
/// Writes of one file must not come from two threads at once.
class MemoryStorage final : public Storage {
 public:
  std::unique_ptr<File> create() override;
};

/// A file behind one buffer, as the server's IO_CACHE: append everything, rewind, read everything.
/// Rewinding once more reads from the start again.
class BufferedFile {
 public:
  /// As the server's: with it a join writes as often as performance_schema counts on a live one.
  static constexpr std::size_t kBufferBytes = 64 * 1024;

  explicit BufferedFile(Storage& storage) : file_(storage.create()) { buffer_.reserve(kBufferBytes); }

  void append(std::span<const std::byte> bytes);
  /// Flushes what was appended and goes to the start.
  void rewind();
  /// Reads the next bytes. Asking for more than was written is a mistake of the caller.
  void read(std::span<std::byte> bytes);

  /// Calls of File::write so far.
  std::uint64_t writes() const { return writes_; }

 private:
  void flush();

  std::unique_ptr<File> file_;
  std::vector<std::byte> buffer_;
  std::uint64_t written_ = 0;  // bytes in the file itself
  std::uint64_t writes_ = 0;
  std::uint64_t next_read_ = 0;  // file offset of the byte after the buffer's last one
  std::size_t position_ = 0;     // of reading, in the buffer
  bool writing_ = true;
};

}  // namespace engineroom
