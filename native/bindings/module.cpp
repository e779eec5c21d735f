// The Python module engineroom._native: one submodule per chapter and one for the machine, each bound in a file of its name.
#include "bindings/options.hpp"
#include "submodules.hpp"

PYBIND11_MODULE(_native, module) {
  module.doc() = "The kernels of the book, compiled. One submodule a chapter.";
  engineroom::bindings::bind_options(module);
  engineroom::bindings::bind_submodules(module);
}
