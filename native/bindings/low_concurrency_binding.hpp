#pragma once

#include <pybind11/pybind11.h>

namespace engineroom::bindings {

void bind_low_concurrency(pybind11::module_& module);

}  // namespace engineroom::bindings
