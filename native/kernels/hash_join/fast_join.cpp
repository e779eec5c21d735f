#include "hash_join/fast_join.hpp"

#include <algorithm>
#include <atomic>
#include <bit>
#include <functional>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "common/require.hpp"
#include "hash_join/fast_partition.hpp"
#include "hash_join/fast_table.hpp"
#include "hash_join/key_array.hpp"
#include "hash_join/key_filter.hpp"

namespace engineroom::hash_join {

namespace {

// Up to this size one table is as fast as partitions and takes a third of the memory. Measured with ten
// million probe rows on a core with 2 MiB of second-level and a share of 260 MiB of third-level cache: the
// two meet between 500,000 and 600,000 build rows (23 to 28 MB), with one thread and with two; at a million,
// partitions take three quarters of the time.
constexpr std::size_t kOneTableBytes = std::size_t{26} << 20;
// A partition's table: with the rows that stream past it, it is to stay in a second-level cache of 1 to 2
// MiB.
constexpr std::size_t kPartitionTableBytes = std::size_t{920} << 10;
constexpr unsigned kMostBits = 12;
constexpr std::size_t kLeastRowsPerPage = 16;
constexpr std::size_t kMostRowsPerPage = 4096;
constexpr std::size_t kUsualRowsPerPage = 1024;
// Larger writes are not faster. In whole blocks the system takes a write a fifth cheaper: no block is begun
// in one write and ended in another, and larger pieces of its cache serve.
constexpr std::size_t kMostWriteBytes = std::size_t{256} << 10;
constexpr std::size_t kFileBlockBytes = 4096;
constexpr std::size_t kMorselRows = std::size_t{1} << 16;
constexpr std::size_t kRowBytes = sizeof(HashedRow);
// Up to this size an array of dense keys is taken whatever the order of the keys: it stays in the second-level cache.
// Of a million keys in any order, 8 MB, partitions took two thirds of its time.
constexpr std::size_t kArrayBytes = std::size_t{1} << 20;
// A filter costs as much as the build side is large and spares as much as the probe side is.
constexpr std::size_t kProbeRowsPerFilteredRow = 4;

/// One bit a probe row of a partition, for joins other than inner that take several passes.
class Matched {
 public:
  Matched(std::size_t rows, Meter& meter) : bits_(MeteredAllocator<std::uint64_t>(meter)) {
    bits_.resize((rows + 63) / 64);
    std::ranges::fill(bits_, 0);
  }
  bool get(std::size_t row) const { return (bits_[row / 64] >> row % 64 & 1) != 0; }
  void set(std::size_t row) { bits_[row / 64] |= std::uint64_t{1} << row % 64; }

