// What a module for the browser does without: text on failure, which brings printf along, and checksums of
// blocks that nobody reads again. Linked into the modules that simulate a log (build.sh).
#include <__config>
#include <cstdlib>

#include "redo_log/block.hpp"

_LIBCPP_BEGIN_NAMESPACE_STD
[[noreturn]] void __libcpp_verbose_abort(const char*, ...) { __builtin_trap(); }
_LIBCPP_END_NAMESPACE_STD
extern "C" [[noreturn]] void abort_message(const char*, ...) { __builtin_trap(); }

namespace engineroom::redo_log {

void seal(Block, Lsn, std::size_t, std::uint32_t) { __builtin_trap(); }  // LogConfig::seals_blocks is off

void store_big_endian(std::byte* to, std::uint64_t value, std::size_t bytes) {
  for (std::size_t i = 0; i < bytes; ++i) to[i] = static_cast<std::byte>(value >> 8 * (bytes - 1 - i));
}

}  // namespace engineroom::redo_log
