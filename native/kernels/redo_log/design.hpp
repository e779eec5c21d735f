// The designs of the redo log that the chapter compares, and the one name that each has from the page to the kernel.
#pragma once

#include <cstdint>

#include "common/names.hpp"

namespace engineroom::redo_log {

enum class Design : std::uint8_t { log_5_6, log_5_7, log_8_0, log_8_0_no_writer_threads };

constexpr auto named(names::Of<Design>) {
  return names::table<Design>("design", {{"5.6", Design::log_5_6},
                                         {"5.7", Design::log_5_7},
                                         {"8.0", Design::log_8_0},
                                         {"8.0, writer threads off", Design::log_8_0_no_writer_threads}});
}

}  // namespace engineroom::redo_log
