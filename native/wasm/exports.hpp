// What modules for the browser share: functions that a page calls, and text that they leave for it.
//
// Leaves out  arguments out of range: the page checks them
#pragma once

#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>

#include "common/names.hpp"

#define ENGINEROOM_EXPORT(name) extern "C" __attribute__((export_name(name)))

namespace engineroom::exports {

/// What the page reads at the address that a call returned. Good until the next call.
inline std::string text;

/// Names, each ended by a line feed, all by a zero: of a list of any kind, by what each is called.
template <typename Range, typename Call>
const char* names_of(const Range& range, const Call& called) {
  text.clear();
  for (const auto& each : range) (text += called(each)) += '\n';
  return text.c_str();
}
template <names::Named Enum>
const char* names_of() {
  return names_of(names::list<Enum>(), [](std::string_view name) { return name; });
}
/// As a page says it: by its place in the list of names.
template <names::Named Enum>
constexpr Enum at(std::uint32_t place) {
  return names::table_of<Enum>.all[place].value;
}

/// A number behind a tab. Not inlined: a module has hundreds of calls.
template <typename Number>
[[gnu::noinline]] void append(Number number) {
  text += '\t';
  text += std::to_string(number);
}
/// What a line is about, and its whole numbers, between tabs.
template <std::integral... Parts>
void line(std::string_view what, Parts... parts) {
  text += what;
  (append<std::conditional_t<std::is_signed_v<Parts>, long long, unsigned long long>>(parts), ...);
  text += '\n';
}

}  // namespace engineroom::exports
