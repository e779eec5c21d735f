#include "hash_join/hybrid.hpp"

#include <algorithm>
#include <bit>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "common/require.hpp"
#include "hash_join/chunk_file.hpp"
#include "hash_join/key_hash.hpp"
#include "hash_join/packed_row.hpp"
#include "hash_join/row_buffer.hpp"

namespace engineroom::hash_join {

namespace {

constexpr std::uint64_t kLeastJoinBufferBytes = 16384;
constexpr std::size_t kMostRowBytes = 65535;

std::uint64_t lines(std::size_t bytes) { return (bytes + 63) / 64; }

class HybridHashJoin {
 public:
  HybridHashJoin(const Relation& build, const Relation& probe, const HybridOptions& options, Storage& storage,
                 Interrupt interrupt)
      : build_(build),
        probe_(probe),
        options_(options),
        storage_(storage),
        interrupt_(std::move(interrupt)),
        output_(result_, options.keep_rows),
        rows_(std::max(options.join_buffer_bytes, kLeastJoinBufferBytes)),
        packed_(*options.row_bytes),
        rejects_duplicates_(!options.extra.is_present() && (is_semi() || is_anti())) {}

  JoinResult run() {
    const bool knows_that_nothing_comes = options_.probe_row_first && probe_.size() == 0;
    if (!knows_that_nothing_comes) join_inputs();
    if (is_spilled()) join_chunks();
    return std::move(result_);
  }

 private:
  struct ChunkPair {
    ChunkFile build;
    ChunkFile probe;
  };

  bool is_inner() const { return options_.join == JoinType::inner; }
  bool is_left() const { return options_.join == JoinType::left; }
  bool is_semi() const { return options_.join == JoinType::semi; }
  bool is_anti() const { return options_.join == JoinType::anti; }
  bool keeps_unmatched() const { return is_left() || is_anti(); }
  bool is_spilled() const { return !chunks_.empty(); }
  bool is_joining_chunks() const { return current_chunk_ >= 0; }

  /// Fills the memory from the build input, once or as often as it takes, and probes each filling. A full
  /// memory sends the rest of both inputs to chunk files, if that is allowed.
  void join_inputs() {
    do {
      begin_filling();
      const bool is_full = fill_from_input();
      if (counters().passes == 1) {
        counters().build_rows_in_memory = rows_in_filling_;
        counters().build_keys_in_memory = rows_.keys();
      }
      charge(counters().work_build);
      if (is_full && options_.allow_spill) {
        create_chunk_files();
        spill_rest_of_build();
      }
      if (rows_.empty() && !keeps_unmatched()) return;
      const bool is_first = counters().passes == 1;
      probe_filling(is_first, !has_more_build_rows_, [this] { probe_with_input(); });
    } while (has_more_build_rows_);
  }

  /// Each pair of chunk files is a hash join of its own, of as many fillings as its build rows need.
  void join_chunks() {
    for (ChunkPair& pair : chunks_) rewind(pair.probe);
    for (ChunkPair& pair : chunks_) {
      ++current_chunk_;
      carried_.incoming.clear();
      bool is_first = true;
      do {
        begin_filling();
        note(Step::chunk_loading, -1, -1);
        fill_from_chunk(pair.build);
        charge(counters().work_chunk_join);
        probe_filling(is_first, pair.build.at_end(), [&] {
          if (!is_first) rewind(pair.probe);
          probe_with_file(pair.probe, Step::probe_lookup_from_chunk);
        });
        is_first = false;
      } while (!pair.build.at_end());
    }
  }

  /// Looks every probe row up in this filling. An inner join reads its probe rows again for each; any other
  /// join carries over, from each filling to the next, the rows that may still find something, with what they
  /// have found.
  template <class ProbeWithAll>
  void probe_filling(bool is_first, bool is_last, ProbeWithAll probe_with_all) {
    carries_over_ = !is_inner() && !is_last;
    if (is_first || is_inner()) {
      if (carries_over_) begin_carrying();
      probe_with_all();
      return;
    }
    carried_.incoming = std::move(carried_.outgoing);
    carried_.outgoing.clear();
    rewind(carried_.incoming.front());
    if (carries_over_) begin_carrying();
    probe_with_file(carried_.incoming.front(), Step::probe_lookup_from_saving_file);
  }

