// Who waits for whom, from a snapshot: weights and cycles in one pass, since each waiter has one edge.
//
// Models      lock_wait_compute_and_publish_weights_except_cycles, lock_wait_find_and_handle_deadlocks and what they call
//             (8.0.18 and 8.0.20 to 9.7.4)
// Leaves out  nothing of the arithmetic; sorts by the transactions' numbers where the server sorts by address
// Cost        O(n log n) in the waiters, all of it outside every latch
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "lock_sys/locks.hpp"

namespace engineroom::lock_sys {

/// One waiter as the snapshot saw it.
struct Snapped {
  Trx* trx = nullptr;
  Trx* waits_for = nullptr;
  std::size_t slot = 0;
  std::uint64_t reservation = 0;  // of the slot: which wait it was
};

inline constexpr std::int32_t kNobody = -1;

/// For each waiter the place of the one that it waits for, or kNobody when that one does not wait. Sorts the snapshot.
std::vector<std::int32_t> outgoing_edges(std::vector<Snapped>& waiters);

/// One each; more for those that at least twice as many as wait now have begun to wait after: they were passed too often.
/// `reservations`: how many waits there were so far.
std::vector<std::uint64_t> initial_weights(std::span<const Snapped> waiters, std::uint64_t reservations);

/// Adds the weight of each waiter to the one that it waits for, leaves first. What has not been reached is on a cycle, or false in
/// `is_final`.
void add_up(std::span<const std::int32_t> outgoing, std::vector<std::uint64_t>& weights,
            std::vector<bool>& is_final);

/// Each cycle, as places in the snapshot, along the edges.
std::vector<std::vector<std::uint32_t>> cycles(std::span<const std::int32_t> outgoing);

/// The place in `cycle` of the one that is rolled back: the lightest, and of equals the one that began to wait last. Turns the cycle so
/// that the latest waiter is its last.
std::size_t choose_victim(std::vector<std::uint32_t>& cycle, std::span<const Snapped> waiters);

/// The weights of the others on a cycle, as if the victim were gone; the victim's is 0.
void add_up_without(std::size_t victim, std::span<const std::uint32_t> cycle,
                    std::vector<std::uint64_t>& weights);

}  // namespace engineroom::lock_sys
