// engineroom._native.hash_join.fast: our own join, and what its bench needs.
#include <filesystem>
#include <map>
#include <mutex>

#include "common/file_storage.hpp"
#include "common/memory_files.hpp"
#include "common/workers.hpp"
#include "hash_join/binding.hpp"
#include "hash_join/fast_join.hpp"
#include "hash_join/random_reads.hpp"

namespace engineroom::bindings {

namespace {

constexpr const char* kFastDoc = R"(Our own hash join, made for the caches and the threads of one machine.

build_key, probe_key: int64, one-dimensional. build_payload, probe_payload: int64, one value a row.
build_null, probe_null: bool, True where the key is NULL; NULL matches nothing.
output: "rows", or "count" for count and sum only.
workspace: memory and files that the join takes over from an earlier one, and leaves to a later one. None: from the
system and back.
storage: "file" (directory, by default the system's folder for temporary files) or "memory".

Rows come in order of the probe row, then of the build row. Raises ValueError for an array of another dtype, shape or
length, for an unknown name and for a memory_bytes too small to work with; Ctrl-C stops it.)";

/// Memory and files that one join leaves to the next.
class JoinWorkspace {
 public:
  Workspace memory;

  /// The folder counts for files on a disk only.
  Storage& files(StorageKind kind, const std::optional<std::string>& directory) {
    if (kind == StorageKind::memory) return memory_files_;
    const std::filesystem::path folder = folder_of(directory);
    const std::lock_guard lock(guard_);
    return files_.try_emplace(folder, folder, FileStorage::Closed::is_kept).first->second;
  }

 private:
  std::mutex guard_;
  std::map<std::filesystem::path, FileStorage> files_;
  MemoryFiles memory_files_;
};

PythonResult fast(const hash_join::FastJoinOptions& given, const py::array& build_key,
                  const py::array& probe_key, const OptionalArray& build_payload,
                  const OptionalArray& probe_payload, const OptionalArray& build_null,
                  const OptionalArray& probe_null, OutputKind output, JoinWorkspace* workspace,
                  StorageKind storage, const std::optional<std::string>& directory) {
  const Columns build = columns("build", build_key, build_payload, build_null);
  const Columns probe = columns("probe", probe_key, probe_payload, probe_null);
  hash_join::FastJoinOptions options = given;
  options.keep_rows = output == OutputKind::rows;
  options.workspace = workspace == nullptr ? nullptr : &workspace->memory;
  // Checks the arguments also where the workspace has the files.
  const std::unique_ptr<Storage> files = make_storage(storage, directory);
  Storage& chosen = workspace != nullptr ? workspace->files(storage, directory) : *files;
  hash_join::JoinResult result = without_gil([&] {
    return fast_join(build.relation(), probe.relation(), options, chosen, run_on_threads, stop_on_signal());
  });
  return to_python(std::move(result), options.keep_rows);
}

}  // namespace

void bind_hash_join_fast(py::module_& m) {
  py::class_<JoinWorkspace>(m, "Workspace",
                            "Memory that one join leaves to the next of the same size, and temporary files "
                            "that it overwrites; all goes back to the system with this object.")
      .def(py::init<>());
  def_join(m, "fast", &fast, kFastDoc, py::arg("workspace") = py::none(),
           py::arg("storage") = StorageKind::file, py::arg("directory") = py::none());

  using hash_join::RandomReads;
  py::class_<RandomReads>(m, "RandomReads",
                          "Independent reads of single cache lines: the limit of a look-up.")
      .def(py::init([](std::int64_t table_bytes) {
             return std::make_unique<RandomReads>(at_least(table_bytes, 1, "table_bytes"));
           }),
           py::arg("table_bytes"))
      .def(
          "run",
          [](const RandomReads& reads, const py::array& keys, const py::array& values, bool prefetch) {
            const Columns probe = columns("probe", keys, values, std::nullopt);
            const hash_join::Relation relation = probe.relation();
            const py::gil_scoped_release unlocked;
            return reads.run(relation.key, relation.payload, prefetch);
          },
          py::arg("keys"), py::arg("values"), py::kw_only(), py::arg("prefetch"),
          "Reads one line per key and returns a sum without meaning; `prefetch` asks for lines some reads "
          "ahead.");
}

}  // namespace engineroom::bindings
