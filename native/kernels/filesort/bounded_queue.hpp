// The best k of many records in k + 1 slots: the worst of them on top, replaced by whatever is better.
//
// Models      Bounded_queue of filesort (5.6 and later): slots of a fixed size, and every record is written
//             whole into the spare slot before it is known to be good enough
// Cost        O(k) memory, one comparison for most records, O(log k) for those that get in
#pragma once

#include <cstddef>
#include <cstring>
#include <utility>
#include <vector>

#include "filesort/table.hpp"

namespace engineroom::filesort {

class BoundedQueue {
 public:
  BoundedQueue(std::size_t k, std::size_t record_bytes, std::size_t key_bytes, Counters& counters)
      : k_(k), key_bytes_(key_bytes), memory_((k + 1) * record_bytes), counters_(&counters) {
    for (std::size_t i = k + 1; i > 0; --i) free_.push_back(memory_.data() + (i - 1) * record_bytes);
    counters.peak_sort_bytes = memory_.size() + (k + 1) * 8;
  }

  /// Where the next record is to be written.
  std::byte* spare() { return free_.back(); }

  /// Takes the record in the spare slot, or leaves it there.
  void offer() {
    if (k_ == 0) return;
    std::byte* const record = free_.back();
    if (heap_.size() < k_) {
      free_.pop_back();
      heap_.push_back(record);
      sift_up();
    } else if (is_before(record, heap_.front())) {
      free_.back() = heap_.front();
      heap_.front() = record;
      ++counters_->heap_operations;
      sift_down();
    }
  }

  /// The records kept, in no order.
  const std::vector<std::byte*>& records() const { return heap_; }

 private:
  bool is_before(const std::byte* a, const std::byte* b) {
    ++counters_->comparisons;
    return std::memcmp(a, b, key_bytes_) < 0;
  }

  void sift_up() {
    std::size_t i = heap_.size() - 1;
    for (++counters_->heap_operations; i > 0; ++counters_->heap_operations) {
      const std::size_t parent = (i - 1) / 2;
      if (!is_before(heap_[parent], heap_[i])) return;
      std::swap(heap_[parent], heap_[i]);
      i = parent;
    }
  }

  void sift_down() {
    for (std::size_t i = 0;; ++counters_->heap_operations) {
      std::size_t worst = i;
      for (std::size_t child = 2 * i + 1; child <= 2 * i + 2 && child < heap_.size(); ++child) {
        if (is_before(heap_[worst], heap_[child])) worst = child;
      }
      if (worst == i) return;
      std::swap(heap_[i], heap_[worst]);
      i = worst;
    }
  }

  std::size_t k_;
  std::size_t key_bytes_;
  std::vector<std::byte> memory_;
  std::vector<std::byte*> free_;
  std::vector<std::byte*> heap_;
  Counters* counters_;
};

}  // namespace engineroom::filesort
