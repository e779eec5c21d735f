// Which of several waiters is tried first when a record lock is released: the policies, each a function object.
//
// Models      the grant order of 5.7 (queue order), of 8.0.3 to 8.0.19 (age, from 32 waiters on), of 8.0.20 and later
//             (weights); of the literature VATS (oldest first) and LDSF and bLDSF (Tian et al., PVLDB 11(5), 2018)
// Leaves out  of bLDSF: how a delay factor would be measured; ours is log2(1 + k), as an estimate
// Cost        a sort of those for whom somebody waits
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "common/names.hpp"
#include "lock_sys/modes.hpp"
#include "lock_sys/rules.hpp"

namespace engineroom::lock_sys {

enum class Policy : std::uint8_t {
  fcfs_5_7,       // queue order, and nobody passes a waiter ahead that he would have to wait for
  equal_weights,  // queue order, and only granted locks are in the way
  cats_8_0_3,
  cats_8_0_20,
  vats,
  ldsf,
  bldsf,
  random,
};
constexpr auto named(names::Of<Policy>) {
  return names::table<Policy>("policy", {{"fcfs, 5.7", Policy::fcfs_5_7},
                                         {"fcfs, equal weights", Policy::equal_weights},
                                         {"cats, 8.0.3", Policy::cats_8_0_3},
                                         {"cats, 8.0.20", Policy::cats_8_0_20},
                                         {"vats", Policy::vats},
                                         {"ldsf", Policy::ldsf},
                                         {"bldsf", Policy::bldsf},
                                         {"random", Policy::random}});
}

/// What a policy may look at, in queue order.
struct Waiter {
  std::uint32_t trx = 0;      // its number
  std::uint64_t started = 0;  // the order of the starts of transactions
  std::uint64_t weight = 0;   // published by the background thread; 0 until it has seen the wait
  std::uint64_t age = 0;      // kept at once by 8.0.3
  Mode mode = Mode::x;
  bool is_urgent = false;
};

/// Gives the places in `waiters` in the order in which they are tried. A waiter that is left out keeps waiting, as long as anybody is
/// granted.
using Order = std::function<std::vector<std::uint32_t>(std::span<const Waiter> waiters)>;

struct Scheduler {
  Policy policy = Policy::cats_8_0_20;
  Order order;
  /// Whether who is ahead in the queue is in the way although he has no lock, when so many wait in the whole lock system.
  bool looks_at_waiting_ahead(std::uint64_t waiting) const {
    return policy == Policy::fcfs_5_7 || (policy == Policy::cats_8_0_3 && waiting < kCatsThreshold);
  }
  static constexpr std::uint64_t kCatsThreshold = 32;
};

/// `seed` is for the policy that draws.
Scheduler scheduler_of(Policy policy, std::uint64_t seed = 1);
/// Of whoever uses the library: `order` over the grant rule of 8.0.20.
Scheduler scheduler_of(Order order);

/// Urgent ones, then those for whom somebody waits, the heaviest first, then the others in queue order.
template <typename Rules = Sound>
std::vector<std::uint32_t> cats_order(std::span<const Waiter> waiters);

}  // namespace engineroom::lock_sys
