// How often crash runs (crash/crash.hpp) crash.
#pragma once

#include <cstdint>

#include "common/described.hpp"

namespace engineroom::crash {

struct Config {
  std::uint64_t seed = 1;
  std::uint64_t runs = 1;
  std::uint64_t crashes_per_run = 20;
  bool is_kill = false;
};
constexpr auto described(options::Of<Config>) {
  using C = Config;
  return options::list<C>(
      "a crash run",
      {
          options::option<&C::seed>("of the first run; each has the next one"),
          options::option<&C::runs>({.least = 1}, "how many servers run and crash"),
          options::option<&C::crashes_per_run>({.least = 1}, "about so many, at random events"),
          options::option<&C::is_kill>(
              "whether the process dies and the system goes on: all that was written stays"),
      });
}

}  // namespace engineroom::crash
