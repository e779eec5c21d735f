// How much of a long test runs where each step is dear.
#pragma once

#include <cstdint>

namespace engineroom {

#ifdef ENGINEROOM_SANITIZED
inline constexpr bool kIsSanitized = true;
#else
inline constexpr bool kIsSanitized = false;
#endif

/// `all`, or a tenth of it under sanitizers: they look at every step of a run, and do not need many runs. What is counted over many runs,
/// and mistakes that only some runs show, are for the build without them.
constexpr std::uint64_t part_of(std::uint64_t all) { return kIsSanitized ? (all + 9) / 10 : all; }

}  // namespace engineroom
