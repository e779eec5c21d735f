// How a kernel refuses a bad argument: an exception natively, a trap in WebAssembly.
//
// A browser module is compiled without exceptions and checks its arguments before it calls a kernel, so
// that the trap is reached only by our own mistake.
#pragma once

#include <string>

#if defined(__cpp_exceptions)
#include <stdexcept>
#endif

namespace engineroom {

/// Ends the call with std::invalid_argument. `problem` holds the value received and what to pass instead.
[[noreturn]] inline void refuse([[maybe_unused]] const std::string& problem) {
#if defined(__cpp_exceptions)
  throw std::invalid_argument(problem);
#else
  __builtin_trap();
#endif
}

}  // namespace engineroom
