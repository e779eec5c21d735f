#include "low_concurrency/field_store.hpp"

namespace engineroom::low_concurrency {

void store_rows(FatalPath path, std::span<const Template> templates, std::span<const StoredField> fields,
                std::size_t rows, std::byte* out, std::size_t row_bytes) {
  switch (path) {
    case FatalPath::none:
      return store_rows_none(templates, fields, rows, out, row_bytes);
    case FatalPath::inline_stream:
      return store_rows_inline_stream(templates, fields, rows, out, row_bytes);
    case FatalPath::cold_call:
      return store_rows_cold_call(templates, fields, rows, out, row_bytes);
    case FatalPath::expect:
      return store_rows_expect(templates, fields, rows, out, row_bytes);
  }
}

}  // namespace engineroom::low_concurrency
