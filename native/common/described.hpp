// A configuration described once: the name, the range and the meaning of each of its options.
//
// Behind the struct, in its namespace, whose own initializers are the defaults:
//
//   struct LoadConfig {
//     std::uint32_t clients = 1;
//     Release release = Release::mysql_8_0;  // an enumeration with names (common/names.hpp)
//     SpinParams spin{};
//   };
//   constexpr auto described(options::Of<LoadConfig>) {
//     using C = LoadConfig;
//     return options::list<C>("a load", {
//         options::option<&C::clients>({.least = 1}, "sessions that run transactions"),
//         options::option<&C::release>("whose log they write to"),
//         options::option<&C::spin, &SpinParams::rounds>("spin_rounds", "looks at the latch before a park"),
//     });
//   }
//   void check_together(const LoadConfig&);  // where needed: refuses what no option can say alone
//
// From this list come: options::assign (one option by name), options::check (all of them, for a struct that C++ code
// filled), options::documentation, a binding's dict and its list for Python (bindings/options.hpp). A test compares the
// number of members with the number described (tests/described_members.hpp).
//
// Leaves out  texts and fractions: times are whole nanoseconds, shares are percent or permille
// Cost        some hundred bytes an option; nothing in a build without exceptions that only uses the struct
#pragma once

#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "common/names.hpp"
#include "common/require.hpp"

namespace engineroom::options {

/// Finds `described` in the namespace of Struct.
template <typename Struct>
struct Of {};

enum class Kind : std::uint8_t { boolean, integer, integers, name };

constexpr auto named(names::Of<Kind>) { return names::as_written<Kind::name>("kind"); }

/// What an integer, or each one of several, may be. Nothing is negative unless `least` says so.
struct Range {
  static constexpr std::int64_t kNoMost = std::numeric_limits<std::int64_t>::max();
  std::int64_t least = 0;
  std::int64_t most = kNoMost;
  std::int64_t multiple_of = 1;
  bool is_power_of_two = false;

  constexpr bool holds(std::int64_t value) const {
    return least <= value && value <= most && value % multiple_of == 0 &&
           (!is_power_of_two || (value > 0 && (value & (value - 1)) == 0));
  }
};

using Integers = std::vector<std::int64_t>;
struct None {};
/// A value that no option takes, as it is shown in the message that refuses it.
struct Foreign {
  std::string text;
  bool is_integer = false;  // one of more than 64 bits
};
/// A value on its way into or out of an option.
using Value = std::variant<None, bool, std::int64_t, Integers, std::string_view, Foreign>;

template <typename Struct>
struct Option {
  std::string_view name;
  std::string_view documentation;
  Kind kind{};
  bool may_be_none = false;  // the member is a std::optional
  Range range{};
  bool has_most = false;                      // or `range.most` is but the type's own limit
  std::span<const std::string_view> names{};  // of an enumeration

