// Sleeping on a word of memory until somebody wakes it: the futex of Linux, or a table of condition
// variables.
#pragma once

#include <atomic>
#include <cstdint>

namespace engineroom::machine {

/// Sleeps at most `timeout_ns`, or kForEver and without a timer, if the word still holds `expected` (of which a futex compares the lower half).
/// May return for no reason.
void park_on(std::atomic<std::uint64_t>& word, std::uint64_t expected, std::uint64_t timeout_ns);

/// Wakes up to n; how many.
std::uint64_t wake_parked(std::atomic<std::uint64_t>& word, std::uint64_t n);

}  // namespace engineroom::machine
