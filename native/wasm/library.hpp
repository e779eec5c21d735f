// The standard library's headers that most kernels include, for build.sh, which reads them once for all.
#pragma once

