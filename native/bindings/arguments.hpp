// The options of a described struct (common/described.hpp) as keyword arguments of a bound function, one each:
//
//   def_with_options(m, "sort", +[](const Settings& settings, const Table& table) { ... }, kDoc,
//                    py::arg("table"), py::kw_only());
//
// is sort(table, *, buffer_bytes=262144, ...) in Python: names, defaults and types come from the description, the
// docstring ends with it, and a value that does not fit raises ValueError with what to pass instead.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <variant>

#include "bindings/options.hpp"

namespace engineroom::bindings {

/// The value of one option on its way into a struct; it fits.
template <options::Described Struct, std::size_t i>
struct Argument {
  static constexpr const options::Option<Struct>& option() { return options::list_of<Struct>.all[i]; }

  options::Value value;
};

namespace internal {

template <options::Described Struct, std::size_t... i>
Struct made_of(const Argument<Struct, i>&... given) {
  Struct made{};
  const auto set = [&](const options::Option<Struct>& option, const options::Value& value) {
    // Without a value of its own, this option is another way to say what a second one says.
    if (std::holds_alternative<options::None>(value) && !option.may_be_none) return;
    option.set(made, value);
  };
  (set(given.option(), given.value), ...);
  options::check_whole(made);
  return made;
}

template <options::Described Struct, std::size_t... i, typename Result, typename... Leading,
          typename... Extra>
void def_with_options(std::index_sequence<i...>, py::module_& m, const char* name,
                      Result (*call)(const Struct&, Leading...), const std::string& doc,
                      const Extra&... extra) {
  m.def(
      name,
      [call](Leading... leading, const Argument<Struct, i>&... given) -> Result {
        return call(made_of<Struct, i...>(given...), std::forward<Leading>(leading)...);
      },
      extra...,
      (py::arg(Argument<Struct, i>::option().name.data()) =
           to_python(Argument<Struct, i>::option().get(Struct{})))...,
      documented<Struct>(doc).c_str());
}

template <options::Described Struct, std::size_t i>
constexpr auto argument_name() {
  using py::detail::const_name;
  constexpr options::Kind kind = Argument<Struct, i>::option().kind;
  constexpr auto none = const_name<Argument<Struct, i>::option().may_be_none>(" | None", "");
  if constexpr (kind == options::Kind::boolean) {
    return const_name("bool") + none;
  } else if constexpr (kind == options::Kind::integer) {
    return const_name("typing.SupportsIndex") + none;
  } else if constexpr (kind == options::Kind::integers) {
    return const_name("collections.abc.Sequence[typing.SupportsIndex]") + none;
  } else {
    return const_name("str") + none;
  }
}

}  // namespace internal

/// Binds `call` with the options of its first parameter as keyword arguments behind those that `extra` names.
template <options::Described Struct, typename Result, typename... Leading, typename... Extra>
void def_with_options(py::module_& m, const char* name, Result (*call)(const Struct&, Leading...),
                      const std::string& doc, const Extra&... extra) {
  internal::def_with_options(std::make_index_sequence<options::list_of<Struct>.all.size()>{}, m, name, call,
                             doc, extra...);
}

}  // namespace engineroom::bindings

namespace pybind11::detail {

template <typename Struct, std::size_t i>
struct type_caster<engineroom::bindings::Argument<Struct, i>> {
  using Argument = engineroom::bindings::Argument<Struct, i>;
  PYBIND11_TYPE_CASTER(Argument, (engineroom::bindings::internal::argument_name<Struct, i>()));

  bool load(handle given, bool) {
    namespace options = engineroom::options;
    const options::Option<Struct>& option = Argument::option();
    std::string text;
    value.value = engineroom::bindings::value_from(given, text);
    const bool is_default = given.is_none() && std::holds_alternative<options::None>(option.get(Struct{}));
    if (is_default) return true;
    if (const std::string found = options::problem(option, value.value); !found.empty()) {
      throw value_error(found);
    }
    // The name in the table outlives `text`.
    if (std::holds_alternative<std::string_view>(value.value)) {
      for (const std::string_view name : option.names) {
        if (name == text) value.value = name;
      }
    }
    return true;
  }
};

}  // namespace pybind11::detail
