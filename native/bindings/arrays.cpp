#include "bindings/arrays.hpp"

#include <filesystem>

#include "common/file_storage.hpp"
#include "common/memory_files.hpp"

namespace engineroom::bindings {

std::uint64_t at_least(std::int64_t value, std::int64_t least, const char* name) {
  if (value < least) {
    throw py::value_error(std::string(name) + " must be at least " + std::to_string(least) + ", got " +
                          std::to_string(value));
  }
  return static_cast<std::uint64_t>(value);
}

std::filesystem::path folder_of(const std::optional<std::string>& directory) {
  return directory ? std::filesystem::path(*directory) : std::filesystem::temp_directory_path();
}

std::unique_ptr<Storage> make_storage(StorageKind kind, const std::optional<std::string>& directory) {
  if (kind == StorageKind::file) return std::make_unique<FileStorage>(folder_of(directory));
  if (directory) {
    throw py::value_error("directory='" + *directory +
                          "' has no use with storage='memory'; pass storage='file' or leave it out");
  }
  return std::make_unique<MemoryFiles>();
}

Interrupt stop_on_signal() {
  return Interrupt([] {
    const py::gil_scoped_acquire locked;
    if (PyErr_CheckSignals() != 0) throw py::error_already_set();
  });
}

py::dict dict_of(std::initializer_list<Entry> entries) {
  py::dict all;
  for (const Entry& entry : entries) all[entry.name] = entry.value;
  return all;
}

}  // namespace engineroom::bindings
