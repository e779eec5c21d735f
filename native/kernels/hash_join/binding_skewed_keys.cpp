// engineroom._native.hash_join.skewed_keys: the same keys for a lab as for the explorable in the browser.
#include <algorithm>

#include "hash_join/skewed_keys.hpp"
#include "hash_join/binding.hpp"

namespace engineroom::bindings {

namespace {

constexpr const char* kDoc = R"(Join keys with a chosen skew, drawn by `seed`: int64.

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
  std::vector<std::int64_t> keys;
  {
    const py::gil_scoped_release unlocked;
    keys = hash_join::skewed_keys(n_rows, n_distinct, static_cast<std::uint32_t>(quarters),
                                  static_cast<std::uint64_t>(seed), stop_on_signal());
  }
  return to_array(std::move(keys));
}

}  // namespace

void bind_skewed_keys(py::module_& module) {
  module.def("skewed_keys", &skewed_keys, kDoc, py::kw_only(), py::arg("rows"), py::arg("distinct"),
             py::arg("skew_quarters") = 0, py::arg("seed") = 0);
}

}  // namespace engineroom::bindings
