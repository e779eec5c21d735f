// How a wait came to its end, so that whoever waited can tell a timeout from the end of the run.
#pragma once

#include <cstdint>

#include "machine/concept.hpp"

namespace engineroom::sync {

/// A signal counts, however late it is seen. `stopping`: the run is being stopped, and no signal may ever come.
enum class WaitEnd : std::uint8_t { signalled, timed_out, stopping };

constexpr WaitEnd end_of(machine::ParkResult result) {
  switch (result) {
    case machine::ParkResult::timed_out:
      return WaitEnd::timed_out;
    case machine::ParkResult::stopping:
      return WaitEnd::stopping;
    case machine::ParkResult::woken:
    case machine::ParkResult::changed:
      break;
  }
  return WaitEnd::signalled;
}

}  // namespace engineroom::sync
