#include "filesort/merge.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace engineroom::filesort {

namespace {

constexpr std::size_t kMergeBuff = 7;
constexpr std::size_t kMergeBuff2 = 15;
constexpr std::size_t kWriteBufferBytes = BufferedFile::kBufferBytes;

}  // namespace

std::size_t RecordFormat::length(const std::byte* record) const {
  if (!is_packed) return bytes;
  std::uint32_t length = 0;
  std::memcpy(&length, record, kLengthBytes);
  return length;
}

class Runs::Writer {
 public:
  Writer(File& file, std::uint64_t offset, Counters& counters)
      : file_(&file), start_(offset), offset_(offset), counters_(&counters) {}

  void append(std::span<const std::byte> bytes) {
    buffer_.insert(buffer_.end(), bytes.begin(), bytes.end());
    if (buffer_.size() >= kWriteBufferBytes) flush();
  }

  Run finish() {
    flush();
    return {start_, offset_ - start_};
  }

 private:
  void flush() {
    if (buffer_.empty()) return;
    file_->write(offset_, buffer_);
    offset_ += buffer_.size();
    counters_->bytes_written += buffer_.size();
    buffer_.clear();
  }

  File* file_;
  std::uint64_t start_;
  std::uint64_t offset_;
  Counters* counters_;
  std::vector<std::byte> buffer_;
};

class Runs::Reader {
 public:
  Reader(File& file, Run run, RecordFormat format, std::size_t buffer_bytes, Counters& counters)
      : file_(&file), run_(run), format_(format), buffer_bytes_(buffer_bytes), counters_(&counters) {
    next();
  }

  bool at_end() const { return record_ == nullptr; }
  const std::byte* record() const { return record_; }
  const std::byte* key() const { return record_ + format_.key_offset(); }

  void next() {
    if (record_ != nullptr) position_ += format_.length(record_);
    record_ = nullptr;
    const std::size_t head = format_.is_packed ? RecordFormat::kLengthBytes : format_.bytes;
    if (!holds(head)) return;
    const std::size_t length = format_.length(buffer_.data() + position_);
    if (length > head && !holds(length)) return;
    record_ = buffer_.data() + position_;
  }

 private:
  /// Whether `bytes` from the position on are in the buffer, if need be after reading on.
  bool holds(std::size_t bytes) {
    if (buffer_.size() - position_ >= bytes) return true;
    if (run_.bytes == 0) return false;
    buffer_.erase(buffer_.begin(), buffer_.begin() + static_cast<std::ptrdiff_t>(position_));
    position_ = 0;
    const std::size_t rest = buffer_.size();
    const std::size_t wanted = std::max(buffer_bytes_, bytes) - rest;
    const auto n = static_cast<std::size_t>(std::min<std::uint64_t>(wanted, run_.bytes));
    buffer_.resize(rest + n);
    file_->read(run_.offset, std::span(buffer_).subspan(rest));
    run_.offset += n;
    run_.bytes -= n;
    counters_->bytes_read += n;
    return buffer_.size() >= bytes;
  }

  File* file_;
  Run run_;
  RecordFormat format_;
  std::size_t buffer_bytes_;
  Counters* counters_;
  std::vector<std::byte> buffer_;
  std::size_t position_ = 0;
  const std::byte* record_ = nullptr;
};

Runs::Runs(Storage& storage, RecordFormat format, std::size_t sort_buffer_bytes, Counters& counters,
           Interrupt& interrupt)
    : storage_(&storage),
      format_(format),
      sort_buffer_bytes_(sort_buffer_bytes),
      counters_(&counters),
      interrupt_(&interrupt) {}

void Runs::write(std::span<std::byte* const> records) {
  if (!file_) file_ = storage_->create();
  Writer writer(*file_, runs_.empty() ? 0 : runs_.back().offset + runs_.back().bytes, *counters_);
  for (const std::byte* record : records) writer.append({record, format_.length(record)});
  runs_.push_back(writer.finish());
  ++counters_->runs;
}

void Runs::merge_into(std::span<const Run> some, File& from,
                      const std::function<bool(const std::byte*)>& take) {
  ++counters_->merge_passes;
  std::vector<Reader> readers;
  readers.reserve(some.size());
  for (const Run& run : some) {
    readers.emplace_back(from, run, format_, sort_buffer_bytes_ / some.size(), *counters_);
  }
  // Of equal keys the one of the earlier run comes first.
  const auto is_after = [&](std::size_t a, std::size_t b) {
    ++counters_->comparisons;
    const int order = std::memcmp(readers[a].key(), readers[b].key(), format_.key_bytes);
    return order > 0 || (order == 0 && a > b);
  };
  std::vector<std::size_t> heap;
  const auto sift_down = [&](std::size_t i) {
    for (;;) {
      std::size_t first = i;
      for (std::size_t child = 2 * i + 1; child <= 2 * i + 2 && child < heap.size(); ++child) {
        if (is_after(heap[first], heap[child])) first = child;
      }
      if (first == i) return;
      std::swap(heap[i], heap[first]);
      i = first;
    }
  };
  for (std::size_t i = 0; i < readers.size(); ++i) {
    if (!readers[i].at_end()) heap.push_back(i);
  }
  for (std::size_t i = heap.size() / 2; i > 0; --i) sift_down(i - 1);
  while (!heap.empty()) {
    Reader& best = readers[heap.front()];
    if (!take(best.record())) return;
    interrupt_->advance(1 + format_.length(best.record()) / 16);
    best.next();
    if (best.at_end()) {
      heap.front() = heap.back();
      heap.pop_back();
    }
    if (!heap.empty()) sift_down(0);
  }
}

Runs::Run Runs::merge_some(std::span<const Run> some, File& from, File& to, std::uint64_t offset) {
  Writer writer(to, offset, *counters_);
  merge_into(some, from, [&](const std::byte* record) {
    writer.append({record, format_.length(record)});
    return true;
  });
  return writer.finish();
}

void Runs::merge(const std::function<bool(const std::byte*)>& take) {
  while (runs_.size() > kMergeBuff2) {
    std::unique_ptr<File> to = storage_->create();
    std::vector<Run> merged;
    const std::span<const Run> all(runs_);
    std::size_t first = 0;
    const auto end = [&] { return merged.empty() ? 0 : merged.back().offset + merged.back().bytes; };
    // The last group may be larger: what is left after it would be too few for a merge of its own.
    for (; first + kMergeBuff * 3 / 2 < all.size(); first += kMergeBuff) {
      merged.push_back(merge_some(all.subspan(first, kMergeBuff), *file_, *to, end()));
    }
    merged.push_back(merge_some(all.subspan(first), *file_, *to, end()));
    runs_ = std::move(merged);
    file_ = std::move(to);
  }
  merge_into(runs_, *file_, take);
}

}  // namespace engineroom::filesort