 private:
  MeteredVector<std::uint64_t> bits_;
};

/// What one thread has found.
struct Found {
  CountAndSum total;
  std::vector<JoinedRow> rows;
  Counters counters;
};

/// Which pass over a partition this is. Unmatched rows come out in the last.
struct Pass {
  Matched* matched;  // null if the first pass is the last
  bool is_last;
};

struct Layout {
  bool one_table;
  PartitionPlan plan;
  std::size_t rows_per_pass;  // that one thread's table holds at most
};

/// What a thread joins partitions with, one after the other.
struct Workplace {
  FastTable& table;
  MeteredVector<HashedRow>& overflow;
  MeteredVector<HashedRow>& buffer;  // for a page that is read back
  ReadBack& read;
  std::size_t most_buckets;
};

unsigned bits_for(std::size_t rows, std::size_t rows_per_partition) {
  const std::size_t partitions = rows / std::max<std::size_t>(rows_per_partition, 1) + 1;
  return std::clamp(static_cast<unsigned>(std::bit_width(partitions - 1)), 1U, kMostBits);
}

/// Memory of both sides' partitions but for the full pages, all threads together.
std::uint64_t partition_bytes(unsigned bits, std::size_t rows_per_page, std::size_t rows,
                              std::size_t threads) {
  const std::uint64_t a_partition = rows_per_page * kRowBytes + Partitions::kBytesPerPartition + 8;
  return 2 * threads * ((std::uint64_t{1} << bits) * a_partition) + rows / rows_per_page * 16;
}

/// Divides the memory: a third at most for pages being filled, a third at most for tables, the rest for full
/// pages.
Layout layout_within(std::uint64_t memory_bytes, std::size_t build_rows, std::size_t probe_rows,
                     bool is_inner, std::size_t threads, unsigned wanted_bits) {
  const std::uint64_t rows = build_rows + probe_rows;
  const std::uint64_t flag_bytes = is_inner ? 0 : probe_rows / 8 + 8 * threads;
  const std::uint64_t third = (memory_bytes - std::min(flag_bytes, memory_bytes)) / 3;
  const std::size_t most_table_rows = third / threads / (FastTable::kMostBytesPerRow + kRowBytes);
  const unsigned bits = std::max(
      wanted_bits, bits_for(build_rows, most_table_rows - std::min(most_table_rows, most_table_rows / 4)));
  for (const std::size_t least : {std::size_t{512}, kLeastRowsPerPage}) {
    for (unsigned b = bits; b >= 1; --b) {
      for (std::size_t page = kMostRowsPerPage; page >= least; page /= 2) {
        if (page > most_table_rows / 2 || partition_bytes(b, page, rows, threads) > third) continue;
        // A table need not hold more than an uncommonly full partition; a page is not divided.
        const std::size_t full = (build_rows >> b) + (build_rows >> b) / 4 + 64;
        const std::size_t table_rows = std::min(most_table_rows, full + page);
        const std::size_t packed = most_packed_bytes(page);
        const std::size_t most =
            std::clamp(static_cast<std::size_t>(memory_bytes / 64 / threads), packed, kMostWriteBytes);
        const std::size_t write = most < kFileBlockBytes ? most : most / kFileBlockBytes * kFileBlockBytes;
        const std::uint64_t spare_pages = 2 * threads * page * kRowBytes;
        const std::uint64_t tables =
            threads * (table_rows * FastTable::kMostBytesPerRow + 1024 + page * kRowBytes + write + packed);
        const std::uint64_t taken =
            flag_bytes + partition_bytes(b, page, rows, threads) + tables + spare_pages;
        if (taken > memory_bytes) continue;
        return {.one_table = false,
                .plan = {.bits = b,
                         .rows_per_page = page,
                         .pages_kept_in_memory = (memory_bytes - taken) / (page * kRowBytes * threads),
                         .write_bytes = write},
                .rows_per_pass = table_rows};
      }
    }
  }
  refuse("memory_bytes must leave room for pages and a table, got " + std::to_string(memory_bytes) + " for " +
         std::to_string(rows) + " rows and " + std::to_string(threads) +
         " threads; pass a larger one or fewer threads");
}

class FastJoin {
 public:
  FastJoin(const Relation& build, const Relation& probe, const FastJoinOptions& options, Storage& storage,
           const Workers& workers, Interrupt interrupt)
      : build_(build),
        probe_(probe),
        options_(options),
        storage_(storage),
        workers_(workers),
        interrupt_(std::move(interrupt)),
        meter_(options.workspace),
        found_(options.threads) {}

  JoinResult run() {
    if (with_array()) return collect();
    const Layout layout = choose();
    if (layout.one_table) {
      with_one_table(layout);
    } else {
      with_partitions(layout);
    }
    return collect();
  }

 private:
  Layout choose() const {
    const std::size_t n = build_.size();
    const unsigned bits = bits_for(n, kPartitionTableBytes / FastTable::kBytesPerRow);
    // Partitions of the build side and the table at once, with every row in an overflow that has just
    // doubled.
    const std::uint64_t one_table_bytes = n * (kRowBytes + FastTable::kMostBytesPerRow + kRowBytes) +
                                          partition_bytes(bits, kUsualRowsPerPage, n, options_.threads) +
                                          4096;
    const bool fits = !options_.memory_bytes || one_table_bytes <= *options_.memory_bytes;
    const bool small = n * FastTable::kBytesPerRow <= kOneTableBytes;
    const bool wants_one =
        options_.layout == FastLayout::one_table || (options_.layout != FastLayout::partitioned && small);
    if (fits && wants_one) return {.one_table = true, .plan = unbounded(bits), .rows_per_pass = n};
    if (!options_.memory_bytes) {
      return {.one_table = false,
              .plan = unbounded(bits),
              .rows_per_pass = std::numeric_limits<std::size_t>::max()};
    }
    return layout_within(*options_.memory_bytes, n, probe_.size(), options_.join == JoinType::inner,
                         options_.threads, bits);
  }

