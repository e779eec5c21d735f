// Whether a description (common/described.hpp) leaves out a member of its struct.
//
// Leaves out  structs that are no aggregates, and members that anything converts to in two ways (std::optional)
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <set>
#include <utility>

#include "common/described.hpp"

namespace engineroom::tests {

struct Anything {
  template <typename T>
  operator T() const;  // NOLINT: it stands for a member's value, whatever its type
};

template <typename Struct, std::size_t... i>
constexpr bool takes(std::index_sequence<i...>) {
  return requires { Struct{(static_cast<void>(i), Anything{})...}; };
}

/// How many members an aggregate has: the most values that it can be made of.
template <typename Struct, std::size_t n = 1>
constexpr std::size_t members() {
  if constexpr (takes<Struct>(std::make_index_sequence<n>{})) {
    return members<Struct, n + 1>();
  } else {
    return n - 1;
  }
}

/// How many of them an option stands for, or several do.
template <options::Described Struct>
std::size_t described_members() {
  const Struct object{};
  std::set<const void*> places;
  for (const auto& option : options::list_of<Struct>.all) places.insert(option.member(object));
  return places.size();
}

/// Fails for a struct with a member that its options leave out.
template <options::Described... Structs>
void expect_described() {
  ([] { EXPECT_EQ(described_members<Structs>(), members<Structs>()); }(), ...);
}

}  // namespace engineroom::tests
