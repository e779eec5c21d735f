// The binding of the filesort chapter.
#pragma once

#include <pybind11/pybind11.h>

namespace engineroom::bindings {

/// Adds the submodule `filesort`.
void bind_filesort(pybind11::module_& module);

}  // namespace engineroom::bindings