  static PartitionPlan unbounded(unsigned bits) {
    return {.bits = bits,
            .rows_per_page = kUsualRowsPerPage,
            .pages_kept_in_memory = std::numeric_limits<std::size_t>::max(),
            .write_bytes = 0};
  }

  /// Runs work(thread) on all threads; when one fails, the others end soon.
  void on_all_threads(const std::function<void(std::size_t)>& work) {
    workers_(options_.threads, [&](std::size_t thread) {
      try {
        work(thread);
      } catch (...) {
        stopped_.store(true, std::memory_order_relaxed);
        throw;
      }
    });
  }

  /// To be called now and then; false when another thread has failed.
  bool goes_on(std::size_t thread, std::uint64_t steps) {
    if (thread == 0) interrupt_.advance(steps);
    return !stopped_.load(std::memory_order_relaxed);
  }

  /// The first row of `thread`'s share: rows are dealt in order, so that partitions keep it.
  static std::size_t share(std::size_t rows, std::size_t thread, std::size_t threads) {
    return rows / threads * thread + std::min(thread, rows % threads);
  }

  Partitions cut(const Relation& relation, const PartitionPlan& plan, std::size_t thread) {
    const std::size_t begin = share(relation.size(), thread, options_.threads);
    const std::size_t end = share(relation.size(), thread + 1, options_.threads);
    Partitions partitions(plan, end - begin, &storage_, meter_);
    HashedBlocks blocks(relation, begin, end, options_.keep_rows);
    const bool nulls_come_out =
        &relation == &probe_ && (options_.join == JoinType::left || options_.join == JoinType::anti);
    while (blocks.next([&](std::size_t row) {
      if (nulls_come_out) emit_alone(value_of(row), found_[thread]);
    })) {
      if (&relation == &probe_ && filter_) blocks.leave_out(*filter_);
      partitions.append(blocks.rows(), blocks.ahead());
      if (!goes_on(thread, blocks.rows().size + 1)) break;
    }
    partitions.finish();
    Counters& counters = found_[thread].counters;
    counters.bytes_written += partitions.bytes_written();
    counters.rows_written += partitions.rows_written();
    counters.chunk_files += partitions.bytes_written() > 0;
    return partitions;
  }

  std::uint64_t value_of(std::size_t probe_row) const {
    return options_.keep_rows ? probe_row : static_cast<std::uint64_t>(probe_.payload_of(probe_row));
  }

  std::vector<Partitions> cut_all(const Relation& relation, const std::vector<PartitionPlan>& plans) {
    std::vector<std::optional<Partitions>> cuts(options_.threads);
    on_all_threads([&](std::size_t thread) { cuts[thread].emplace(cut(relation, plans[thread], thread)); });
    std::vector<Partitions> sides;
    for (std::optional<Partitions>& side : cuts) sides.push_back(std::move(*side));
    return sides;
  }

  /// Whether the build side was fit for an array by key, and was joined with it.
  bool with_array() {
    if (options_.layout != FastLayout::automatic && options_.layout != FastLayout::array) return false;
    const std::optional<KeyRange> range = KeyArray::range_of(build_);
    if (!range) return false;
    const std::uint64_t bytes = KeyArray::bytes_for(*range);
    if (options_.memory_bytes && bytes > *options_.memory_bytes) return false;
    if (options_.layout == FastLayout::automatic && bytes > kArrayBytes &&
        !(KeyArray::comes_in_order(build_) && KeyArray::comes_in_order(probe_))) {
      return false;
    }
    KeyArray array(*range, meter_);
    for (std::size_t begin = 0; begin < build_.size(); begin += kMorselRows) {
      const std::size_t end = std::min(begin + kMorselRows, build_.size());
      if (!array.insert(build_, begin, end, options_.keep_rows)) return false;
      goes_on(0, end - begin);
    }
    array.finish();
    found_[0].counters.passes = 1;
    found_[0].counters.build_rows_in_memory = found_[0].counters.buckets_visited = array.rows();
    std::atomic<std::size_t> next = 0;
    on_all_threads([&](std::size_t thread) {
      for (std::size_t begin = next.fetch_add(kMorselRows); begin < probe_.size();
           begin = next.fetch_add(kMorselRows)) {
        const std::size_t end = std::min(begin + kMorselRows, probe_.size());
        look_up(array, begin, end, found_[thread]);
        if (!goes_on(thread, end - begin)) return;
      }
    });
    return true;
  }

