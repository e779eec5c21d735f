// engineroom._native.engine
#include "engine/engine.hpp"
#include "submodules.hpp"

namespace engineroom::bindings {

void bind_engine(pybind11::module_& module) {
  // A binding checks shapes, drops the GIL, runs, and returns an array; keyword-only parameters for all but the data.
  module.def_submodule("engine", "Kernels of the chapter engine.");
}

}  // namespace engineroom::bindings
