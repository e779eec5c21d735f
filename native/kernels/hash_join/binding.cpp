// engineroom._native.hash_join: the joins that a MySQL server has.
#include <pybind11/native_enum.h>

#include <algorithm>
#include <system_error>

#include "hash_join/block_nested_loop.hpp"
#include "hash_join/hybrid.hpp"
#include "hash_join/index_nested_loop.hpp"
#include "hash_join/key_hash.hpp"
#include "hash_join/nested_loop.hpp"
#include "hash_join/binding.hpp"

namespace engineroom::bindings {

namespace {

using hash_join::Counters;
using hash_join::JoinResult;

std::map<std::string, std::uint64_t> as_map(const Counters& c) {
  return {
      {"build_rows_read", c.build_rows_read},
      {"probe_rows_read", c.probe_rows_read},
      {"comparisons", c.comparisons},
      {"condition_checks", c.condition_checks},
      {"hash_probes", c.hash_probes},
      {"buckets_visited", c.buckets_visited},
      {"page_visits", c.page_visits},
      {"passes", c.passes},
      {"build_rows_in_memory", c.build_rows_in_memory},
      {"build_keys_in_memory", c.build_keys_in_memory},
      {"chunk_files", c.chunk_files},
      {"rows_written", c.rows_written},
      {"rows_read", c.rows_read},
      {"bytes_written", c.bytes_written},
      {"bytes_read", c.bytes_read},
      {"file_writes", c.file_writes},
      {"probe_rows_saved", c.probe_rows_saved},
      {"peak_memory_bytes", c.peak_memory_bytes},
      {"peak_table_bytes", c.peak_table_bytes},
      {"peak_io_buffer_bytes", c.peak_io_buffer_bytes},
      {"work_build", c.work_build},
      {"work_probe", c.work_probe},
      {"work_spill_write", c.work_spill_write},
      {"work_spill_read", c.work_spill_read},
      {"work_chunk_join", c.work_chunk_join},
  };
}

/// A docstring: the join's own first paragraphs, the arguments that all joins have and what it says of its result, and
/// how it fails; its options follow.
std::string doc(const std::string& summary, const std::string& more) {
  return summary + R"(

build_key, probe_key: int64, one-dimensional. build_payload, probe_payload: int64, one value a row.
build_null, probe_null: bool, True where the key is NULL; NULL matches nothing.
output: "rows", or "count" for count and sum only.
)" + more +
         R"(

Raises ValueError for an array of another dtype, shape or length and for a value out of range; Ctrl-C stops it.)";
}

std::string nested_loop_doc() {
  return doc(R"(Nested loop join: every probe (outer) row against every build (inner) row.

Stands for the server's NestedLoopIterator over two table scans (all versions).)",
             R"(
Rows come in probe order.)");
}

std::string index_nested_loop_doc() {
  return doc(
      R"(Index nested loop join: one descent in an index on the build (inner) rows for every probe (outer) row.

Stands for the server's NestedLoopIterator over RefIterator, an index lookup (all versions).)",
      R"(
Rows come in probe order. The index is there before the join: making it is not counted.)");
}

std::string block_nested_loop_doc() {
  return doc(
      R"(Block nested loop join: a bufferful of probe (outer) rows shares one scan of the build (inner) rows.

Stands for the server's JOIN_CACHE_BNL (5.6 to 8.0.19).)",
      R"(
Rows come buffer by buffer.)");
}

