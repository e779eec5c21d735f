// Described structs and named enumerations (common/described.hpp, common/names.hpp) for Python, once for all bindings.
//
// A function that is bound takes such a struct as a dict of its options, and such an enumeration as a str:
//
//   m.def("simulate", [](Release release, const LoadConfig& load) { ... }, kDoc, py::kw_only(),
//         py::arg("release"), py::arg("load") = py::dict());
//
// What is left out of the dict has the struct's own default. An option that is unknown, of another type or out of its
// range raises ValueError with the value received and what to pass instead. listed<LoadConfig>() is what Python asks for
// names, defaults and ranges; documented(text, LoadConfig{}) appends them to a docstring.
#pragma once

#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/described.hpp"
#include "common/names.hpp"

namespace engineroom::bindings {

namespace py = pybind11;

/// An option's value from Python; it points into `text` if it is a name.
options::Value value_from(const py::handle& given, std::string& text);
py::object to_python(const options::Value& value);

/// `defaults` with the options of a dict. Raises ValueError for one that is unknown or does not fit, and for two that
/// give the same value.
template <options::Described Struct>
Struct options_from(const py::dict& given, Struct defaults = {}) {
  std::vector<std::pair<const void*, std::string_view>> places;
  for (const auto& [key, value] : given) {
    const std::string name = py::str(key);
    std::string text;
    options::assign(defaults, name, value_from(value, text));
    const options::Option<Struct>* option = options::find<Struct>(name);
    const void* place = option->place(defaults);
    for (const auto& [taken, other] : places) {
      if (taken != place) continue;
      throw py::value_error(std::string(options::list_of<Struct>.what) + " has both " + std::string(other) +
                            " and " + name + ", which say the same; leave one of them out");
    }
    places.emplace_back(place, option->name);
  }
  options::check_whole(defaults);
  return defaults;
}

/// One option as Python sees it: engineroom._native.Option.
struct ListedOption {
  std::string name;
  std::string documentation;
  std::string kind;
  std::optional<std::int64_t> least;  // of an integer, or of each of several
  std::optional<std::int64_t> most;
  std::vector<std::string> names;  // of an enumeration
  options::Value default_value;    // a name in it points into a table
};

template <options::Described Struct>
std::vector<ListedOption> listed(const Struct& defaults = {}) {
  std::vector<ListedOption> all;
  for (const options::Option<Struct>& option : options::list_of<Struct>.all) {
    const bool has_range = option.kind == options::Kind::integer || option.kind == options::Kind::integers;
    ListedOption& one = all.emplace_back();
    one.name = option.name;
    one.documentation = option.documentation;
    one.kind = names::of(option.kind);
    if (has_range) one.least = option.range.least;
    if (has_range) one.most = option.range.most;
    one.names.assign(option.names.begin(), option.names.end());
    one.default_value = option.get(defaults);
  }
  return all;
}

/// A function of this name that lists the options.
template <options::Described Struct>
void def_listed(py::module_& m, const char* name, const char* documentation) {
  m.def(
      name, [] { return listed<Struct>(); }, documentation);
}

/// All names of an enumeration, for Python.
template <names::Named Enum>
std::vector<std::string> listed_names() {
  const auto all = names::list<Enum>();
  return {all.begin(), all.end()};
}

/// A docstring with the options of a struct behind it.
template <options::Described Struct>
std::string documented(std::string_view text, const Struct& defaults = {}) {
  return std::string(text) + "\n\n" + options::documentation(defaults);
}

/// The class Option, in the module itself.
void bind_options(py::module_& module);

}  // namespace engineroom::bindings

namespace pybind11::detail {

template <typename Enum>
struct type_caster_enum_type_enabled<Enum, std::enable_if_t<engineroom::names::Named<Enum>>>
    : std::false_type {};

/// A named enumeration is a str.
template <typename Enum>
struct type_caster<Enum, std::enable_if_t<engineroom::names::Named<Enum>>> {
  PYBIND11_TYPE_CASTER(Enum, const_name("str"));

  bool load(handle given, bool) {
    if (!isinstance<str>(given)) return false;
    value = engineroom::names::parse<Enum>(given.cast<std::string>());
    return true;
  }
  static handle cast(Enum of, return_value_policy, handle) {
    const std::string_view text = engineroom::names::of(of);
    return str(text.data(), text.size()).release();
  }
};

/// A described struct is a dict of its options.
template <typename Struct>
struct type_caster<Struct, std::enable_if_t<engineroom::options::Described<Struct>>> {
  PYBIND11_TYPE_CASTER(Struct, const_name("dict[str, typing.Any]"));

  bool load(handle given, bool) {
    if (!isinstance<dict>(given)) return false;
    value = engineroom::bindings::options_from<Struct>(reinterpret_borrow<dict>(given));
    return true;
  }
  static handle cast(const Struct& of, return_value_policy, handle) {
    dict all;
    for (const auto& option : engineroom::options::list_of<Struct>.all) {
      all[str(option.name.data(), option.name.size())] = engineroom::bindings::to_python(option.get(of));
    }
    return all.release();
  }
};

}  // namespace pybind11::detail