  /// Whether the memory was full before the input ended.
  bool fill_from_input() {
    while (next_build_row_ < build_.size()) {
      const std::size_t row = read_build_row();
      if (build_.is_null(row)) {
        note(Step::build_skipped_null, static_cast<std::int64_t>(row), -1);
      } else if (store(row_at(build_, row), Step::build_stored)) {
        return true;
      }
    }
    has_more_build_rows_ = false;
    return false;
  }

  void fill_from_chunk(ChunkFile& file) {
    for (bool is_full = false; !is_full && !file.at_end(); interrupt_.advance(1)) {
      Row row{};
      read(file, row);
      is_full = store(row, Step::build_stored_from_chunk);
    }
  }

  std::size_t read_build_row() {
    ++counters().build_rows_read;
    ++counters().work_build;
    interrupt_.advance(1);
    return next_build_row_++;
  }

  void create_chunk_files() {
    const std::uint32_t pairs = chunk_count(options_.estimated_build_rows.value_or(build_.size()),
                                            counters().build_keys_in_memory, options_.max_chunks);
    chunks_.reserve(pairs);
    for (std::uint32_t i = 0; i < pairs; ++i) {
      chunks_.push_back({ChunkFile(storage_, false), ChunkFile(storage_, keeps_unmatched())});
    }
    counters().chunk_files = 2 * pairs;
    note_io_buffers();
  }

  void spill_rest_of_build() {
    while (next_build_row_ < build_.size()) {
      const std::size_t number = read_build_row();
      if (build_.is_null(number)) {
        note(Step::build_skipped_null, static_cast<std::int64_t>(number), -1);
        continue;
      }
      const Row row = row_at(build_, number);
      const std::size_t chunk = chunk_of(row.key);
      write(chunks_[chunk].build, row, {});
      note(Step::build_to_chunk, row.number, -1, static_cast<std::int32_t>(chunk));
    }
    has_more_build_rows_ = false;
    for (ChunkPair& pair : chunks_) rewind(pair.build);
  }

  void probe_with_input() {
    for (std::size_t row = 0; row < probe_.size(); ++row) {
      ++counters().probe_rows_read;
      ++counters().work_probe;
      probe_row_ = row_at(probe_, row);
      probe_flags_ = {.is_null = probe_.is_null(row), .is_matched = false};
      probe(Step::probe_lookup);
    }
  }

  void probe_with_file(ChunkFile& file, Step step) {
    while (!file.at_end()) {
      probe_flags_ = read(file, probe_row_);
      probe(step);
    }
  }

  /// Looks the probe row up, hands out what it joins with in this filling, and keeps it for the next where it
  /// may find more there.
  void probe(Step step) {
    interrupt_.advance(1);
    std::optional<Address> next;
    if (!probe_flags_.is_null) {
      note(step, -1, probe_row_.number);
      ++counters().hash_probes;
      next = rows_.find(probe_row_.key);
      charge(join_work());
    } else if (!keeps_unmatched()) {
      return;
    }
    std::optional<Row> match = next_match(next);
    keep_probe_row_for_later(match.has_value());
    if (is_anti() || !match) {
      if (!match && keeps_unmatched() && !probe_flags_.is_matched && !will_meet_more_build_rows()) {
        emit(kNoRow, 0);
      }
      return;
    }
    if (is_semi()) return emit(kNoRow, 0);
    for (; match; match = next_match(next)) emit(match->number, match->payload);
  }

  /// The next of the rows with the probe row's key that passes the extra condition; `next` goes on behind it.
  std::optional<Row> next_match(std::optional<Address>& next) {
    std::optional<Row> found;
    while (next && !found) {
      const RowBuffer::Match match = rows_.match(*next);
      next = match.next;
      join_work() += lines(*options_.row_bytes);
      const Row row = unpack(match.row.first(*options_.row_bytes));
      if (options_.extra.is_present()) {
        ++counters().condition_checks;
        ++join_work();
        if (!options_.extra.holds(row.payload, probe_row_.payload)) continue;
      }
      found = row;
    }
    interrupt_.advance(1);
    return found;
  }