  void look_up(const KeyArray& array, std::size_t begin, std::size_t end, Found& found) const {
    found.counters.hash_probes += end - begin;
    found.counters.buckets_visited += end - begin;
    found.total.comparisons += end - begin;
    if (options_.join == JoinType::inner && !options_.keep_rows) {
      array.count_matches(probe_, begin, end, found.total);
      return;
    }
    for (std::size_t row = begin; row < end; ++row) {
      const std::optional<std::uint64_t> match =
          probe_.is_null(row) ? std::nullopt : array.find(probe_.key[row]);
      if (match && (options_.join == JoinType::inner || options_.join == JoinType::left)) {
        emit_pair(*match, value_of(row), found);
      } else if (match ? options_.join == JoinType::semi
                       : options_.join == JoinType::left || options_.join == JoinType::anti) {
        emit_alone(value_of(row), found);
      }
    }
  }

  /// Of joins under a memory bound all of it is dealt out already; others have to be worth it.
  bool may_filter() const {
    return !options_.memory_bytes && (options_.join == JoinType::inner || options_.join == JoinType::semi) &&
           probe_.size() / kProbeRowsPerFilteredRow >= build_.size();
  }

  /// A filter of the build side, if it leaves out at least half of some probe rows. A word of it belongs to one partition,
  /// so that threads take them in turns.
  void make_filter(const std::vector<Partitions>& builds, const Layout& layout) {
    filter_.emplace(build_.size(), meter_);
    std::atomic<std::size_t> next = 0;
    on_all_threads([&](std::size_t thread) {
      MeteredVector<HashedRow> no_buffer = no_rows();  // nothing is written out
      ReadBack none;
      for (std::size_t p = next.fetch_add(1); p < layout.plan.partitions(); p = next.fetch_add(1)) {
        for (const Partitions& side : builds) {
          side.for_each_page(p, no_buffer, none, [&](std::span<const HashedRow> rows, ReadAhead) {
            filter_->insert(HashedRows(rows));
          });
        }
        if (!goes_on(thread, rows_of(builds, p))) return;
      }
    });
    constexpr std::size_t kSamples = 16;
    std::size_t asked = 0;
    std::size_t kept = 0;
    for (std::size_t sample = 0; sample < kSamples; ++sample) {
      const std::size_t begin = share(probe_.size(), sample, kSamples);
      HashedBlocks some(probe_, begin, std::min(begin + FastTable::kBlock, probe_.size()), true);
      while (some.next([](std::size_t) {})) {
        asked += some.rows().size;
        some.leave_out(*filter_);
        kept += some.rows().size;
      }
    }
    if (2 * kept > asked) filter_.reset();
  }

  static std::size_t rows_of(const std::vector<Partitions>& sides, std::size_t partition) {
    std::size_t rows = 0;
    for (const Partitions& side : sides) rows += side.rows(partition);
    return rows;
  }

  MeteredVector<HashedRow> no_rows() { return MeteredVector<HashedRow>(MeteredAllocator<HashedRow>(meter_)); }

