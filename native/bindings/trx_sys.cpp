// engineroom._native.trx_sys
#include "trx_sys/trx_sys.hpp"
#include "submodules.hpp"

namespace engineroom::bindings {

void bind_trx_sys(pybind11::module_& module) {
  // A binding checks shapes, drops the GIL, runs, and returns an array; keyword-only parameters for all but the data.
  module.def_submodule("trx_sys", "Kernels of the chapter trx_sys.");
}

}  // namespace engineroom::bindings
