#include <span>

#include "hash_join/binding.hpp"

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

}  // namespace engineroom::bindings
