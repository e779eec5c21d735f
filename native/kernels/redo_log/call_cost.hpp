// What a call of a task takes on a real thread.
#pragma once

#include <cstdint>

namespace engineroom::redo_log {

/// In 8.0's appends of 64 KiB, ns: the time of `appends` of them beyond that of their copies, over the calls.
double call_ns(std::uint64_t appends);

}  // namespace engineroom::redo_log
