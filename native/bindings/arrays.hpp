// Shared by the binding files: columns in, structured arrays out, Ctrl-C in between.
#pragma once

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "common/interrupt.hpp"
#include "common/storage.hpp"
#include "hash_join/join_result.hpp"
#include "hash_join/relation.hpp"

namespace engineroom::bindings {

namespace py = pybind11;

using Ints = py::array_t<std::int64_t, py::array::c_style>;
using Bools = py::array_t<bool, py::array::c_style>;

/// A relation and the arrays that own its memory.
struct Columns {
  Ints key;
  std::optional<Ints> payload;
  std::optional<Bools> null;

  hash_join::Relation relation() const;
};

/// Checks dtype and shape of one side's arrays; `side` ("build" or "probe") begins the argument's name.
Columns columns(const std::string& side, const py::array& key, const std::optional<py::array>& payload,
                const std::optional<py::array>& null);

hash_join::JoinType join_type(const std::string& name);
hash_join::ExtraCondition extra_condition(std::optional<std::int64_t> max_diff);
/// "rows" is true, "count" false.
bool keeps_rows(const std::string& output);
/// `value` as a count of at least `least`.
std::uint64_t at_least(std::int64_t value, std::int64_t least, const char* name);
/// The folder for temporary files: the system's own when none is given.
std::filesystem::path folder_of(const std::optional<std::string>& directory);
/// "memory", or "file" with the folder for the files (the system's own when none is given).
std::unique_ptr<Storage> make_storage(const std::string& name, const std::optional<std::string>& directory);
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