  void with_one_table(const Layout& layout) {
    const std::size_t n = build_.size();
    const std::size_t partitions = layout.plan.partitions();
    const std::size_t buckets_per_partition = FastTable::buckets_for(n) / partitions + 1;
    FastTable table(buckets_per_partition * partitions, 0, meter_);
    std::vector<MeteredVector<HashedRow>> overflows;
    if (n * FastTable::kBytesPerRow <= kPartitionTableBytes) {
      overflows.push_back(no_rows());
      HashedBlocks blocks(build_, 0, n, options_.keep_rows);
      while (blocks.next([](std::size_t) {})) {
        table.insert(blocks.rows(), overflows[0], blocks.ahead());
        found_[0].counters.buckets_visited += blocks.rows().size;
      }
    } else {
      // A partition is a range of buckets: it stays in the cache, and no other thread writes to it.
      const std::vector<Partitions> sides =
          cut_all(build_, std::vector<PartitionPlan>(options_.threads, layout.plan));
      for (std::size_t partition = 0; partition < partitions; ++partition) overflows.push_back(no_rows());
      std::atomic<std::size_t> next = 0;
      on_all_threads([&](std::size_t thread) {
        MeteredVector<HashedRow> no_buffer = no_rows();  // nothing is written out
        ReadBack none;
        for (std::size_t p = next.fetch_add(1); p < partitions; p = next.fetch_add(1)) {
          for (const Partitions& side : sides) {
            side.for_each_page(p, no_buffer, none, [&](std::span<const HashedRow> rows, ReadAhead ahead) {
              table.insert(HashedRows(rows), overflows[p], ahead);
              found_[thread].counters.buckets_visited += rows.size();
            });
          }
          if (!goes_on(thread, buckets_per_partition)) return;
        }
      });
    }
    table.finish(overflows);
    overflows.clear();
    found_[0].counters.passes = 1;
    found_[0].counters.build_rows_in_memory = found_[0].counters.buckets_visited;
    for (std::size_t t = 1; t < options_.threads; ++t) {
      found_[0].counters.build_rows_in_memory += found_[t].counters.buckets_visited;
    }

    std::atomic<std::size_t> next = 0;
    on_all_threads([&](std::size_t thread) {
      Found& found = found_[thread];
      const bool nulls_come_out = options_.join == JoinType::left || options_.join == JoinType::anti;
      for (std::size_t begin = next.fetch_add(kMorselRows); begin < probe_.size();
           begin = next.fetch_add(kMorselRows)) {
        HashedBlocks blocks(probe_, begin, std::min(begin + kMorselRows, probe_.size()), options_.keep_rows);
        while (blocks.next([&](std::size_t row) {
          if (nulls_come_out) emit_alone(value_of(row), found);
        })) {
          const std::uint64_t before = found.total.comparisons;
          look_up(table, blocks.rows(), {.matched = nullptr, .is_last = true}, 0, found, blocks.ahead());
          if (!goes_on(thread, found.total.comparisons - before)) return;
        }
      }
    });
  }

  void with_partitions(const Layout& layout) {
    const std::size_t n = build_.size();
    std::vector<PartitionPlan> plans(options_.threads, layout.plan);
    const std::vector<Partitions> builds = cut_all(build_, plans);
    for (std::size_t t = 0; t < options_.threads; ++t) {
      plans[t].pages_kept_in_memory -= builds[t].pages_kept();
      Counters& counters = found_[t].counters;
      counters.build_rows_in_memory -= counters.rows_written;
    }
    for (std::size_t p = 0; p < layout.plan.partitions(); ++p) {
      found_[0].counters.build_rows_in_memory += rows_of(builds, p);
    }
    if (may_filter()) make_filter(builds, layout);
    const std::vector<Partitions> probes = cut_all(probe_, plans);
    filter_.reset();

    const bool bounded = layout.rows_per_pass != std::numeric_limits<std::size_t>::max();
    // Twice the usual, for partitions of many duplicates; the rest is their overflow's.
    const std::size_t most_buckets =
        FastTable::buckets_for(bounded ? layout.rows_per_pass : (n >> layout.plan.bits) * 2);
    std::atomic<std::size_t> next = 0;
    on_all_threads([&](std::size_t thread) {
      FastTable table(most_buckets, layout.plan.bits, meter_);
      MeteredVector<HashedRow> overflow = no_rows();
      MeteredVector<HashedRow> buffer = no_rows();
      buffer.resize(layout.plan.rows_per_page);
      ReadBack read;
      if (bounded) {
        overflow.reserve(layout.rows_per_pass);
        table.reserve_overflow(layout.rows_per_pass);
      }
      for (std::size_t p = next.fetch_add(1); p < layout.plan.partitions(); p = next.fetch_add(1)) {
        join_partition(p, builds, probes, layout, {table, overflow, buffer, read, most_buckets}, thread);
        if (!goes_on(thread, 1)) return;
      }
      found_[thread].counters.rows_read = read.rows;
      found_[thread].counters.bytes_read = read.bytes;
    });
  }

