#include "trx_sys/trx_sys.hpp"
