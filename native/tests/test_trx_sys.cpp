#include <gtest/gtest.h>

#include "trx_sys/trx_sys.hpp"

// A kernel has four tests: the smallest case worked out by hand, a slow reference, an invariant, bad arguments. The slow
// reference is in tests/kernels/test_trx_sys.py.