  /// Fills the table with as much of the partition as it may hold, looks up all of the partition's probe
  /// rows, and again until no build row is left.
  void join_partition(std::size_t partition, const std::vector<Partitions>& builds,
                      const std::vector<Partitions>& probes, const Layout& layout, const Workplace& workplace,
                      std::size_t thread) {
    const auto& [table, overflow, buffer, read, most_buckets] = workplace;
    const std::size_t most_rows = layout.rows_per_pass;
    Found& found = found_[thread];
    const std::size_t build_rows = rows_of(builds, partition);
    const std::size_t probe_rows = rows_of(probes, partition);
    const bool keeps_unmatched = options_.join == JoinType::left || options_.join == JoinType::anti;
    if (probe_rows == 0 || (build_rows == 0 && !keeps_unmatched)) return;
    const std::size_t buckets =
        std::min(FastTable::buckets_for(std::min(build_rows, most_rows)), most_buckets);

    // A page is not divided, so a pass ends when the table might not hold another one.
    const auto fits = [&](std::size_t rows) {
      return rows <= most_rows - std::min(most_rows, layout.plan.rows_per_page);
    };
    std::optional<Matched> matched;
    if (options_.join != JoinType::inner && !fits(build_rows)) matched.emplace(probe_rows, meter_);
    std::size_t left = build_rows;
    std::size_t in_table = 0;
    const auto empty_table = [&] {
      overflow.clear();
      table.reset(buckets);
      in_table = 0;
    };
    const auto look_up_all = [&] {
      ++found.counters.passes;
      table.finish(std::span(&overflow, 1));
      const Pass pass{.matched = matched ? &*matched : nullptr, .is_last = left == 0};
      std::size_t row = 0;
      for (const Partitions& side : probes) {
        side.for_each_page(partition, buffer, read, [&](std::span<const HashedRow> rows, ReadAhead ahead) {
          const std::uint64_t before = found.total.comparisons;
          if (stopped_.load(std::memory_order_relaxed)) return;
          look_up(table, HashedRows(rows), pass, row, found, ahead);
          goes_on(thread, found.total.comparisons - before);
          row += rows.size();
        });
      }
    };
    empty_table();
    for (const Partitions& side : builds) {
      // A page is copied into the table before the pass, whose pages then use the same buffer.
      side.for_each_page(partition, buffer, read, [&](std::span<const HashedRow> rows, ReadAhead ahead) {
        table.insert(HashedRows(rows), overflow, ahead);
        found.counters.buckets_visited += rows.size();
        in_table += rows.size();
        left -= rows.size();
        if (left > 0 && !fits(in_table)) {
          look_up_all();
          empty_table();
        }
      });
    }
    look_up_all();
  }

  void look_up(const FastTable& table, const HashedRows& rows, const Pass& pass, std::size_t first,
               Found& found, ReadAhead ahead) {
    found.counters.hash_probes += rows.size;
    found.counters.buckets_visited += rows.size;
    if (options_.join == JoinType::inner && !options_.keep_rows) {
      for (std::size_t i = 0; i < rows.size; i += FastTable::kBlock) {
        table.count_matches(rows.part(i, std::min(FastTable::kBlock, rows.size - i)), found.total, ahead);
      }
      return;
    }
    const bool needs_all = options_.join == JoinType::inner || options_.join == JoinType::left;
    for (std::size_t i = 0; i < rows.size; ++i) {
      const std::uint64_t probe_value = rows.value[i * rows.stride];
      const bool was_matched = pass.matched != nullptr && pass.matched->get(first + i);
      bool is_matched = was_matched;
      if (needs_all || !was_matched) {
        found.total.comparisons +=
            table.for_each_match(rows.hash[i * rows.stride], [&](std::uint64_t build_value) {
              is_matched = true;
              if (needs_all) emit_pair(build_value, probe_value, found);
              return needs_all;
            });
      }
      if (pass.matched != nullptr && is_matched) pass.matched->set(first + i);
      const bool comes_out_alone =
          options_.join == JoinType::semi ? is_matched && !was_matched : pass.is_last && !is_matched;
      if (comes_out_alone && options_.join != JoinType::inner) emit_alone(probe_value, found);
    }
  }

