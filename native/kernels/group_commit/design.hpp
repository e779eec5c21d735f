// The designs of a commit with a binlog that the chapter compares, and the one name that each has from the page to the kernel.
#pragma once

#include <cstdint>

#include "common/names.hpp"

namespace engineroom::group_commit {

enum class Design : std::uint8_t { serialised, stages, one_redo_flush };

constexpr auto named(names::Of<Design>) {
  return names::table<Design>(
      "design", {{"5.5", Design::serialised}, {"5.6", Design::stages}, {"5.7.6", Design::one_redo_flush}});
}

}  // namespace engineroom::group_commit