std::string hybrid_doc() {
  return doc(
      R"(MySQL's hash join: what fits into the join buffer stays there, the rest is spilled to chunk files.

Stands for the server's HashJoinIterator (8.0.18 and later, in the form of 9.7).)",
      R"(storage: "file" for real temporary files in `directory` (the system's own by default), or "memory"; they have no
name and are gone when the join ends, whatever happens.

In memory, rows come in probe order and those of one key newest build row first; spilled, in no order. Raises
OSError with the folder's name when a file cannot be made, written or read.)");
}

/// Runs `join` (build, probe, options, interrupt) without the GIL.
template <typename Options, typename Join>
PythonResult run(const Join& join, const Columns& build, const Columns& probe, Options options,
                 OutputKind output) {
  options.keep_rows = output == OutputKind::rows;
  JoinResult result;
  {
    const py::gil_scoped_release unlocked;
    result = join(build.relation(), probe.relation(), options, stop_on_signal());
  }
  return to_python(std::move(result), options.keep_rows);
}

/// A join without files, with the arguments of def_join.
template <auto join, typename Options>
PythonResult in_memory(const Options& options, const py::array& build_key, const py::array& probe_key,
                       const OptionalArray& build_payload, const OptionalArray& probe_payload,
                       const OptionalArray& build_null, const OptionalArray& probe_null, OutputKind output) {
  return run(join, columns("build", build_key, build_payload, build_null),
             columns("probe", probe_key, probe_payload, probe_null), options, output);
}

PythonResult hybrid(const hash_join::HybridOptions& options, const py::array& build_key,
                    const py::array& probe_key, const OptionalArray& build_payload,
                    const OptionalArray& probe_payload, const OptionalArray& build_null,
                    const OptionalArray& probe_null, OutputKind output, StorageKind storage,
                    const std::optional<std::string>& directory) {
  const std::unique_ptr<Storage> files = make_storage(storage, directory);
  const auto with_files = [&](const auto& build, const auto& probe, const auto& given, Interrupt interrupt) {
    return hash_join::hybrid_hash_join(build, probe, given, *files, std::move(interrupt));
  };
  return run(with_files, columns("build", build_key, build_payload, build_null),
             columns("probe", probe_key, probe_payload, probe_null), options, output);
}

/// A system_error of the file storage as the OSError that Python code expects.
void translate_system_errors() {
  py::register_local_exception_translator([](std::exception_ptr thrown) {
    try {
      if (thrown) std::rethrow_exception(thrown);
    } catch (const std::system_error& error) {
      const py::tuple arguments = py::make_tuple(error.code().value(), error.what());
      PyErr_SetObject(PyExc_OSError, arguments.ptr());
    }
  });
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

  translate_system_errors();
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

  using hash_join::BlockNestedLoopOptions;
  using hash_join::IndexNestedLoopOptions;
  using hash_join::NestedLoopOptions;
  def_join(m, "nested_loop", &in_memory<hash_join::nested_loop_join, NestedLoopOptions>, nested_loop_doc());
  def_join(m, "index_nested_loop", &in_memory<hash_join::index_nested_loop_join, IndexNestedLoopOptions>,
           index_nested_loop_doc());
  def_join(m, "block_nested_loop", &in_memory<hash_join::block_nested_loop_join, BlockNestedLoopOptions>,
           block_nested_loop_doc());
  def_join(m, "hybrid", &hybrid, hybrid_doc(), py::arg("storage") = StorageKind::file,
           py::arg("directory") = py::none());

  m.def(
      "chunk_count",
      [](std::int64_t estimated_build_rows, std::int64_t keys_in_memory) {
        return hash_join::chunk_count(at_least(estimated_build_rows, 0, "estimated_build_rows"),
                                      at_least(keys_in_memory, 1, "keys_in_memory"),
                                      hash_join::HybridOptions{}.max_chunks);
      },
      py::arg("estimated_build_rows"), py::arg("keys_in_memory"),
      "Number of pairs of chunk files that a hybrid hash join opens when its buffer is full. The server "
      "divides by the number of different keys in memory, which is that of the rows only when there are no "
      "duplicates.");
  m.def("chunk_hash", py::vectorize([](std::int64_t key) { return hash_join::chunk_hash(key); }),
        py::arg("key"),
        "xxHash64 of each key with the seed of the server's chunk files; its low bits choose the chunk.");
  m.def("table_hash", py::vectorize([](std::int64_t key) { return hash_join::table_hash(key); }),
        py::arg("key"), "The hash of each key in the in-memory table; its high bits choose the bucket.");
  bind_hash_join_fast(m);
  bind_skewed_keys(m);
}

}  // namespace engineroom::bindings
