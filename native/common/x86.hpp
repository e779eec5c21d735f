// ENGINEROOM_X86: whether the intrinsics of x86-64 may be used, in functions with a [[gnu::target]] that the
// processor was asked for first. Elsewhere, as in WebAssembly, the portable code beside them runs.
#pragma once

#if defined(__x86_64__) && defined(__GNUC__)
#include <immintrin.h>
#define ENGINEROOM_X86 1
#else
#define ENGINEROOM_X86 0
#endif
