#include "low_concurrency/fatal.hpp"
#include "low_concurrency/field_store_body.hpp"

namespace engineroom::low_concurrency {

namespace {
[[noreturn, gnu::cold, gnu::noinline]] void fail(const Template& field, std::uint32_t column) {
  Fatal() << "multi-value field " << column << " at offset " << field.offset << " of a row";
  __builtin_unreachable();
}

struct ColdCall {
  static void check(const Template& field, std::uint32_t column) {
    if (field.is_multi_value) [[unlikely]]
      fail(field, column);
  }
};
}  // namespace

void store_rows_cold_call(std::span<const Template> templates, std::span<const StoredField> fields,
                          std::size_t rows, std::byte* out, std::size_t row_bytes) {
  store_rows_with<ColdCall>(templates, fields, rows, out, row_bytes);
}

}  // namespace engineroom::low_concurrency
