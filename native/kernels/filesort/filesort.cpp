#include "filesort/filesort.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <string>

#include "common/require.hpp"
#include "filesort/bounded_queue.hpp"
#include "filesort/merge.hpp"
#include "filesort/sort_records.hpp"

namespace engineroom::filesort {

namespace {

/// What a pointer to a record takes of the sort buffer, on every platform.
constexpr std::size_t kPointerBytes = 8;

/// Sets the read set of a handle and gives it back its own, whatever ends the scan.
class ReadSetFor {
 public:
  ReadSetFor(Handle& handle, ColumnSet columns) : handle_(&handle), before_(handle.read_set) {
    handle.read_set = columns;
  }
  ReadSetFor(const ReadSetFor&) = delete;
  ReadSetFor& operator=(const ReadSetFor&) = delete;
  ~ReadSetFor() { handle_->read_set = before_; }

 private:
  Handle* handle_;
  ColumnSet before_;
};

/// Hands rows to the client: copies the selected values.
class Client {
 public:
  Client(const Query& query, bool keeps_values, Result& result)
      : query_(&query), keeps_values_(keeps_values), result_(&result) {}

  bool wants_more() const { return !query_->limit || result_->counters.rows_returned < *query_->limit; }

  template <typename ValueOf>
  void take(ValueOf value_of) {
    ++result_->counters.rows_returned;
    for (const std::size_t column : query_->selected) {
      const std::span<const std::byte> value = value_of(column);
      packet_.assign(value.begin(), value.end());
      result_->counters.bytes_copied += value.size();
      if (keeps_values_) result_->values.push_back(packet_);
    }
  }

 private:
  const Query* query_;
  bool keeps_values_;
  Result* result_;
  std::vector<std::byte> packet_;
};

/// The sort buffer: records from its start, and eight bytes per record for the pointers.
class SortBuffer {
 public:
  SortBuffer(std::uint64_t bytes, const RecordFormat& format, Counters& counters)
      : bytes_(static_cast<std::size_t>(bytes)),
        memory_(std::make_unique_for_overwrite<std::byte[]>(bytes_)),
        format_(&format),
        counters_(&counters) {}

  /// Room for a record, or null when the buffer is full.
  std::byte* room(std::size_t bytes) const {
    const std::size_t pointers = (records_.size() + 1) * kPointerBytes;
    return used_ + bytes + pointers <= bytes_ ? memory_.get() + used_ : nullptr;
  }

  void add(std::byte* record, std::size_t bytes) {
    records_.push_back(record);
    used_ += bytes;
    counters_->peak_sort_bytes =
        std::max<std::uint64_t>(counters_->peak_sort_bytes, used_ + records_.size() * kPointerBytes);
  }

  void sort(Interrupt& interrupt) { sort_records(records_, *format_, *counters_, interrupt); }
  const std::vector<std::byte*>& records() const { return records_; }
  void clear() { records_.clear(), used_ = 0; }

  /// A merge sort: the same comparisons with every library and compiler, and equal keys keep their order.
  static void sort_records(std::vector<std::byte*>& records, const RecordFormat& format, Counters& counters,
                           Interrupt& interrupt) {
    const std::size_t n = records.size();
    std::vector<std::byte*> other(n);
    for (std::size_t width = 1; width < n; width *= 2) {
      for (std::size_t start = 0; start < n; start += 2 * width) {
        const std::size_t middle = std::min(start + width, n);
        const std::size_t end = std::min(start + 2 * width, n);
        interrupt.advance(end - start);
        std::size_t a = start;
        std::size_t b = middle;
        for (std::size_t to = start; to < end; ++to) {
          bool is_right = a == middle;
          if (!is_right && b < end) {
            ++counters.comparisons;
            const std::size_t key = format.key_offset();
            is_right = std::memcmp(records[b] + key, records[a] + key, format.key_bytes) < 0;
          }
          other[to] = is_right ? records[b++] : records[a++];
        }
      }
      records.swap(other);
    }
  }

