// An open-addressing table from sets of nodes to a small value: the dynamic-programming table.
//
// Models      the hash table of access paths by node set in MySQL's join optimizer
// Leaves out  removal; the empty set is not a key
// Cost        a multiplication and about one cache line per look-up; memory in proportion to the sets kept,
//             not to 2^n
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <utility>
#include <vector>

#include "join_order/node_set.hpp"

namespace engineroom::join_order {

template <class Value>
class SetTable {
 public:
  struct Slot {
    NodeSet key = 0;
    Value value{};
  };

  /// With room for so many sets before it grows.
  explicit SetTable(std::size_t expected = 0) : SetTable(bits_for(expected), 0) {}

  std::size_t size() const { return size_; }

  /// The value of `key`, null when there is none. Valid until the next insertion.
  Value* find(NodeSet key) {
    const std::size_t at = home(key);
    return slots_[at].key == key ? &slots_[at].value : find_after(key, at);
  }
  const Value* find(NodeSet key) const { return const_cast<SetTable*>(this)->find(key); }

  /// The value of `key`, made if absent, and whether it was.
  std::pair<Value*, bool> insert(NodeSet key) {
    const std::size_t at = home(key);
    if (slots_[at].key == key) return {&slots_[at].value, false};
    return insert_after(key, at);
  }

  const std::vector<Slot>& slots() const { return slots_; }

 private:
  SetTable(unsigned bits, int) : slots_(std::size_t{1} << bits), shift_(64 - bits) {}
  static unsigned bits_for(std::size_t expected) {
    return std::max(6u, static_cast<unsigned>(std::bit_width(2 * expected)));
  }

  std::size_t mask() const { return slots_.size() - 1; }
  // Sets of one query differ in few, near bits; the multiplication spreads them over the upper ones.
  std::size_t home(NodeSet key) const {
    return static_cast<std::size_t>((key * 0x9E3779B97F4A7C15u) >> shift_);
  }

  // Most keys lie at home; what comes after stays out of the callers' loops.
  [[gnu::noinline]] Value* find_after(NodeSet key, std::size_t at) {
    for (;; at = (at + 1) & mask()) {
      if (slots_[at].key == key) return &slots_[at].value;
      if (slots_[at].key == 0) return nullptr;
    }
  }
  [[gnu::noinline]] std::pair<Value*, bool> insert_after(NodeSet key, std::size_t at) {
    for (; slots_[at].key != 0; at = (at + 1) & mask()) {
      if (slots_[at].key == key) return {&slots_[at].value, false};
    }
    if (2 * ++size_ > slots_.size()) {
      grow();
      for (at = home(key); slots_[at].key != 0; at = (at + 1) & mask()) {
      }
    }
    slots_[at].key = key;
    return {&slots_[at].value, true};
  }

  void grow() {
    std::vector<Slot> old(slots_.size() * 2);
    old.swap(slots_);
    --shift_;
    for (const Slot& slot : old) {
      if (slot.key == 0) continue;
      std::size_t at = home(slot.key);
      while (slots_[at].key != 0) at = (at + 1) & mask();
      slots_[at] = slot;
    }
  }

  std::vector<Slot> slots_;
  unsigned shift_;
  std::size_t size_ = 0;
};

}  // namespace engineroom::join_order
