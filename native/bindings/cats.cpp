// engineroom._native.cats
#include "cats/cats.hpp"
#include "submodules.hpp"

namespace engineroom::bindings {

void bind_cats(pybind11::module_& module) {
  // A binding checks shapes, drops the GIL, runs, and returns an array; keyword-only parameters for all but the data.
  module.def_submodule("cats", "Kernels of the chapter cats.");
}

}  // namespace engineroom::bindings
