#include "bindings/options.hpp"

namespace engineroom::bindings {

namespace {

/// Python's int and NumPy's, but no array, which has an index as well.
bool is_integer(const py::handle& given) {
  return PyIndex_Check(given.ptr()) != 0 && PySequence_Check(given.ptr()) == 0;
}

/// Nothing when it does not fit 64 bits.
std::optional<std::int64_t> integer_from(const py::handle& given) {
  const auto integer = py::reinterpret_steal<py::object>(PyNumber_Index(given.ptr()));
  if (!integer) throw py::error_already_set();
  int overflow = 0;
  const long long value = PyLong_AsLongLongAndOverflow(integer.ptr(), &overflow);
  if (overflow != 0) return std::nullopt;
  return value;
}

}  // namespace

options::Value value_from(const py::handle& given, std::string& text) {
  if (given.is_none()) return options::None{};
  if (py::detail::make_caster<bool> boolean; boolean.load(given, false)) return static_cast<bool>(boolean);
  const auto foreign = [&](bool is_an_integer) {
    return options::Foreign{std::string(py::repr(given)), is_an_integer};
  };
  if (is_integer(given)) {
    const std::optional<std::int64_t> integer = integer_from(given);
    if (!integer) return foreign(true);
    return *integer;
  }
  if (py::isinstance<py::str>(given)) {
    text = given.cast<std::string>();
    return std::string_view(text);
  }
  if (!py::isinstance<py::sequence>(given)) return foreign(false);
  options::Integers all;
  for (const py::handle each : given) {
    const std::optional<std::int64_t> integer = is_integer(each) ? integer_from(each) : std::nullopt;
    if (!integer) return foreign(false);
    all.push_back(*integer);
  }
  return all;
}

py::object to_python(const options::Value& value) {
  if (const auto* boolean = std::get_if<bool>(&value)) return py::bool_(*boolean);
  if (const auto* integer = std::get_if<std::int64_t>(&value)) return py::int_(*integer);
  if (const auto* all = std::get_if<options::Integers>(&value)) return py::cast(*all);
  if (const auto* name = std::get_if<std::string_view>(&value)) return py::str(name->data(), name->size());
  return py::none();
}

void bind_options(py::module_& module) {
  py::class_<ListedOption>(module, "Option",
                           "One option of a kernel's configuration, as the kernel describes it.")
      .def_readonly("name", &ListedOption::name)
      .def_readonly("documentation", &ListedOption::documentation)
      .def_readonly("kind", &ListedOption::kind, "'boolean', 'integer', 'integers' or 'name'.")
      .def_readonly("least", &ListedOption::least, "The least integer that it takes.")
      .def_readonly("most", &ListedOption::most, "The largest integer that it takes.")
      .def_readonly("names", &ListedOption::names, "What it takes when its kind is 'name'.")
      .def_property_readonly(
          "default", [](const ListedOption& option) { return to_python(option.default_value); },
          "What it is when it is left out.")
      .def("__repr__", [](const ListedOption& option) {
        return "<Option " + option.name + ": " + option.documentation + ">";
      });
}

}  // namespace engineroom::bindings
