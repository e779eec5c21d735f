// The best plan so far of every set of tables, for dynamic programming inside the enumerator: an array by the
// set where most sets are connected, else a table.
//
// Models      the server's access paths by set of tables, one path a set
// Leaves out  removal; the empty set is not a key
// Cost        one cache line to read a set's cost, two to improve it; a look-up of the table costs a
//             multiplication more and seldom a second place, because at most a quarter of its places is
//             taken
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "join_order/hypergraph.hpp"
#include "join_order/node_set.hpp"
#include "join_order/plan_tree.hpp"

namespace engineroom::join_order {

/// Plans by the set itself. `Entry` has a `cost`.
template <class Entry>
class ByPlace {
 public:
  explicit ByPlace(const Hypergraph& graph) {
    const std::size_t n_places = std::size_t{1} << graph.n_nodes();
    const Plan none{Entry{kNoCost}, 0};
    if (n_places <= few_.size()) {
      std::fill_n(few_.begin(), n_places, none);
      plans_ = few_.data();
    } else {
      many_.assign(n_places, none);
      plans_ = many_.data();
    }
  }
  ByPlace(const ByPlace&) = delete;
  ByPlace& operator=(const ByPlace&) = delete;

  /// The place of a set that has a plan, and of one that may have none yet.
  static std::size_t known(NodeSet set) { return place_of(set); }
  static std::size_t made(NodeSet set) { return place_of(set); }
  bool contains(NodeSet set) const { return plans_[place_of(set)].entry.cost < kNoCost; }
  Entry& entry(std::size_t place) { return plans_[place].entry; }
  NodeSet& left(std::size_t place) { return plans_[place].left; }

 private:
  struct Plan {
    Entry entry;
    NodeSet left;
  };
  std::array<Plan, 256> few_;  // memory of this size from the heap takes as long as some pairs
  std::vector<Plan> many_;
  Plan* plans_;
};

/// A table's places at first. The connected sets of a chain, or of a cycle where there are as many edges as
/// nodes, take at most a quarter of them.
inline std::size_t places_for(const Hypergraph& graph) {
  const std::size_t n = graph.n_nodes();
  const std::size_t sets = graph.n_edges() < n ? n * (n + 1) / 2 : n * (n - 1) + 1;
  return std::bit_ceil(4 * sets + 1);
}

/// Plans in an open-addressing table, in proportion to the connected sets. What a pair reads of its right
/// side lies with the key; the best left side, which is only written, lies apart.
template <class Entry>
class InTable {
 public:
  explicit InTable(const Hypergraph& graph) {
    const std::size_t n = graph.n_nodes();
    // A set that only complex edges could connect is often asked for in vain, which is dear in a table.
    constexpr std::size_t kMostNodesOfBits = 16;
    if (graph.has_complex_edges() && n <= kMostNodesOfBits) seen_.resize((std::size_t{1} << n) / 64 + 1);
    reserve(places_for(graph));
  }

  std::size_t known(NodeSet set) const {
    const std::size_t at = home(set);
    return slots_[at].key == set ? at : after(set, at);
  }
  std::size_t made(NodeSet set) {
    const std::size_t at = home(set);
    return slots_[at].key == set ? at : made_after(set, at);
  }
  bool contains(NodeSet set) const {
    if (!seen_.empty()) return ((seen_[place_of(set / 64)] >> (set % 64)) & 1) != 0;
    const std::size_t at = home(set);
    return slots_[at].key == set || slots_[after(set, at)].key == set;
  }
  Entry& entry(std::size_t place) { return slots_[place].entry; }
  NodeSet& left(std::size_t place) { return left_[place]; }

 private:
  struct Slot {
    NodeSet key;  // 0 in a free one
    Entry entry;
  };

  std::size_t home(NodeSet set) const {
    return static_cast<std::size_t>((set * 0x9E3779B97F4A7C15u) >> shift_);
  }
  // What is not at home stays out of the enumerator's loops.
  [[gnu::noinline]] std::size_t after(NodeSet set, std::size_t at) const {
    while (slots_[at].key != set && slots_[at].key != 0) at = (at + 1) & mask_;
    return at;
  }
  [[gnu::noinline]] std::size_t made_after(NodeSet set, std::size_t at) {
    at = after(set, at);
    if (slots_[at].key == set) return at;
    if (4 * ++size_ > mask_) {
      grow();
      at = after(set, home(set));
    }
    slots_[at] = {set, Entry{kNoCost}};
    left_[at] = 0;
    if (!seen_.empty()) seen_[place_of(set / 64)] |= std::uint64_t{1} << (set % 64);
    return at;
  }

  void reserve(std::size_t places) {
    slots_ = std::make_unique<Slot[]>(places);
    left_ = std::make_unique_for_overwrite<NodeSet[]>(places);
    mask_ = places - 1;
    shift_ = 64 - static_cast<unsigned>(std::countr_zero(places));
  }
  void grow() {
    const std::size_t places = mask_ + 1;
    const auto slots = std::move(slots_);
    const auto left = std::move(left_);
    reserve(2 * places);
    for (std::size_t i = 0; i < places; ++i) {
      if (slots[i].key == 0) continue;
      const std::size_t at = after(slots[i].key, home(slots[i].key));
      slots_[at] = slots[i];
      left_[at] = left[i];
    }
  }

  std::unique_ptr<Slot[]> slots_;
  std::unique_ptr<NodeSet[]> left_;
  std::size_t mask_ = 0;
  unsigned shift_ = 0;
  std::size_t size_ = 0;
  std::vector<std::uint64_t> seen_;
};

}  // namespace engineroom::join_order
