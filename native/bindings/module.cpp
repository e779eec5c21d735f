// The Python module engineroom._native: one submodule a chapter, one binding file each.
#include "arrays.hpp"

PYBIND11_MODULE(_native, module) {
  module.doc() = "The kernels of the book, compiled. One submodule a chapter.";
  engineroom::bindings::bind_hash_join(module);
}
