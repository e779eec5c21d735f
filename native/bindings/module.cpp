// The Python module engineroom._native: one submodule a chapter, one binding file each.
#include "arrays.hpp"
#include "filesort_binding.hpp"
#include "join_binding.hpp"
#include "join_order_binding.hpp"
#include "low_concurrency_binding.hpp"
#include "sim_binding.hpp"

PYBIND11_MODULE(_native, module) {
  module.doc() = "The kernels of the book, compiled. One submodule a chapter.";
  engineroom::bindings::bind_hash_join(module);
  auto hash_join = module.attr("hash_join").cast<pybind11::module_>();
  engineroom::bindings::bind_hash_join_fast(hash_join);
  engineroom::bindings::bind_skewed_keys(hash_join);
  engineroom::bindings::bind_machine(module);
  engineroom::bindings::bind_redo_log(module);
  engineroom::bindings::bind_join_order(module);
  engineroom::bindings::bind_filesort(module);
  engineroom::bindings::bind_low_concurrency(module);
}
