// Four lists of pointers on an arena: the list of 5.7, the deque of 8.0 with its two ways to grow, and an
// array of the right size.
//
// Models      List<T> (sql_list.h, 5.7.32), mem_root_deque<T> (8.0.26 and 8.0.39: block array copied for
//             each block; 9.7.4: with spare slots)
// Leaves out  push_front, removal, iterator checks of debug builds
// Cost        push_back is constant, but for the block array of 8.0, whose copies grow with the square of
//             the blocks
#pragma once

#include <bit>
#include <cstddef>
#include <cstring>

#include "low_concurrency/arena.hpp"

namespace engineroom::low_concurrency {

/// The list of 5.7: a node an element, from the arena, in the order of arrival.
template <typename T>
class NodeList {
 public:
  void push_back(Arena& arena, T value) {
    Node* const node = new (arena.allocate(kNodeBytes)) Node;
    node->value = value;
    *last_ = node;
    last_ = &node->next;
    size_ += 1;
  }
  std::size_t size() const { return size_; }

  /// Calls `f` with a reference to each element in order; `f` may store another value there.
  template <typename F>
  void each(F&& f) {
    for (Node* node = first_; node != nullptr; node = node->next) f(node->value);
  }

 private:
  struct Node {
    Node* next = nullptr;
    T value{};
  };
  static constexpr std::size_t kNodeBytes =
      16;  // two pointers of the servers, also where a pointer has 4 bytes
  static_assert(sizeof(void*) != 8 || sizeof(Node) == kNodeBytes);

  Node* first_ = nullptr;
  Node** last_ = &first_;
  std::size_t size_ = 0;
};

enum class Growth {
  copy_each_time,  // 8.0.26, 8.0.39: a new array of one more pointer for each block; the old one stays in the
                   // arena
  spare_slots,     // 9.7.4: the array's capacity doubles
};

/// The deque of 8.0: blocks of 1 KiB, an array of pointers to them, and a start in the middle of the first
/// block, so that elements can be put in front. It therefore has room for half a block at first.
template <typename T, Growth growth>
class BlockDeque {
 public:
  static constexpr std::size_t block_elements() {
    std::size_t elements = 16;
    while (elements * 8 < 1024)
      elements += 1;  // 8 is the size of a pointer on the servers, also where it is 4 here
    return elements;
  }
  static_assert(block_elements() == 128);

  void push_back(Arena& arena, T value) {
    if (end_ == blocks_ * block_elements()) add_block(arena);
    *at(end_) = value;
    end_ += 1;
  }
  std::size_t size() const { return end_ - begin_; }

  template <typename F>
  void each(F&& f) {
    for (std::size_t i = begin_; i != end_; ++i) f(*at(i));
  }

 private:
  T* at(std::size_t i) { return array_[i / block_elements()] + i % block_elements(); }

  void add_block(Arena& arena) {
    // With spare slots the capacity is a power of two, so the header needs no field for it.
    const bool is_full = growth == Growth::copy_each_time || std::has_single_bit(blocks_) || blocks_ == 0;
    if (is_full) {
      const std::size_t capacity =
          growth == Growth::copy_each_time || blocks_ == 0 ? blocks_ + 1 : 2 * blocks_;
      T** const larger = static_cast<T**>(arena.allocate(capacity * 8));
      if (blocks_ > 0) std::memcpy(larger, array_, blocks_ * sizeof(T*));
      array_ = larger;
    }
    array_[blocks_] = static_cast<T*>(arena.allocate(block_elements() * 8));
    if (blocks_ == 0) begin_ = end_ = block_elements() / 2;
    blocks_ += 1;
  }

  T** array_ = nullptr;
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
  std::size_t blocks_ = 0;
};

/// The repair: one array of the size that the parser learns from the first row.
template <typename T>
class ReservedArray {
 public:
  void reserve(Arena& arena, std::size_t elements) {
    T* const larger = static_cast<T*>(arena.allocate(elements * 8));
    if (size_ > 0) std::memcpy(larger, data_, size_ * sizeof(T));
    data_ = larger;
    capacity_ = elements;
  }
  void push_back(Arena& arena, T value) {
    if (size_ == capacity_) reserve(arena, capacity_ == 0 ? 4 : 2 * capacity_);
    data_[size_++] = value;
  }
  std::size_t size() const { return size_; }

  template <typename F>
  void each(F&& f) {
    for (std::size_t i = 0; i < size_; ++i) f(data_[i]);
  }

 private:
  T* data_ = nullptr;
  std::size_t size_ = 0;
  std::size_t capacity_ = 0;
};

}  // namespace engineroom::low_concurrency
