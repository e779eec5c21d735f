// engineroom._native.hash_join: the joins that a MySQL server has.
#include <pybind11/native_enum.h>

#include <algorithm>
#include <span>
#include <system_error>

#include "hash_join/binding.hpp"
#include "hash_join/block_nested_loop.hpp"
#include "hash_join/hybrid.hpp"
#include "hash_join/index_nested_loop.hpp"
#include "hash_join/key_hash.hpp"
#include "hash_join/nested_loop.hpp"
#include "hash_join/skewed_keys.hpp"

namespace engineroom::bindings {

namespace {

using hash_join::Counters;
using hash_join::JoinResult;

std::string described(const py::array& array) {
  return py::str(array.dtype()).cast<std::string>() + " with shape " +
         py::str(array.attr("shape")).cast<std::string>();
}

Ints ints(const std::string& name, const py::array& array) {
  if (array.ndim() != 1 || array.dtype().kind() != 'i' || array.itemsize() != 8) {
    throw py::value_error(name + " must be a one-dimensional int64 array, got " + described(array) +
                          "; convert it with .astype(np.int64)");
  }
  return Ints::ensure(array);
}

Bools bools(const std::string& name, const py::array& array) {
  if (array.ndim() != 1 || array.dtype().kind() != 'b') {
    throw py::value_error(name + " must be a one-dimensional bool array, got " + described(array) +
                          "; convert it with .astype(bool)");
  }
  return Bools::ensure(array);
}

template <typename Array>
auto span_of(const Array& array) {
  return std::span{array.data(), static_cast<std::size_t>(array.size())};
}

std::map<std::string, std::uint64_t> as_map(const Counters& c) {
  using C = Counters;
  return counters_of_members<
      &C::build_rows_read, &C::probe_rows_read, &C::comparisons, &C::condition_checks, &C::hash_probes,
      &C::buckets_visited, &C::page_visits, &C::passes, &C::build_rows_in_memory, &C::build_keys_in_memory,
      &C::chunk_files, &C::rows_written, &C::rows_read, &C::bytes_written, &C::bytes_read, &C::file_writes,
      &C::probe_rows_saved, &C::peak_memory_bytes, &C::peak_table_bytes, &C::peak_io_buffer_bytes,
      &C::work_build, &C::work_probe, &C::work_spill_write, &C::work_spill_read, &C::work_chunk_join>(c);
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
  JoinResult result =
      without_gil([&] { return join(build.relation(), probe.relation(), options, stop_on_signal()); });
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

constexpr const char* kSkewedKeysDoc = R"(Join keys with a chosen skew, drawn by `seed`: int64.

rows: how many keys. distinct: out of how many values, 1 to 2^24.
skew_quarters: 0 to 8; the k-th most frequent value appears in proportion to k ** -(skew_quarters / 4).

The values depend on their rank alone, so that two tables share their keys. Integers only: the same on every
machine and in the browser. Raises ValueError for an argument out of range.)";

py::array_t<std::int64_t> skewed_keys(std::int64_t rows, std::int64_t distinct, std::int64_t skew_quarters,
                                      std::int64_t seed) {
  const std::uint64_t n_rows = at_least(rows, 0, "rows");
  const std::uint64_t n_distinct = at_least(distinct, 1, "distinct");
  const std::uint64_t quarters =
      std::min<std::uint64_t>(at_least(skew_quarters, 0, "skew_quarters"), UINT32_MAX);
  std::vector<std::int64_t> keys = without_gil([&] {
    return hash_join::skewed_keys(n_rows, n_distinct, static_cast<std::uint32_t>(quarters),
                                  static_cast<std::uint64_t>(seed), stop_on_signal());
  });
  return to_array(std::move(keys));
}

}  // namespace

hash_join::Relation Columns::relation() const {
  hash_join::Relation relation{.key = span_of(key)};
  if (payload) relation.payload = span_of(*payload);
  if (null) relation.key_is_null = span_of(*null);
  return relation;
}

Columns columns(const std::string& side, const py::array& key, const std::optional<py::array>& payload,
                const std::optional<py::array>& null) {
  Columns result{.key = ints(side + "_key", key), .payload = std::nullopt, .null = std::nullopt};
  const auto check_length = [&](const py::array& column, const char* name) {
    if (column.size() == result.key.size()) return;
    throw py::value_error(side + "_" + name + " must have one value a row, got " +
                          std::to_string(column.size()) + " values for " + std::to_string(result.key.size()) +
                          " keys");
  };
  if (payload) {
    result.payload = ints(side + "_payload", *payload);
    check_length(*payload, "payload");
  }
  if (null) {
    result.null = bools(side + "_null", *null);
    check_length(*null, "null");
  }
  return result;
}

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

  py::native_enum<Step> steps(m, "Step", "enum.IntEnum",
                              "What happened to a row: the values of trace['step'].");
  for (const auto& [name, step] : names::as_written<Step::output>("step").all) steps.value(name.data(), step);
  steps.finalize();

  py::class_<PythonResult>(m, "Result", "What a join returns.")
      .def_readonly("rows", &PythonResult::rows,
                    "Structured array with build_row and probe_row, -1 for no row; None when output='count'.")
      .def_readonly("count", &PythonResult::count, "Number of result rows.")
      .def_readonly("sum", &PythonResult::sum,
                    "Sum of all payloads in the result, both sides, wrapping around at 64 bits; NULL counts "
                    "as 0. The build side of a semijoin or antijoin is not part of the result.")
      .def_readonly("counters", &PythonResult::counters, "What the join did: counts and bytes by name.")
      .def_readonly("trace", &PythonResult::trace,
                    "The first steps, as many as asked for: structured array with step, chunk, pass, "
                    "build_row, probe_row.");

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
  // The same keys for a lab as for the explorable in the browser.
  m.def("skewed_keys", &skewed_keys, kSkewedKeysDoc, py::kw_only(), py::arg("rows"), py::arg("distinct"),
        py::arg("skew_quarters") = 0, py::arg("seed") = 0);
  bind_hash_join_fast(m);
}

}  // namespace engineroom::bindings
