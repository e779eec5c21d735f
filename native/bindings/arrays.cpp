#include "arrays.hpp"

#include <filesystem>

#include "common/file_storage.hpp"

namespace engineroom::bindings {

namespace {

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

hash_join::JoinType join_type(const std::string& name) {
  using hash_join::JoinType;
  if (name == "inner") return JoinType::inner;
  if (name == "left") return JoinType::left;
  if (name == "semi") return JoinType::semi;
  if (name == "anti") return JoinType::anti;
  throw py::value_error("join must be 'inner', 'left', 'semi' or 'anti', got '" + name + "'");
}

hash_join::ExtraCondition extra_condition(std::optional<std::int64_t> max_diff) {
  if (!max_diff) return {};
  return {.present = true, .max_diff = at_least(*max_diff, 0, "max_diff")};
}

bool keeps_rows(const std::string& output) {
  if (output == "rows") return true;
  if (output == "count") return false;
  throw py::value_error("output must be 'rows' or 'count', got '" + output + "'");
}

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

std::unique_ptr<Storage> make_storage(const std::string& name, const std::optional<std::string>& directory) {
  if (name == "memory") {
    if (directory) {
      throw py::value_error("directory='" + *directory +
                            "' has no use with storage='memory'; pass storage='file' or leave it out");
    }
    return std::make_unique<MemoryStorage>();
  }
  if (name == "file") {
    return std::make_unique<FileStorage>(folder_of(directory));
  }
  throw py::value_error("storage must be 'memory' or 'file', got '" + name + "'");
}

Interrupt stop_on_signal() {
  return Interrupt([] {
    const py::gil_scoped_acquire locked;
    if (PyErr_CheckSignals() != 0) throw py::error_already_set();
  });
}

}  // namespace engineroom::bindings
