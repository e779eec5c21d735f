// What the machine's binding files share.
#pragma once

#include <pybind11/pybind11.h>

namespace engineroom::bindings {

/// Adds the loops of studies of synchronization to the submodule that bind_machine has made.
void bind_crowd(pybind11::module_& machine);

}  // namespace engineroom::bindings
