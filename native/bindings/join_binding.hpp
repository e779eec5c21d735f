// What the hash join's binding files share: the Python class of a result.
#pragma once

#include <map>

#include "arrays.hpp"

namespace engineroom::bindings {

/// A JoinResult whose vectors have become structured NumPy arrays, of JoinedRow and of Event.
struct PythonResult {
  std::optional<py::array> rows;
  std::uint64_t count;
  std::int64_t sum;
  std::map<std::string, std::uint64_t> counters;
  py::array trace;
};

PythonResult to_python(hash_join::JoinResult&& result, bool keep_rows);

/// Adds our own join to the submodule that bind_hash_join has made.
void bind_hash_join_fast(py::module_& hash_join);

/// Adds the generator of join keys to the same submodule.
void bind_skewed_keys(py::module_& hash_join);

}  // namespace engineroom::bindings
