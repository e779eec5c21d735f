#include "low_concurrency/fatal.hpp"

#include <stdexcept>

namespace engineroom::low_concurrency {

Fatal::~Fatal() noexcept(false) { throw std::logic_error(stream_.str()); }

}  // namespace engineroom::low_concurrency
