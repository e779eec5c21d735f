// Shared by the binding files: counts in, structured arrays out, storage and Ctrl-C in between.
#pragma once

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <initializer_list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "bindings/options.hpp"
#include "common/interrupt.hpp"
#include "common/names.hpp"
#include "common/storage.hpp"

namespace engineroom::bindings {

namespace py = pybind11;

/// What a kernel hands out besides its counters.
enum class OutputKind : std::uint8_t { rows, count };
constexpr auto named(names::Of<OutputKind>) { return names::as_written<OutputKind::count>("output"); }

enum class StorageKind : std::uint8_t { memory, file };
constexpr auto named(names::Of<StorageKind>) { return names::as_written<StorageKind::file>("storage"); }

/// `value` as a count of at least `least`.
std::uint64_t at_least(std::int64_t value, std::int64_t least, const char* name);
/// The folder for temporary files: the system's own when none is given.
std::filesystem::path folder_of(const std::optional<std::string>& directory);
/// In memory, or files in the folder (the system's own when none is given).
std::unique_ptr<Storage> make_storage(StorageKind kind, const std::optional<std::string>& directory);
/// What `call` returns, computed while other Python threads go on.
auto without_gil(const auto& call) {
  const py::gil_scoped_release unlocked;
  return call();
}

/// A name and what it stands for, of any type that Python knows.
struct Entry {
  template <typename T>
  requires(!std::is_base_of_v<py::handle, T>) Entry(const char* called, const T& of)
      : name(called), value(py::cast(of)) {}
  Entry(const char* called, py::object of) : name(called), value(std::move(of)) {}
  const char* name;
  py::object value;
};
py::dict dict_of(std::initializer_list<Entry> entries);
/// Members by their own names: dict_of_members<&Report::runs, &Report::is_clean>(report).
template <auto... members>
py::dict dict_of_members(const auto& of) {
  return dict_of({Entry(names::identifier_of<members>.data(), std::invoke(members, of))...});
}

template <auto... members>
std::map<std::string, std::uint64_t> counters_of_members(const auto& of) {
  return {{std::string(names::identifier_of<members>), of.*members}...};
}

/// Raises KeyboardInterrupt in a kernel that runs without the GIL.
Interrupt stop_on_signal();

/// An array that takes over the vector's memory.
template <typename T>
py::array_t<T> to_array(std::vector<T>&& values) {
  auto owner = std::make_unique<std::vector<T>>(std::move(values));
  const auto size = static_cast<py::ssize_t>(owner->size());
  T* const data = owner->data();
  const py::capsule free_when_done(owner.release(), [](void* p) { delete static_cast<std::vector<T>*>(p); });
  return py::array_t<T>(size, data, free_when_done);
}

}  // namespace engineroom::bindings
