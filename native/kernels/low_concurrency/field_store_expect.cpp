#include "low_concurrency/fatal.hpp"
#include "low_concurrency/field_store_body.hpp"

namespace engineroom::low_concurrency {

namespace {
struct Expected {
  static void check(const Template& field, std::uint32_t column) {
    if (__builtin_expect(field.is_multi_value, false))
      Fatal() << "multi-value field " << column << " at offset " << field.offset << " of a row";
  }
};
}  // namespace

void store_rows_expect(std::span<const Template> templates, std::span<const StoredField> fields,
                       std::size_t rows, std::byte* out, std::size_t row_bytes) {
  store_rows_with<Expected>(templates, fields, rows, out, row_bytes);
}

}  // namespace engineroom::low_concurrency