 private:
  std::size_t bytes_;
  std::unique_ptr<std::byte[]> memory_;
  const RecordFormat* format_;
  Counters* counters_;
  std::vector<std::byte*> records_;
  std::size_t used_ = 0;
};

ColumnSet narrow_set(const Query& query, const Options& options) {
  if (options.design.attach != Attach::rowid) return columns_read(query);
  ColumnSet columns{query.order_by};
  if (query.where_column && !options.forget_condition) columns.add(*query.where_column);
  return columns;
}

}  // namespace

Result filesort(Handle& handle, const Query& query, const Options& options, Storage& storage,
                Interrupt interrupt) {
  check_query(handle.table(), query);
  options::check(options);
  const ReadSetFor statement(handle, columns_read(query));
  Result result;
  Counters& counters = result.counters;
  const Attach attach = options.design.attach;
  SortRecords records(handle, query, options.settings, attach, counters);
  const RecordFormat& format = records.format();
  const std::uint64_t buffer_bytes = options.settings.sort_buffer_bytes;
  const std::uint64_t rows = options.settings.estimated_rows.value_or(handle.table().rows());

  std::optional<BoundedQueue> queue;
  std::optional<SortBuffer> buffer;
  if (query.limit && attach != Attach::packed_addon &&
      uses_priority_queue(rows, *query.limit, format.bytes, buffer_bytes)) {
    queue.emplace(static_cast<std::size_t>(*query.limit), format.bytes, format.key_bytes, counters);
    counters.is_priority_queue = 1;
  } else {
    buffer.emplace(buffer_bytes, format, counters);
  }
  Runs runs(storage, format, static_cast<std::size_t>(buffer_bytes), counters, interrupt);

  {
    const ReadSetFor reading(
        handle, options.design.is_read_set_narrow ? narrow_set(query, options) : handle.read_set);
    handle.rewind();
    for (std::uint64_t copied = 0; handle.next(counters); copied = counters.bytes_copied) {
      interrupt.advance(1 + (counters.bytes_copied - copied) / 16);
      if (query.where_column && handle.integer(*query.where_column) >= query.where_below) continue;
      ++counters.rows_sorted;
      if (queue) {
        records.write(queue->spare());
        queue->offer();
        continue;
      }
      const std::size_t bytes = records.size();
      std::byte* room = buffer->room(bytes);
      if (room == nullptr) {
        if (buffer->records().empty()) {
          refuse("sort_buffer_bytes must hold a record of " + std::to_string(bytes) +
                 " bytes and its pointer, got " + std::to_string(buffer_bytes));
        }
        buffer->sort(interrupt);
        runs.write(buffer->records());
        buffer->clear();
        room = buffer->room(bytes);
        if (room == nullptr) {
          refuse("sort_buffer_bytes must hold a record of " + std::to_string(bytes) +
                 " bytes and its pointer, got " + std::to_string(buffer_bytes));
        }
      }
      records.write(room);
      buffer->add(room, bytes);
    }
  }

  Client client(query, options.keep_values, result);
  const auto hand_out = [&](const std::byte* record) {
    if (!client.wants_more()) return false;
    interrupt.advance(1);
    if (attach == Attach::rowid) {
      handle.fetch(SortRecords::rowid(record, format), counters);
      client.take([&](std::size_t column) { return handle.value(column); });
    } else {
      const std::vector<std::span<const std::byte>> values = records.values(record);
      client.take([&](std::size_t column) { return values[column]; });
    }
    return client.wants_more();
  };
  if (queue) {
    std::vector<std::byte*> best = queue->records();
    SortBuffer::sort_records(best, format, counters, interrupt);
    for (const std::byte* record : best) hand_out(record);
    return result;
  }
  buffer->sort(interrupt);
  if (runs.empty()) {
    for (const std::byte* record : buffer->records()) {
      if (!hand_out(record)) break;
    }
    return result;
  }
  if (!buffer->records().empty()) runs.write(buffer->records());
  buffer.reset();
  runs.merge(hand_out);
  return result;
}

}  // namespace engineroom::filesort
