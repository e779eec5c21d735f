#include "hash_join/fast_table.hpp"

#include <algorithm>

#include "common/x86.hpp"

namespace engineroom::hash_join {

namespace {

#if ENGINEROOM_X86
// AVX-512 multiplies eight 64-bit numbers at once; the loop is the portable one, compiled for it.
#if defined(__clang__)
[[gnu::target("avx512f,avx512dq")]]
#else
[[gnu::target("avx512f,avx512dq,prefer-vector-width=512"), gnu::optimize("O3")]]
#endif
void hash_keys_avx512(std::span<const std::int64_t> keys, std::uint64_t* hash) {
  for (std::size_t i = 0; i < keys.size(); ++i) hash[i] = hash_of(keys[i]);
}

bool has_avx2() {
  static const bool has = __builtin_cpu_supports("avx2") != 0;
  return has;
}

bool has_avx512() {
  static const bool has = __builtin_cpu_supports("avx512f") != 0 && __builtin_cpu_supports("avx512dq") != 0;
  return has;
}
#endif

}  // namespace

void hash_keys(std::span<const std::int64_t> keys, std::uint64_t* hash) {
#if ENGINEROOM_X86
  if (has_avx512()) return hash_keys_avx512(keys, hash);
#endif
  for (std::size_t i = 0; i < keys.size(); ++i) hash[i] = hash_of(keys[i]);
}

FastTable::FastTable(std::size_t buckets, unsigned prefix_bits, Meter& meter)
    : prefix_bits_(prefix_bits),
      lines_(MeteredAllocator<Line>(meter)),
      ends_(MeteredAllocator<std::uint32_t>(meter)),
      overflow_(MeteredAllocator<HashedRow>(meter)) {
  reset(buckets);
}

void FastTable::reset(std::size_t buckets) {
  // Two at least, so that each bucket has hashes that can never be looked for in it.
  buckets_ = std::max<std::size_t>(buckets, 2);
  if (lines_.size() < buckets_) {
    lines_.resize(buckets_);
    ends_.resize(buckets_ + 1);
  }
  // An empty slot holds a hash of another bucket: all zeros is in the first, all ones in the last.
  lines_[0].hash.fill(~std::uint64_t{0});
  for (std::size_t b = 1; b < buckets_; ++b) lines_[b].hash.fill(0);
  std::fill_n(ends_.begin(), buckets_ + 1, 0U);
  overflow_.clear();
  splits_ = false;
}

void FastTable::insert(const HashedRows& rows, MeteredVector<HashedRow>& overflow, ReadAhead ahead) {
  for (std::size_t i = 0; i < rows.size; ++i) {
    if (i % ReadAhead::kRowsPerStep == 0) ahead.step();
    const HashedRow row{.hash = rows.hash[i * rows.stride], .value = rows.value[i * rows.stride]};
    const std::size_t b = bucket(row.hash);
    const std::uint32_t slot = ends_[b + 1]++;
    if (slot < kSlots) [[likely]] {
      lines_[b].hash[slot] = row.hash;
      lines_[b].value[slot] = row.value;
    } else {
      overflow.push_back(row);
    }
  }
}

void FastTable::finish(std::span<MeteredVector<HashedRow>> overflows) {
  std::uint32_t begin = 0;
  for (std::size_t b = 0; b < buckets_; ++b) {
    const std::uint32_t n = ends_[b + 1];
    ends_[b + 1] = begin;
    begin += n > kSlots ? n - static_cast<std::uint32_t>(kSlots) : 0;
  }
  overflow_.resize(begin);
  for (const MeteredVector<HashedRow>& rows : overflows) {
    for (const HashedRow& row : rows) {
      const std::size_t b = bucket(row.hash);
      overflow_[ends_[b + 1]++] = row;
      splits_ = splits_ || std::ranges::find(lines_[b].hash, row.hash) != lines_[b].hash.end();
    }
  }
}

void FastTable::count_overflow(std::uint64_t hash, std::uint64_t value, CountAndSum& found) const {
  const std::size_t b = bucket(hash);
  const std::uint32_t begin = ends_[b];
  const std::uint32_t end = ends_[b + 1];
  std::uint64_t count = 0;
  std::uint64_t sum = 0;
  for (std::uint32_t i = begin; i < end; ++i) {
    const bool match = overflow_[i].hash == hash;
    count += match;
    sum += match ? overflow_[i].value + value : 0;
  }
  found.count += count;
  found.sum += sum;
  found.comparisons += end - begin;
}

template <bool kSplits>
void FastTable::count_portable(const HashedRows& rows, CountAndSum& found) const {
  std::uint64_t count = 0;
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < rows.size; ++i) {
    const std::uint64_t hash = rows.hash[i * rows.stride];
    const std::uint64_t value = rows.value[i * rows.stride];
    const Line& line = lines_[bucket(hash)];
    std::uint64_t matches = 0;
    for (std::size_t slot = 0; slot < kSlots; ++slot) {
      const bool match = line.hash[slot] == hash;
      matches += match;
      sum += match ? line.value[slot] + value : 0;
    }
    count += matches;
    if (kSplits || matches == 0) count_overflow(hash, value, found);
  }
  found.count += count;
  found.sum += sum;
}

