#include "low_concurrency/field_store_body.hpp"

namespace engineroom::low_concurrency {

namespace {
struct NoCheck {
  static void check(const Template&, std::uint32_t) {}
};
}  // namespace

void store_rows_none(std::span<const Template> templates, std::span<const StoredField> fields,
                     std::size_t rows, std::byte* out, std::size_t row_bytes) {
  store_rows_with<NoCheck>(templates, fields, rows, out, row_bytes);
}

}  // namespace engineroom::low_concurrency
