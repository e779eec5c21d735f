// What the hash join's binding files share: columns of a relation in, the Python class of a result out.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "bindings/arguments.hpp"
#include "bindings/arrays.hpp"
#include "hash_join/join_result.hpp"
#include "hash_join/relation.hpp"

namespace engineroom::bindings {

using OptionalArray = std::optional<py::array>;
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

/// A JoinResult whose vectors have become structured NumPy arrays, of JoinedRow and of Event.
struct PythonResult {
  std::optional<py::array> rows;
  std::uint64_t count;
  std::int64_t sum;
  std::map<std::string, std::uint64_t> counters;
  py::array trace;
};

PythonResult to_python(hash_join::JoinResult&& result, bool keep_rows);

/// Binds a join: what all joins take, `more`, and the join's options.
template <options::Described Options, typename... Leading, typename... More>
void def_join(py::module_& m, const char* name, PythonResult (*join)(const Options&, Leading...),
              const std::string& doc, const More&... more) {
  def_with_options(m, name, join, doc, py::arg("build_key"), py::arg("probe_key"), py::kw_only(),
                   py::arg("build_payload") = py::none(), py::arg("probe_payload") = py::none(),
                   py::arg("build_null") = py::none(), py::arg("probe_null") = py::none(),
                   py::arg("output") = OutputKind::rows, more...);
}

/// Adds our own join to the submodule that bind_hash_join has made.
void bind_hash_join_fast(py::module_& hash_join);

}  // namespace engineroom::bindings