  /// Are there build rows that the current probe row has not been looked up in and will be?
  bool will_meet_more_build_rows() const { return carries_over_ || (is_spilled() && !is_joining_chunks()); }

  /// To its chunk file while the inputs are read, to the carried rows when this filling is not the last. A
  /// semijoin or antijoin is done with a row that has found its match.
  void keep_probe_row_for_later(bool has_match) {
    if (has_match && (is_semi() || is_anti())) return;
    const ChunkFile::Flags flags{.is_null = probe_flags_.is_null,
                                 .is_matched = probe_flags_.is_matched || has_match};
    if (is_spilled() && !is_joining_chunks()) {
      const std::size_t chunk = flags.is_null ? 0 : chunk_of(probe_row_.key);
      write(chunks_[chunk].probe, probe_row_, flags);
      note(Step::probe_to_chunk, -1, probe_row_.number, static_cast<std::int32_t>(chunk));
    } else if (carries_over_) {
      write(carried_.outgoing.front(), probe_row_, flags);
      ++counters().probe_rows_saved;
      note(Step::probe_saved, -1, probe_row_.number);
    }
  }

  void begin_carrying() {
    carried_.outgoing.clear();
    carried_.outgoing.emplace_back(storage_, keeps_unmatched());
    note_io_buffers();
  }

  void begin_filling() {
    ++counters().passes;
    rows_.clear();
    rows_in_filling_ = 0;
  }

  /// Returns whether the buffer is full now.
  bool store(const Row& row, Step step) {
    pack(row, packed_);
    const RowBuffer::Stored stored = rows_.store(row.key, packed_, rejects_duplicates_);
    if (stored == RowBuffer::Stored::duplicate) {
      note(Step::build_duplicate, row.number, -1);
      return false;
    }
    ++rows_in_filling_;
    (is_joining_chunks() ? counters().work_chunk_join : counters().work_build) += lines(packed_.size());
    counters().peak_memory_bytes = std::max(counters().peak_memory_bytes, rows_.bytes());
    counters().peak_table_bytes = std::max(counters().peak_table_bytes, rows_.table_bytes());
    note(step, row.number, -1);
    if (stored != RowBuffer::Stored::full) return false;
    note(Step::buffer_full, row.number, -1);
    return true;
  }

  void write(ChunkFile& file, const Row& row, ChunkFile::Flags flags) {
    pack(row, packed_);
    counters().file_writes -= file.writes();
    file.write(packed_, flags);
    counters().file_writes += file.writes();
    const std::size_t bytes = file.record_bytes(packed_.size());
    ++counters().rows_written;
    counters().bytes_written += bytes;
    counters().work_spill_write += 1 + lines(bytes);
  }

  void rewind(ChunkFile& file) {
    counters().file_writes -= file.writes();
    file.rewind();
    counters().file_writes += file.writes();
  }

  ChunkFile::Flags read(ChunkFile& file, Row& row) {
    const ChunkFile::Flags flags = file.read(packed_);
    row = unpack(packed_);
    const std::size_t bytes = file.record_bytes(packed_.size());
    ++counters().rows_read;
    counters().bytes_read += bytes;
    counters().work_spill_read += 1 + lines(bytes);
    return flags;
  }

  void emit(std::int64_t build_row, std::int64_t build_payload) {
    const JoinedRow row{build_row, probe_row_.number};
    output_.emit(row, build_payload, probe_row_.payload);
    ++join_work();
    note(Step::output, row.build_row, row.probe_row);
  }

  std::size_t chunk_of(std::int64_t key) const { return chunk_hash(key) & (chunks_.size() - 1); }

  Counters& counters() { return result_.counters; }
  std::uint64_t& join_work() {
    return is_joining_chunks() ? counters().work_chunk_join : counters().work_probe;
  }

