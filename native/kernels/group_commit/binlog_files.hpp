// The binlog as a commit uses it: a cache in front of a file, the sync counter, and the next file when one is full.
//
// Models      MYSQL_BIN_LOG's IO_CACHE, flush_cache_to_file, sync_binlog_file, new_file_impl
// Leaves out  the index file and purging: which file is the last one follows from their headers; encryption
// Cost        a pwrite per piece of the cache
//
// All of it is called under LOCK_log, except sync.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "group_commit/commit_config.hpp"
#include "group_commit/records.hpp"
#include "group_commit/watch.hpp"
#include "machine/concept.hpp"

namespace engineroom::group_commit {

using machine::Machine;
using machine::Task;

template <Machine M>
class BinlogFiles {
 public:
  using File = typename M::File;
  using NewFile = std::function<std::unique_ptr<File>()>;

  BinlogFiles(const CommitConfig& config, NewFile new_file)
      : config_(config), events_(config.changed_rows), new_file_(std::move(new_file)) {
    files_.push_back(new_file_());
  }

  /// The header of the first file, on disk.
  Task<> open(M& m) {
    events_.begin_file(cache_);
    co_await flush(m);
    co_await m.fsync(*files_.back());
  }

  /// Into the cache, whose pieces go to the file as they are full. True: at least one did.
  Task<bool> append(M& m, Ticket& ticket) {
    ticket.gtid = ++gtids_;
    const std::size_t before = cache_.size();
    const std::uint64_t rows = ticket.changed_rows > 0 ? ticket.changed_rows : config_.changed_rows;
    events_.append(cache_, position_ + before, ticket.gtid, ticket.xid, rows);
    m.charge(config_.write_ns);
    ticket.binlog_file = files_.size() - 1;
    ticket.binlog_begin = position_ + before;
    ticket.binlog_end = position_ + cache_.size();
    std::size_t written = 0;
    while (cache_.size() - written >= config_.io_cache_bytes) {
      co_await write(m, written, config_.io_cache_bytes);
      written += config_.io_cache_bytes;
    }
    cache_.drop(written);
    co_return written > 0;
  }
  /// What the cache still has.
  Task<> flush(M& m) {
    const std::size_t left = cache_.size();
    if (left == 0) co_return;
    co_await write(m, 0, left);
    cache_.drop(left);
  }

  bool is_full() const { return position_ >= config_.max_binlog_bytes; }

  /// Ends the file and begins the next one. The old one's end and then its mark are on disk before there is a new one.
  Task<> rotate(M& m) {
    events_.end_file(cache_, position_);
    co_await flush(m);
    co_await m.fsync(*files_.back());
    static constexpr std::byte kClosed{0};
    co_await m.pwrite(*files_.back(), Events::kInUseAt, std::span(&kClosed, 1));
    co_await m.fsync(*files_.back());
    before_ += counts(*files_.back());
    files_.push_back(new_file_());
    position_ = 0;
    co_await open(m);
  }

  /// Under LOCK_sync, or LOCK_log where there is none.
  Task<> sync(M& m) { co_await m.fsync(*files_.back()); }

  struct Counts {
    std::uint64_t fsyncs = 0;
    std::uint64_t writes = 0;
    std::uint64_t written_bytes = 0;
    Counts& operator+=(const Counts& other) {
      fsyncs += other.fsyncs;
      writes += other.writes;
      written_bytes += other.written_bytes;
      return *this;
    }
  };
  /// Of all files. While real threads run: without the last rotation's.
  Counts counted() const {
    Counts all = before_;
    all += counts(*files_.back());
    return all;
  }
  const std::vector<std::unique_ptr<File>>& files() const { return files_; }

 private:
  static Counts counts(const File& file) { return {file.fsyncs(), file.writes(), file.written_bytes()}; }

  Task<> write(M& m, std::size_t begin, std::size_t bytes) {
    co_await m.pwrite(*files_.back(), position_, std::as_bytes(cache_.span().subspan(begin, bytes)));
    position_ += bytes;
  }

  CommitConfig config_;
  Events events_;
  NewFile new_file_;
  std::vector<std::unique_ptr<File>> files_;
  binlog::Buffer cache_;
  std::uint64_t position_ = 0;
  std::uint64_t gtids_ = 0;
  Counts before_;
};

}  // namespace engineroom::group_commit