  void emit_pair(std::uint64_t build_value, std::uint64_t probe_value, Found& found) const {
    ++found.total.count;
    if (!options_.keep_rows) {
      found.total.sum += build_value + probe_value;
      return;
    }
    const JoinedRow row{.build_row = static_cast<std::int64_t>(build_value),
                        .probe_row = static_cast<std::int64_t>(probe_value)};
    found.rows.push_back(row);
    found.total.sum += static_cast<std::uint64_t>(build_.payload_of(build_value)) +
                       static_cast<std::uint64_t>(probe_.payload_of(probe_value));
  }

  void emit_alone(std::uint64_t probe_value, Found& found) const {
    ++found.total.count;
    if (!options_.keep_rows) {
      found.total.sum += probe_value;
      return;
    }
    found.rows.push_back({.build_row = kNoRow, .probe_row = static_cast<std::int64_t>(probe_value)});
    found.total.sum += static_cast<std::uint64_t>(probe_.payload_of(probe_value));
  }

  JoinResult collect() {
    JoinResult result;
    Counters& all = result.counters;
    std::uint64_t sum = 0;
    for (const Found& found : found_) {
      const Counters& c = found.counters;
      result.count += found.total.count;
      sum += found.total.sum;
      all.comparisons += found.total.comparisons;
      all.hash_probes += c.hash_probes;
      all.buckets_visited += c.buckets_visited;
      all.passes += c.passes;
      all.build_rows_in_memory += c.build_rows_in_memory;
      all.chunk_files += c.chunk_files;
      all.rows_written += c.rows_written;
      all.bytes_written += c.bytes_written;
      all.rows_read += c.rows_read;
      all.bytes_read += c.bytes_read;
    }
    all.build_rows_read = build_.size();
    all.probe_rows_read = probe_.size();
    all.peak_memory_bytes = meter_.peak();
    result.sum = static_cast<std::int64_t>(sum);
    if (options_.keep_rows) result.rows = in_order();
    return result;
  }

  /// All rows by probe row. Those of one probe row were found by one thread in order of their build rows, and
  /// stay so.
  std::vector<JoinedRow> in_order() {
    const auto by_probe = [](const JoinedRow& a, const JoinedRow& b) { return a.probe_row < b.probe_row; };
    if (found_.size() == 1 && std::ranges::is_sorted(found_[0].rows, by_probe))
      return std::move(found_[0].rows);
    std::vector<std::size_t> place(probe_.size() + 1);
    for (const Found& found : found_) {
      for (const JoinedRow& row : found.rows) ++place[static_cast<std::size_t>(row.probe_row) + 1];
    }
    for (std::size_t i = 1; i < place.size(); ++i) place[i] += place[i - 1];
    std::vector<JoinedRow> ordered(place.back());
    for (Found& found : found_) {
      for (const JoinedRow& row : found.rows) ordered[place[static_cast<std::size_t>(row.probe_row)]++] = row;
      found.rows = {};
    }
    return ordered;
  }

  const Relation& build_;
  const Relation& probe_;
  const FastJoinOptions& options_;
  Storage& storage_;
  const Workers& workers_;
  Interrupt interrupt_;
  Meter meter_;
  std::optional<KeyFilter> filter_;  // of the build side, while the probe side is cut
  std::atomic<bool> stopped_ = false;
  std::vector<Found> found_;
};

}  // namespace

JoinResult fast_join(const Relation& build, const Relation& probe, const FastJoinOptions& options,
                     Storage& storage, const Workers& workers, Interrupt interrupt) {
  check(build, probe, {});
  options::check(options);
  // Rows of a partition and places in its overflow are counted in 32 bits.
  constexpr std::size_t kMostRows = std::numeric_limits<std::uint32_t>::max();
  if (build.size() > kMostRows)
    refuse("build must have at most 2^32 - 1 rows, got " + std::to_string(build.size()));
  const bool swaps = options.may_swap && options.join == JoinType::inner && !options.keep_rows &&
                     probe.size() < build.size();
  if (!swaps) return FastJoin(build, probe, options, storage, workers, std::move(interrupt)).run();
  JoinResult result = FastJoin(probe, build, options, storage, workers, std::move(interrupt)).run();
  std::swap(result.counters.build_rows_read, result.counters.probe_rows_read);
  return result;
}

}  // namespace engineroom::hash_join
