#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <filesystem>
#include <memory>
#include <string>
#include <system_error>
#include <vector>

#include "common/file_storage.hpp"
#include "common/memory_files.hpp"
#include "common/storage.hpp"

namespace engineroom {
namespace {

std::vector<std::byte> pattern(std::size_t size) {
  std::vector<std::byte> bytes(size);
  for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<std::byte>(i * 7 + i / 251);
  return bytes;
}

class EmptyFolder : public testing::Test {
 protected:
  EmptyFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "engineroom-test-XXXXXX").string();
    folder = mkdtemp(name.data());
  }
  ~EmptyFolder() override { std::filesystem::remove_all(folder); }

  std::filesystem::path folder;
};

void what_was_appended_is_read_back(Storage& storage, std::size_t record_bytes) {
  const std::vector<std::byte> bytes = pattern(3 * BufferedFile::kBufferBytes + 12345);
  BufferedFile file(storage);
  for (std::size_t at = 0; at < bytes.size(); at += record_bytes) {
    file.append(std::span(bytes).subspan(at, std::min(record_bytes, bytes.size() - at)));
  }
  for (int time = 0; time < 2; ++time) {
    file.rewind();
    std::vector<std::byte> read(bytes.size());
    for (std::size_t at = 0; at < read.size(); at += record_bytes) {
      file.read(std::span(read).subspan(at, std::min(record_bytes, read.size() - at)));
    }
    EXPECT_EQ(read, bytes);
  }
  EXPECT_EQ(file.writes(), 4U);
}

TEST(MemoryStorage, ReadsBackWhatWasAppended) {
  for (const std::size_t record_bytes : {std::size_t{7}, std::size_t{65536}, std::size_t{1000003}}) {
    MemoryStorage storage;
    what_was_appended_is_read_back(storage, record_bytes);
  }
}

TEST(MemoryFiles, ReadBackWhatWasAppendedAlsoWhereAnotherFileWas) {
  MemoryFiles storage;
  for (const std::size_t record_bytes : {std::size_t{7}, std::size_t{65536}, std::size_t{1000003}}) {
    const std::unique_ptr<File> beside = storage.create();
    what_was_appended_is_read_back(storage, record_bytes);
  }
}

TEST(MemoryFiles, AreMappedAsTheyWereWritten) {
  MemoryFiles storage;
  const std::vector<std::byte> bytes = pattern(5'000'000);
  for (int time = 0; time < 2; ++time) {
    const std::unique_ptr<File> file = storage.create();
    file->write(0, std::span(bytes).first(10));
    file->write(10, std::span(bytes).subspan(10));
    const std::span<const std::byte> mapped = file->map(bytes.size());
    EXPECT_TRUE(std::equal(mapped.begin(), mapped.end(), bytes.begin(), bytes.end()));
  }
}

TEST_F(EmptyFolder, FileStorageReadsBackWhatWasAppended) {
  FileStorage storage(folder);
  what_was_appended_is_read_back(storage, 777);
}

TEST_F(EmptyFolder, FileStorageLeavesNoName) {
  FileStorage storage(folder);
  const auto file = storage.create();
  file->write(0, pattern(100));
  EXPECT_TRUE(std::filesystem::is_empty(folder));
}

TEST_F(EmptyFolder, FileStorageWritesAtAnOffset) {
  FileStorage storage(folder);
  const auto file = storage.create();
  const std::array<std::byte, 2> one{std::byte{1}, std::byte{2}};
  file->write(1000, one);
  file->write(0, one);
  std::array<std::byte, 2> read{};
  file->read(1000, read);
  EXPECT_EQ(read, one);
}

TEST_F(EmptyFolder, WhatWasWrittenCanBeReadInPlace) {
  MemoryStorage memory;
  FileStorage files(folder);
  const std::vector<std::byte> bytes = pattern(100'000);
  for (Storage* storage : {static_cast<Storage*>(&memory), static_cast<Storage*>(&files)}) {
    const auto file = storage->create();
    file->write(0, bytes);
    EXPECT_TRUE(std::ranges::equal(file->map(bytes.size()), bytes));
  }
}

TEST_F(EmptyFolder, AKeptFileIsOverwrittenByTheNextOne) {
  FileStorage storage(folder, FileStorage::Closed::is_kept);
  for (const std::size_t size : {std::size_t{70'000}, std::size_t{100}, std::size_t{200'000}}) {
    const auto file = storage.create();
    std::vector<std::byte> bytes = pattern(size);
    bytes.back() = std::byte{0xEE};
    file->write(0, bytes);
    EXPECT_TRUE(std::ranges::equal(file->map(size), bytes));
  }
  // The folder is gone and files are still created: there is only the one that was kept.
  std::filesystem::remove_all(folder);
  EXPECT_NO_THROW(storage.create());
  const auto first = storage.create();
  EXPECT_THROW(storage.create(), std::system_error);
}

TEST_F(EmptyFolder, ReadingPastTheEndIsAnErrorThatNamesTheFolder) {
  FileStorage storage(folder);
  const auto file = storage.create();
  std::array<std::byte, 2> read{};
  try {
    file->read(5, read);
    FAIL() << "nothing was thrown";
  } catch (const std::system_error& error) {
    EXPECT_NE(std::string(error.what()).find(folder.string()), std::string::npos);
  }
}

TEST_F(EmptyFolder, AMissingFolderIsRefused) {
  EXPECT_THROW(FileStorage(folder / "missing"), std::invalid_argument);
}

}  // namespace
}  // namespace engineroom
