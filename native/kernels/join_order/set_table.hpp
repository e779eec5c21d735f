// An open-addressing table from sets of nodes to a small value: the dynamic-programming table.
//
// Models      the hash table of access paths by node set in MySQL's join optimizer
// Leaves out  removal; the empty set is not a key
// Cost        a multiplication and about one cache line a look-up; memory in proportion to the sets kept, not
// to 2^n
#pragma once

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

  SetTable() : slots_(kFirstSlots), shift_(64 - kFirstBits) {}

  std::size_t size() const { return size_; }

  /// The value of `key`, null when there is none. Valid until the next insertion.
  Value* find(NodeSet key) {
    for (std::size_t at = home(key);; at = (at + 1) & mask()) {
      if (slots_[at].key == key) return &slots_[at].value;
      if (slots_[at].key == 0) return nullptr;
    }
  }
  const Value* find(NodeSet key) const { return const_cast<SetTable*>(this)->find(key); }

  /// The value of `key`, made if absent, and whether it was.
  std::pair<Value*, bool> insert(NodeSet key) {
    std::size_t at = home(key);
    for (;; at = (at + 1) & mask()) {
      if (slots_[at].key == key) return {&slots_[at].value, false};
      if (slots_[at].key == 0) break;
    }
    if (2 * ++size_ > slots_.size()) {
      grow();
      for (at = home(key); slots_[at].key != 0; at = (at + 1) & mask()) {
      }
    }
    slots_[at].key = key;
    return {&slots_[at].value, true};
  }

  const std::vector<Slot>& slots() const { return slots_; }

 private:
  static constexpr unsigned kFirstBits = 6;
  static constexpr std::size_t kFirstSlots = std::size_t{1} << kFirstBits;

  std::size_t mask() const { return slots_.size() - 1; }
  // Sets of one query differ in few, near bits; the multiplication spreads them over the upper ones.
  std::size_t home(NodeSet key) const {
    return static_cast<std::size_t>((key * 0x9E3779B97F4A7C15u) >> shift_);
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