  Value (*get)(const Struct&) = nullptr;
  /// Only with a value that fits (problem).
  void (*set)(Struct&, const Value&) = nullptr;
  const void* (*member)(const Struct&) = nullptr;  // of the struct itself
  const void* (*place)(const Struct&) =
      nullptr;  // of the value within it: two options may be two ways to give it
};

template <typename Struct, std::size_t n>
struct List {
  std::string_view what;  // "a load"
  std::array<Option<Struct>, n> all;
};

namespace internal {
// What a description that does not compile calls.
void an_option_needs_a_name_and_documentation();
void two_options_have_one_name();
void a_range_holds_nothing();
void the_type_does_not_hold_the_least_value();
}  // namespace internal

/// The list; two options of one name, or one without documentation, do not compile.
template <typename Struct, std::size_t n>
consteval List<Struct, n> list(std::string_view what, const Option<Struct> (&all)[n]) {
  List<Struct, n> made{what, {}};
  for (std::size_t i = 0; i < n; ++i) {
    if (all[i].name.empty() || all[i].documentation.empty()) {
      internal::an_option_needs_a_name_and_documentation();
    };
    for (std::size_t k = 0; k < i; ++k) {
      if (all[k].name == all[i].name) internal::two_options_have_one_name();
    }
    made.all[i] = all[i];
  }
  return made;
}

template <typename Struct>
concept Described = requires {
  described(Of<Struct>{});
};

template <Described Struct>
inline constexpr auto list_of = described(Of<Struct>{});

namespace internal {

template <typename Struct, typename T>
Struct struct_of(T Struct::*);
template <auto first>
using StructOf = decltype(struct_of(first));

template <auto first, auto... rest>
constexpr auto& at(auto& object) {
  if constexpr (sizeof...(rest) == 0) {
    return object.*first;
  } else {
    return at<rest...>(object.*first);
  }
}

template <auto first, auto... rest>
consteval std::string_view name_of_last() {
  if constexpr (sizeof...(rest) == 0) {
    return names::identifier_of<first>;
  } else {
    return name_of_last<rest...>();
  }
}

template <typename T>
struct Optional {
  using Inner = T;
  static constexpr bool is = false;
};
template <typename T>
struct Optional<std::optional<T>> {
  using Inner = T;
  static constexpr bool is = true;
};

template <typename T>
constexpr bool kIsIntegers = false;
template <std::integral T>
constexpr bool kIsIntegers<std::vector<T>> = true;

template <typename T>
consteval Kind kind_of() {
  if constexpr (std::is_same_v<T, bool>) {
    return Kind::boolean;
  } else if constexpr (std::integral<T>) {
    return Kind::integer;
  } else if constexpr (kIsIntegers<T>) {
    return Kind::integers;
  } else {
    static_assert(names::Named<T>,
                  "an option is a bool, an integer, a vector of integers or a named enumeration");
    return Kind::name;
  }
}

template <std::integral T>
constexpr std::int64_t saturated(T value) {
  return std::in_range<std::int64_t>(value) ? static_cast<std::int64_t>(value) : Range::kNoMost;
}

template <typename T>
Value value_of(const T& value) {
  if constexpr (Optional<T>::is) {
    return value ? value_of(*value) : Value(None{});
  } else if constexpr (std::is_same_v<T, bool>) {
    return value;
  } else if constexpr (std::integral<T>) {
    return saturated(value);
  } else if constexpr (kIsIntegers<T>) {
    Integers all;
    for (const auto each : value) all.push_back(saturated(each));
    return all;
  } else {
    return names::of(value);
  }
}

template <typename T>
void set_to(T& member, const Value& value) {
  if constexpr (Optional<T>::is) {
    if (std::holds_alternative<None>(value)) {
      member.reset();
    } else {
      set_to(member.emplace(), value);
    }
  } else if constexpr (std::is_same_v<T, bool>) {
    if (const auto* integer = std::get_if<std::int64_t>(&value)) {
      member = *integer != 0;
    } else {
      member = *std::get_if<bool>(&value);
    }
  } else if constexpr (std::integral<T>) {
    member = static_cast<T>(*std::get_if<std::int64_t>(&value));
  } else if constexpr (kIsIntegers<T>) {
    member.clear();
    for (const std::int64_t each : *std::get_if<Integers>(&value)) {
      member.push_back(static_cast<typename T::value_type>(each));
    }
  } else {
    member = names::parse<T>(*std::get_if<std::string_view>(&value));
  }
}

template <typename T>
consteval Range within_type(Range range) {
  using Inner = typename Optional<T>::Inner;
  if constexpr (kIsIntegers<Inner>) {
    return within_type<typename Inner::value_type>(range);
  } else if constexpr (std::integral<Inner> && !std::is_same_v<Inner, bool>) {
    if (std::in_range<std::int64_t>(std::numeric_limits<Inner>::max())) {
      range.most = std::min<std::int64_t>(range.most, saturated(std::numeric_limits<Inner>::max()));
    }
    if (range.least > range.most) internal::a_range_holds_nothing();
    if (!std::in_range<Inner>(range.least)) internal::the_type_does_not_hold_the_least_value();
  }
  return range;
}

}  // namespace internal

/// An option by the pointer to its member, or the path of pointers to a member of a member.
template <auto first, auto... rest>
consteval auto option(std::string_view name, Range range, std::string_view documentation) {
  using Struct = internal::StructOf<first>;
  using T = std::remove_cvref_t<decltype(internal::at<first, rest...>(std::declval<Struct&>()))>;
  using Inner = typename internal::Optional<T>::Inner;
  Option<Struct> made;
  made.name = name;
  made.documentation = documentation;
  made.kind = internal::kind_of<Inner>();
  made.may_be_none = internal::Optional<T>::is;
  made.has_most = range.most != Range::kNoMost;
  made.range = internal::within_type<T>(range);
  if constexpr (names::Named<Inner>) made.names = names::list<Inner>();
  made.get = [](const Struct& object) { return internal::value_of(internal::at<first, rest...>(object)); };
  made.set = [](Struct& object, const Value& value) {
    internal::set_to(internal::at<first, rest...>(object), value);
  };
  made.member = [](const Struct& object) { return static_cast<const void*>(&(object.*first)); };
  made.place = [](const Struct& object) {
    return static_cast<const void*>(&internal::at<first, rest...>(object));
  };
  return made;
}
template <auto first, auto... rest>
consteval auto option(std::string_view name, std::string_view documentation) {
  return option<first, rest...>(name, Range{}, documentation);
}

/// By the name of the member itself.
template <auto... path>
consteval auto option(Range range, std::string_view documentation) {
  return option<path...>(internal::name_of_last<path...>(), range, documentation);
}
template <auto... path>
consteval auto option(std::string_view documentation) {
  return option<path...>(Range{}, documentation);
}

/// The only element of a vector, beside an option for all of them: "wake_ps" beside "wake_quantiles_ps".
template <auto first, auto... rest>
consteval auto only_element(std::string_view name, Range range, std::string_view documentation) {
  using Struct = internal::StructOf<first>;
  auto made = option<first, rest...>(name, range, documentation);
  made.kind = Kind::integer;
  made.get = [](const Struct& object) -> Value {
    const auto& all = internal::at<first, rest...>(object);
    return all.size() == 1 ? internal::value_of(all[0]) : Value(None{});
  };
  made.set = [](Struct& object, const Value& value) {
    auto& all = internal::at<first, rest...>(object);
    all.resize(1);
    internal::set_to(all[0], value);
  };
  return made;
}

template <auto first, auto... rest>
consteval auto only_element(std::string_view name, std::string_view documentation) {
  return only_element<first, rest...>(name, Range{}, documentation);
}

/// As a message shows it: Python's way, as the readers' other half is in Python.
inline std::string text_of(const Value& value) {
  if (std::holds_alternative<None>(value)) return "None";
  if (const auto* boolean = std::get_if<bool>(&value)) return *boolean ? "True" : "False";
  if (const auto* integer = std::get_if<std::int64_t>(&value)) return std::to_string(*integer);
  if (const auto* name = std::get_if<std::string_view>(&value)) return names::quoted(*name);
  if (const auto* foreign = std::get_if<Foreign>(&value)) return foreign->text;
  std::string all = "[";
  for (const std::int64_t each : *std::get_if<Integers>(&value)) {
    if (all.size() > 1) all += ", ";
    all += std::to_string(each);
  }
  return all + "]";
}

/// "1 to 1000", "a power of two from 2 on": what an integer of this range is.
inline std::string text_of(const Range& range, bool has_most) {
  std::string text;
  if (range.is_power_of_two) {
    text.append("a power of two from ");
  } else if (range.multiple_of > 1) {
    text.append("a multiple of ").append(std::to_string(range.multiple_of)).append(" from ");
  } else if (!has_most) {
    text.append("at least ");
  }
  text.append(std::to_string(range.least));
  if (has_most) return text.append(" to ").append(std::to_string(range.most));
  return range.is_power_of_two || range.multiple_of > 1 ? text.append(" on") : text;
}

namespace internal {

inline std::string out_of_range(const Range& range, bool has_most, bool is_above) {
  // The type's own limit is only of interest to whoever exceeds it.
  if (!has_most && is_above) return std::string("at most ").append(std::to_string(range.most));
  return text_of(range, has_most);
}

}  // namespace internal

/// Why the option does not take the value, or nothing.
template <typename Struct>
std::string problem(const Option<Struct>& option, const Value& value) {
  const auto must_be = [&](const std::string& what) {
    return std::string(option.name) + " must be " + what + (option.may_be_none ? " or None" : "") + ", got " +
           text_of(value);
  };
  if (option.may_be_none && std::holds_alternative<None>(value)) return {};
  const auto* integer = std::get_if<std::int64_t>(&value);
  switch (option.kind) {
    case Kind::boolean:
      if (std::holds_alternative<bool>(value) || (integer != nullptr && (*integer == 0 || *integer == 1)))
        return {};
      return must_be("True or False");
    case Kind::integer:
      if (const auto* foreign = std::get_if<Foreign>(&value); foreign != nullptr && foreign->is_integer) {
        return must_be(internal::out_of_range(option.range, option.has_most, foreign->text[0] != '-'));
      }
      if (integer == nullptr) return must_be("an integer");
      if (option.range.holds(*integer)) return {};
      return must_be(internal::out_of_range(option.range, option.has_most, *integer > option.range.most));
    case Kind::integers: {
      const auto* all = std::get_if<Integers>(&value);
      if (all == nullptr || all->empty()) return must_be("a list of at least one integer");
      for (const std::int64_t each : *all) {
        if (!option.range.holds(each)) {
          return "each of " + std::string(option.name) + " must be " +
                 internal::out_of_range(option.range, option.has_most, each > option.range.most) + ", got " +
                 std::to_string(each);
        }
      }
      return {};
    }
    case Kind::name:
      if (const auto* name = std::get_if<std::string_view>(&value)) {
        for (const std::string_view known : option.names) {
          if (known == *name) return {};
        }
      }
      return must_be(names::choices(option.names));
  }
  return {};
}

/// "a load has no option 'x'; its options are clients, ..."
template <Described Struct>
std::string unknown(std::string_view name) {
  std::string all;
  for (const Option<Struct>& each : list_of<Struct>.all) {
    all += (all.empty() ? "" : ", ") + std::string(each.name);
  }
  return std::string(list_of<Struct>.what) + " has no option '" + std::string(name) + "'; its options are " +
         all;
}

/// The option with this name, or null.
template <Described Struct>
constexpr const Option<Struct>* find(std::string_view name) {
  for (const Option<Struct>& each : list_of<Struct>.all) {
    if (each.name == name) return &each;
  }
  return nullptr;
}

/// Gives one option a value; refuses a name that is unknown and a value that does not fit.
template <Described Struct>
void assign(Struct& object, std::string_view name, const Value& value) {
  const Option<Struct>* option = find<Struct>(name);
  if (option == nullptr) refuse(unknown<Struct>(name));
  if (const std::string found = problem(*option, value); !found.empty()) refuse(found);
  option->set(object, value);
}

/// Refuses what does not go together.
template <Described Struct>
void check_whole([[maybe_unused]] const Struct& object) {
  if constexpr (requires { check_together(object); }) check_together(object);
}

/// Refuses a struct with a value out of its option's range, or with values that do not go together. A build without
/// exceptions checks nothing: a page's own knobs are in range, and it loads every byte.
template <Described Struct>
void check([[maybe_unused]] const Struct& object) {
#if defined(__cpp_exceptions)
  for (const Option<Struct>& option : list_of<Struct>.all) {
    const Value value = option.get(object);
    // An element that is not the only one: the option for all of them looks at it.
    if (!option.may_be_none && std::holds_alternative<None>(value)) continue;
    if (const std::string found = problem(option, value); !found.empty()) refuse(found);
  }
  check_whole(object);
#endif
}

/// A line an option: name, meaning, what it may be, default.
template <Described Struct>
std::string documentation(const Struct& defaults = {}) {
  std::string all;
  for (const Option<Struct>& option : list_of<Struct>.all) {
    if (!all.empty()) all += "\n";
    all += std::string(option.name) + ": " + std::string(option.documentation) + "; ";
    if (option.kind == Kind::name) all += names::choices(option.names) + ", ";
    if (option.kind == Kind::integer || option.kind == Kind::integers) {
      if (option.has_most || option.range.least != 0 || option.range.multiple_of > 1 ||
          option.range.is_power_of_two) {
        all += text_of(option.range, option.has_most) + ", ";
      }
    }
    all += "default " + text_of(option.get(defaults));
  }
  return all;
}

}  // namespace engineroom::options