#if ENGINEROOM_X86
// A mispredicted branch costs as much as five look-ups, so the main loop has none: it lists the rows that may
// have matches in the overflow, always writing the number and moving on only if it counts.
template <bool kSplits, std::size_t kStride>
[[gnu::target("avx2")]] void FastTable::count_avx2(const HashedRows& rows, CountAndSum& found,
                                                   ReadAhead& ahead) const {
  std::array<std::uint32_t, kBlock + kAhead> bucket_of;
  std::array<std::uint32_t, kBlock + 1> late;
  const std::uint64_t n_buckets = buckets_;
  const unsigned prefix_bits = prefix_bits_;
  const Line* const lines = lines_.data();
  for (std::size_t i = 0; i < rows.size; ++i) {
    bucket_of[i] =
        static_cast<std::uint32_t>((((rows.hash[i * kStride] << prefix_bits) >> 32) * n_buckets) >> 32);
  }
  for (std::size_t i = rows.size; i < rows.size + kAhead; ++i) bucket_of[i] = 0;
  for (std::size_t i = 0; i < kAhead; ++i) __builtin_prefetch(lines + bucket_of[i]);

  __m256i count = _mm256_setzero_si256();
  __m256i sum = _mm256_setzero_si256();
  std::size_t n_late = 0;
  for (std::size_t i = 0; i < rows.size; ++i) {
    __builtin_prefetch(lines + bucket_of[i + kAhead]);
    if (i % ReadAhead::kRowsPerStep == 0) ahead.step();
    const Line& line = lines[bucket_of[i]];
    const __m256i hash = _mm256_set1_epi64x(static_cast<long long>(rows.hash[i * kStride]));
    const __m256i value = _mm256_set1_epi64x(static_cast<long long>(rows.value[i * kStride]));
    const __m256i match =
        _mm256_cmpeq_epi64(hash, _mm256_load_si256(reinterpret_cast<const __m256i*>(line.hash.data())));
    const __m256i pair =
        _mm256_add_epi64(value, _mm256_load_si256(reinterpret_cast<const __m256i*>(line.value.data())));
    count = _mm256_sub_epi64(count, match);
    sum = _mm256_add_epi64(sum, _mm256_and_si256(match, pair));
    late[n_late] = static_cast<std::uint32_t>(i);
    n_late += kSplits ? 1 : static_cast<std::size_t>(_mm256_testz_si256(match, match));
  }
  std::size_t n_overflow = 0;
  for (std::size_t i = 0; i < n_late; ++i) {
    const std::uint32_t row = late[i];
    const std::uint32_t b = bucket_of[row];
    late[n_overflow] = row;
    n_overflow += ends_[b] != ends_[b + 1];
  }
  for (std::size_t i = 0; i < n_overflow; ++i) {
    count_overflow(rows.hash[late[i] * kStride], rows.value[late[i] * kStride], found);
  }
  alignas(32) std::array<std::uint64_t, 4> lanes;
  _mm256_store_si256(reinterpret_cast<__m256i*>(lanes.data()), count);
  found.count += lanes[0] + lanes[1] + lanes[2] + lanes[3];
  _mm256_store_si256(reinterpret_cast<__m256i*>(lanes.data()), sum);
  found.sum += lanes[0] + lanes[1] + lanes[2] + lanes[3];
}
#endif

void FastTable::count_matches(const HashedRows& rows, CountAndSum& found,
                              [[maybe_unused]] ReadAhead& ahead) const {
  found.comparisons += kSlots * rows.size;
#if ENGINEROOM_X86
  if (has_avx2() && rows.stride == 1) {
    return splits_ ? count_avx2<true, 1>(rows, found, ahead) : count_avx2<false, 1>(rows, found, ahead);
  }
  if (has_avx2() && rows.stride == 2) {
    return splits_ ? count_avx2<true, 2>(rows, found, ahead) : count_avx2<false, 2>(rows, found, ahead);
  }
#endif
  return splits_ ? count_portable<true>(rows, found) : count_portable<false>(rows, found);
}

}  // namespace engineroom::hash_join
