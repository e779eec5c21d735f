// The names of an enumeration's values, written once: for parsing, for printing and for whoever asks for the list.
//
// Beside the enumeration, in its namespace:
//
//   enum class Release { mysql_5_7, mysql_8_0 };
//   constexpr auto named(names::Of<Release>) {
//     return names::table<Release>("release", {{"5.7", Release::mysql_5_7}, {"8.0", Release::mysql_8_0}});
//   }
//
// names::as_written<Release::mysql_8_0>("release") instead names the values up to that one as the enumeration does.
//
// Then names::parse<Release>("8.0") is Release::mysql_8_0, names::of(Release::mysql_8_0) is "8.0", and
// names::list<Release>() holds both names. A binding takes and returns such a value as a str (bindings/options.hpp).
//
// Leaves out  bits that are combined
// Cost        a table of two words a value; parsing compares with each
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "common/require.hpp"

namespace engineroom::names {

/// Finds `named` in the namespace of Enum.
template <typename Enum>
struct Of {};

template <typename Enum>
struct Name {
  std::string_view text;
  Enum value;
};

template <typename Enum, std::size_t n>
struct Table {
  std::string_view what;  // what has these values, for messages: "release"
  std::array<Name<Enum>, n> all;
};

namespace internal {
// What a table that does not compile calls.
void a_name_is_empty();
void two_values_have_one_name();
void one_value_has_two_names();
}  // namespace internal

/// A table; two equal names, two names of one value, or an empty one do not compile.
template <typename Enum, std::size_t n>
consteval Table<Enum, n> table(std::string_view what, const Name<Enum> (&all)[n]) {
  Table<Enum, n> made{what, {}};
  for (std::size_t i = 0; i < n; ++i) {
    if (all[i].text.empty()) internal::a_name_is_empty();
    for (std::size_t k = 0; k < i; ++k) {
      if (all[k].text == all[i].text) internal::two_values_have_one_name();
      if (all[k].value == all[i].value) internal::one_value_has_two_names();
    }
    made.all[i] = all[i];
  }
  return made;
}

namespace internal {

/// What stands behind the last "::" in the compiler's words for the value, and a zero.
template <auto value>
consteval auto characters() {
  constexpr std::string_view whole =
      __PRETTY_FUNCTION__;  // "... [with auto value = engineroom::Release::mysql_8_0]"
  constexpr std::size_t first = whole.rfind("::") + 2;
  std::array<char, whole.size() - first> all{};
  std::ranges::copy(whole.substr(first, all.size() - 1), all.begin());
  return all;
}
template <auto value>
inline constexpr auto characters_of = characters<value>();

}  // namespace internal

/// The name of an enumerator, or of a member by a pointer to it, as it is written.
template <auto value>
constexpr std::string_view identifier_of{internal::characters_of<value>.data(),
                                         internal::characters_of<value>.size() - 1};

namespace internal {
template <typename Enum, std::size_t... i>
consteval auto as_written(std::string_view what, std::index_sequence<i...>) {
  return table<Enum>(what, {{identifier_of<static_cast<Enum>(i)>, static_cast<Enum>(i)}...});
}
}  // namespace internal

/// The table of the values up to `last`, which are counted from 0.
template <auto last>
consteval auto as_written(std::string_view what) {
  return internal::as_written<decltype(last)>(what,
                                              std::make_index_sequence<static_cast<std::size_t>(last) + 1>{});
}

template <typename Enum>
concept Named = std::is_enum_v<Enum> && requires {
  named(Of<Enum>{});
};

template <Named Enum>
inline constexpr auto table_of = named(Of<Enum>{});

namespace internal {
template <Named Enum>
constexpr auto texts() {
  std::array<std::string_view, table_of<Enum>.all.size()> all{};
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = table_of<Enum>.all[i].text;
  return all;
}
template <Named Enum>
inline constexpr auto texts_of = texts<Enum>();
}  // namespace internal

/// All names, in the order of the table.
template <Named Enum>
constexpr std::span<const std::string_view> list() {
  return internal::texts_of<Enum>;
}

/// The name of a value of the table; asking for another is our own mistake and gives "".
template <Named Enum>
constexpr std::string_view of(Enum value) {
  for (const Name<Enum>& name : table_of<Enum>.all) {
    if (name.value == value) return name.text;
  }
  return {};
}

/// Put together by appending: gcc 12 takes the other way for an overlap when it inlines it.
inline std::string quoted(std::string_view text) {
  std::string all("'");
  all.append(text);
  all.append("'");
  return all;
}

/// "'5.6', '5.7' or '8.0'"
inline std::string choices(std::span<const std::string_view> texts) {
  std::string all;
  for (std::size_t i = 0; i < texts.size(); ++i) {
    if (i > 0) all += i + 1 == texts.size() ? " or " : ", ";
    all += quoted(texts[i]);
  }
  return all;
}

/// The value with this name. Refuses another text with all names; `what` replaces the table's word for what is asked.
template <Named Enum>
Enum parse(std::string_view text, std::string_view what = table_of<Enum>.what) {
  for (const Name<Enum>& name : table_of<Enum>.all) {
    if (name.text == text) return name.value;
  }
  refuse(std::string(what) + " must be " + choices(list<Enum>()) + ", got " + quoted(text));
}

}  // namespace engineroom::names
