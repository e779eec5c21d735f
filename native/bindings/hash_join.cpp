// engineroom._native.hash_join: the joins that a MySQL server has.
#include <pybind11/native_enum.h>

#include "hash_join/nested_loop.hpp"
#include "join_binding.hpp"

namespace engineroom::bindings {

namespace {

using hash_join::Counters;
using hash_join::JoinResult;

std::map<std::string, std::uint64_t> as_map(const Counters& c) {
#define ENGINEROOM_COUNTER(name) \
  { #name, c.name }
  return {ENGINEROOM_COUNTER(build_rows_read),      ENGINEROOM_COUNTER(probe_rows_read),
          ENGINEROOM_COUNTER(comparisons),          ENGINEROOM_COUNTER(condition_checks),
          ENGINEROOM_COUNTER(hash_probes),          ENGINEROOM_COUNTER(buckets_visited),
          ENGINEROOM_COUNTER(page_visits),          ENGINEROOM_COUNTER(passes),
          ENGINEROOM_COUNTER(build_rows_in_memory), ENGINEROOM_COUNTER(chunk_files),
          ENGINEROOM_COUNTER(rows_written),         ENGINEROOM_COUNTER(rows_read),
          ENGINEROOM_COUNTER(bytes_written),        ENGINEROOM_COUNTER(bytes_read),
          ENGINEROOM_COUNTER(probe_rows_saved),     ENGINEROOM_COUNTER(peak_memory_bytes),
          ENGINEROOM_COUNTER(peak_table_bytes),     ENGINEROOM_COUNTER(peak_io_buffer_bytes),
          ENGINEROOM_COUNTER(work_build),           ENGINEROOM_COUNTER(work_probe),
          ENGINEROOM_COUNTER(work_spill_write),     ENGINEROOM_COUNTER(work_spill_read),
          ENGINEROOM_COUNTER(work_chunk_join)};
#undef ENGINEROOM_COUNTER
}

constexpr const char* kNestedLoopDoc =
    R"(Nested loop join: every probe (outer) row against every build (inner) row.

Stands for the server's NestedLoopIterator over two table scans (all versions).

build_key, probe_key: int64, one-dimensional. build_payload, probe_payload: int64, one value a row.
build_null, probe_null: bool, True where the key is NULL; NULL matches nothing.
join: "inner", "left" (all probe rows), "semi" or "anti".
max_diff: extra condition, a pair joins only if its payloads differ by at most this much.
output: "rows", or "count" for count and sum only.

Rows come in probe order. Raises ValueError for an array of another dtype, shape or length and for an
unknown name; Ctrl-C stops it.)";

PythonResult nested_loop(const py::array& build_key, const py::array& probe_key, const std::string& join,
                         const std::optional<py::array>& build_payload,
                         const std::optional<py::array>& probe_payload,
                         const std::optional<py::array>& build_null,
                         const std::optional<py::array>& probe_null, std::optional<std::int64_t> max_diff,
                         const std::string& output) {
  const Columns build = columns("build", build_key, build_payload, build_null);
  const Columns probe = columns("probe", probe_key, probe_payload, probe_null);
  const hash_join::NestedLoopOptions options{
      .join = join_type(join), .extra = extra_condition(max_diff), .keep_rows = keeps_rows(output)};
  JoinResult result;
  {
    const py::gil_scoped_release unlocked;
    result = nested_loop_join(build.relation(), probe.relation(), options, stop_on_signal());
  }
  return to_python(std::move(result), options.keep_rows);
}

}  // namespace

PythonResult to_python(JoinResult&& result, bool keep_rows) {
  PythonResult python{.rows = std::nullopt,
                      .count = result.count,
                      .sum = result.sum,
                      .counters = as_map(result.counters),
                      .trace = to_array(std::move(result.trace))};
  if (keep_rows) python.rows = to_array(std::move(result.rows));
  return python;
}

void bind_hash_join(py::module_& parent) {
  using hash_join::Event;
  using hash_join::JoinedRow;
  using hash_join::Step;
  py::module_ m =
      parent.def_submodule("hash_join", "Joins: nested loops, MySQL's hybrid hash join, and a faster one.");

  PYBIND11_NUMPY_DTYPE(JoinedRow, build_row, probe_row);
  PYBIND11_NUMPY_DTYPE(Event, step, chunk, pass, build_row, probe_row);

  py::native_enum<Step>(m, "Step", "enum.IntEnum", "What happened to a row: the values of trace['step'].")
      .value("build_stored", Step::build_stored)
      .value("build_skipped_null", Step::build_skipped_null)
      .value("build_duplicate", Step::build_duplicate)
      .value("buffer_full", Step::buffer_full)
      .value("build_to_chunk", Step::build_to_chunk)
      .value("probe_lookup", Step::probe_lookup)
      .value("probe_to_chunk", Step::probe_to_chunk)
      .value("probe_saved", Step::probe_saved)
      .value("chunk_loading", Step::chunk_loading)
      .value("build_stored_from_chunk", Step::build_stored_from_chunk)
      .value("probe_lookup_from_chunk", Step::probe_lookup_from_chunk)
      .value("probe_lookup_from_saving_file", Step::probe_lookup_from_saving_file)
      .value("output", Step::output)
      .finalize();

  py::class_<PythonResult>(m, "Result", "What a join returns.")
      .def_readonly("rows", &PythonResult::rows,
                    "Structured array with build_row and probe_row, -1 for no row; None when output='count'.")
      .def_readonly("count", &PythonResult::count, "Number of result rows.")
      .def_readonly(
          "sum", &PythonResult::sum,
          "Sum of all payloads in the result, both sides, wrapping around at 64 bits; NULL counts as 0. "
          "The build side of a semijoin or antijoin is not part of the result.")
      .def_readonly("counters", &PythonResult::counters, "What the join did: counts and bytes by name.")
      .def_readonly(
          "trace", &PythonResult::trace,
          "The first steps, as many as asked for: structured array with step, chunk, pass, build_row, "
          "probe_row.");

  m.def("nested_loop", &nested_loop, py::arg("build_key"), py::arg("probe_key"), py::kw_only(),
        py::arg("join") = "inner", py::arg("build_payload") = py::none(),
        py::arg("probe_payload") = py::none(), py::arg("build_null") = py::none(),
        py::arg("probe_null") = py::none(), py::arg("max_diff") = py::none(), py::arg("output") = "rows",
        kNestedLoopDoc);
}

}  // namespace engineroom::bindings