  /// Adds what the table has counted since the last call to a phase's work.
  void charge(std::uint64_t& work) {
    work +=
        rows_.buckets_visited() - counters().buckets_visited + rows_.comparisons() - counters().comparisons;
    counters().buckets_visited = rows_.buckets_visited();
    counters().comparisons = rows_.comparisons();
  }

  void note_io_buffers() {
    const std::size_t files = 2 * chunks_.size() + carried_.incoming.size() + carried_.outgoing.size();
    counters().peak_io_buffer_bytes =
        std::max<std::uint64_t>(counters().peak_io_buffer_bytes, files * BufferedFile::kBufferBytes);
  }

  void note(Step step, std::int64_t build_row, std::int64_t probe_row) {
    note(step, build_row, probe_row, current_chunk_);
  }

  void note(Step step, std::int64_t build_row, std::int64_t probe_row, std::int32_t chunk) {
    if (result_.trace.size() >= options_.trace_limit) return;
    result_.trace.push_back(
        {step, chunk, static_cast<std::int32_t>(counters().passes), build_row, probe_row});
  }

  /// Probe rows on their way from one filling to the next: one file is read while the other is written.
  /// Empty or one file each.
  struct CarriedRows {
    std::vector<ChunkFile> incoming;
    std::vector<ChunkFile> outgoing;
  };

  Relation build_;
  Relation probe_;
  HybridOptions options_;
  Storage& storage_;
  Interrupt interrupt_;
  JoinResult result_;
  Output output_;
  RowBuffer rows_;
  std::vector<std::byte> packed_;
  bool rejects_duplicates_;

  std::size_t next_build_row_ = 0;
  bool has_more_build_rows_ = true;
  std::uint64_t rows_in_filling_ = 0;
  std::vector<ChunkPair> chunks_;
  std::int32_t current_chunk_ = -1;
  CarriedRows carried_;
  bool carries_over_ = false;

  Row probe_row_{};
  ChunkFile::Flags probe_flags_;
};

/// The options with what they leave open filled in.
HybridOptions checked(const Relation& build, const Relation& probe, HybridOptions options) {
  check(build, probe, options.extra);
  constexpr std::size_t kMostRows = std::numeric_limits<std::uint32_t>::max();
  if (build.size() > kMostRows || probe.size() > kMostRows) {
    refuse("row numbers are kept in 4 bytes; pass at most 4294967295 rows a side, got " +
           std::to_string(std::max(build.size(), probe.size())));
  }
  options::check(options);
  const std::size_t needed = std::max(packed_bytes(build), packed_bytes(probe));
  if (!options.row_bytes) options.row_bytes = needed;
  if (*options.row_bytes < needed || *options.row_bytes > kMostRowBytes) {
    refuse("row_bytes must be from " + std::to_string(needed) + ", what these columns need, to 65535, got " +
           std::to_string(*options.row_bytes));
  }
  return options;
}

}  // namespace

std::uint32_t chunk_count(std::uint64_t estimated_build_rows, std::uint64_t keys_in_memory,
                          std::uint32_t max_chunks) {
  if (keys_in_memory == 0) refuse("keys_in_memory must be at least 1, got 0; a full buffer holds a key");
  const std::uint64_t remaining =
      estimated_build_rows > keys_in_memory ? estimated_build_rows - keys_in_memory : 0;
  // Nine tenths as a fraction: ceil(remaining / (0.9 * keys)) is then exact.
  const std::uint64_t nine_tenths = keys_in_memory * 9;
  const std::uint64_t wanted =
      remaining / nine_tenths * 10 + (remaining % nine_tenths * 10 + nine_tenths - 1) / nine_tenths;
  return std::bit_ceil(static_cast<std::uint32_t>(std::clamp<std::uint64_t>(wanted, 1, max_chunks)));
}

JoinResult hybrid_hash_join(const Relation& build, const Relation& probe, const HybridOptions& options,
                            Storage& storage, Interrupt interrupt) {
  return HybridHashJoin(build, probe, checked(build, probe, options), storage, std::move(interrupt)).run();
}

}  // namespace engineroom::hash_join
