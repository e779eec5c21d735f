#include "hash_join/fast_partition.hpp"

#include <algorithm>
#include <cstring>

#include "common/x86.hpp"

namespace engineroom::hash_join {

namespace {

/// Copies one flush to a page. Past the cache where the processor can: the page is not read soon, and its
/// lines need not be fetched before they are overwritten.
void copy_flush(HashedRow* to, const HashedRow* from) {
#if ENGINEROOM_X86
  for (std::size_t i = 0; i < Partitions::kRowsPerFlush; ++i) {
    _mm_stream_si128(reinterpret_cast<__m128i*>(to + i),
                     _mm_load_si128(reinterpret_cast<const __m128i*>(from + i)));
  }
#else
  std::memcpy(to, from, Partitions::kRowsPerFlush * sizeof(HashedRow));
#endif
}

}  // namespace

HashedBlocks::HashedBlocks(const Relation& relation, std::size_t begin, std::size_t end, bool values_are_rows)
    : relation_(relation), begin_(begin), end_(end), values_are_rows_(values_are_rows) {}

Partitions::Partitions(const PartitionPlan& plan, std::size_t rows, Storage* storage, Meter& meter)
    : shift_(64 - plan.bits),
      rows_per_page_(plan.rows_per_page),
      pages_kept_(std::min(plan.pages_kept_in_memory, rows / plan.rows_per_page)),
      storage_(storage),
      memory_(MeteredAllocator<HashedRow>(meter)),
      flush_(MeteredAllocator<HashedRow>(meter)),
      target_(MeteredAllocator<HashedRow*>(meter)),
      filled_(MeteredAllocator<std::uint64_t>(meter)),
      first_(MeteredAllocator<std::uint32_t>(meter)),
      current_(MeteredAllocator<std::uint32_t>(meter)),
      next_(MeteredAllocator<std::uint32_t>(meter)),
      place_(MeteredAllocator<std::uint32_t>(meter)),
      write_bytes_(plan.write_bytes),
      gather_(MeteredAllocator<std::byte>(meter)),
      file_ends_(MeteredAllocator<std::uint64_t>(meter)) {
  const std::size_t n = plan.partitions();
  const bool all_stay = rows / plan.rows_per_page <= pages_kept_;
  spare_ = static_cast<std::uint32_t>(pages_kept_ + n);
  memory_.resize((spare_ + (all_stay ? 0 : 1)) * rows_per_page_);
  flush_.resize(n * kRowsPerFlush);
  target_.resize(n);
  filled_.resize(n);
  std::ranges::fill(filled_, 0);
  first_.resize(n);
  current_.resize(n);
  const std::size_t most_pages = n + rows / rows_per_page_;
  next_.reserve(most_pages);
  place_.reserve(most_pages);
  file_ends_.reserve(rows / rows_per_page_ - pages_kept_);
  for (std::size_t partition = 0; partition < n; ++partition) {
    begin_page(partition);
    first_[partition] = current_[partition];
  }
}

void Partitions::begin_page(std::size_t partition) {
  current_[partition] = static_cast<std::uint32_t>(place_.size());
  target_[partition] = memory_.data() + pages_in_memory_ * rows_per_page_;
  place_.push_back(static_cast<std::uint32_t>(pages_in_memory_));
  next_.push_back(kNone);
  ++pages_in_memory_;
}

void Partitions::page_full(std::size_t partition) {
  const std::uint32_t full = current_[partition];
  const std::size_t in_use_by_full_pages = pages_in_memory_ - filled_.size();
  if (in_use_by_full_pages < pages_kept_) {
    begin_page(partition);
    next_[full] = current_[partition];
    return;
  }
  // Its rows went past the cache. They come back while the next page fills, and then it is packed.
  if (full_ != kNone) write_out(full_);
  full_ = full;
  full_ahead_ =
      ReadAhead(std::span<const HashedRow>(memory_.data() + place_[full] * rows_per_page_, rows_per_page_));
  current_[partition] = static_cast<std::uint32_t>(place_.size());
  target_[partition] = memory_.data() + spare_ * rows_per_page_;
  place_.push_back(spare_);
  next_.push_back(kNone);
  next_[full] = current_[partition];
}

void Partitions::write_out(std::uint32_t page) {
  if (!file_) {
    file_ = storage_->create();
    gather_.resize(write_bytes_ + most_packed_bytes(rows_per_page_));
  }
#if ENGINEROOM_X86
  _mm_sfence();  // rows written past the cache must have arrived
#endif
  spare_ = place_[page];
  gathered_ += pack_page(std::span(memory_.data() + spare_ * rows_per_page_, rows_per_page_),
                         gather_.data() + gathered_);
  place_[page] = kInFile | static_cast<std::uint32_t>(file_ends_.size());
  file_ends_.push_back(bytes_written_ + gathered_);
  while (gathered_ >= write_bytes_) write_gathered(write_bytes_);
}

void Partitions::write_gathered(std::size_t bytes) {
  file_->write(bytes_written_, std::span(gather_).first(bytes));
  bytes_written_ += bytes;
  gathered_ -= bytes;
  std::memmove(gather_.data(), gather_.data() + bytes, gathered_);
}

ReadAhead Partitions::ahead(std::uint32_t page, std::size_t left) const {
  if (left == 0) return {};
  const std::uint32_t place = place_[page];
  if ((place & kInFile) == 0) {
    return ReadAhead(
        std::span<const HashedRow>(memory_.data() + place * rows_per_page_, std::min(left, rows_per_page_)));
  }
  const std::uint64_t begin = begin_in_file(place & ~kInFile);
  return ReadAhead(file_bytes_.subspan(begin, file_ends_[place & ~kInFile] - begin));
}

void Partitions::flush(std::size_t partition) {
  copy_flush(target_[partition], flush_.data() + partition * kRowsPerFlush);
  target_[partition] += kRowsPerFlush;
  if (filled_[partition] % rows_per_page_ == 0) page_full(partition);
}

void Partitions::append(const HashedRows& rows, ReadAhead ahead) {
  for (std::size_t i = 0; i < rows.size; ++i) {
    if (i % ReadAhead::kRowsPerStep == 0) {
      ahead.step();
      full_ahead_.step();
    }
    const std::uint64_t hash = rows.hash[i];
    const auto partition = static_cast<std::size_t>(hash >> shift_);
    const std::uint64_t place = filled_[partition]++ % kRowsPerFlush;
    flush_[partition * kRowsPerFlush + place] = {.hash = hash, .value = rows.value[i]};
    if (place == kRowsPerFlush - 1) [[unlikely]]
      flush(partition);
  }
}

void Partitions::finish() {
  for (std::size_t partition = 0; partition < filled_.size(); ++partition) {
    const std::size_t n = filled_[partition] % kRowsPerFlush;
    std::copy_n(flush_.data() + partition * kRowsPerFlush, n, target_[partition]);
  }
  flush_.clear();
  flush_.shrink_to_fit();
  if (file_) {
    // A page is unpacked in whole registers, so behind the last one there must be something to read.
    std::memset(gather_.data() + gathered_, 0, kUnpackSlack);
    gathered_ += kUnpackSlack;
    write_gathered(gathered_);
    bytes_written_ -= kUnpackSlack;
    file_bytes_ = file_->map(bytes_written_ + kUnpackSlack);
  }
  gather_.clear();
  gather_.shrink_to_fit();
#if ENGINEROOM_X86
  _mm_sfence();
#endif
}

}  // namespace engineroom::hash_join
