// The binding of the join order chapter.
#pragma once

#include <pybind11/pybind11.h>

namespace engineroom::bindings {

/// Adds the submodule `join_order`.
void bind_join_order(pybind11::module_& module);

}  // namespace engineroom::bindings
