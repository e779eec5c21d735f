#include "low_concurrency/field_store.hpp"

namespace engineroom::low_concurrency {

const char* name_of(FatalPath path) {
  switch (path) {
    case FatalPath::none:
      return "none";
    case FatalPath::inline_stream:
      return "inline_stream";
    case FatalPath::cold_call:
      return "cold_call";
    case FatalPath::expect:
      return "expect";
  }
  return "";
}

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
