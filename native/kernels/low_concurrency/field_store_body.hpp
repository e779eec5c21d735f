// The conversion itself, once; each of the four translation units compiles it with its own check.
#pragma once

#include <cstring>

#include "low_concurrency/field_store.hpp"

namespace engineroom::low_concurrency {

/// Big-endian with the sign bit turned, as the storage engine keeps integers, to little-endian.
inline void store_integer(std::byte* to, const std::byte* from, std::uint32_t bytes, bool is_unsigned) {
  for (std::uint32_t i = 0; i < bytes; ++i) to[i] = from[bytes - 1 - i];
  if (!is_unsigned) to[bytes - 1] ^= std::byte{0x80};
}

template <typename Check>
void store_field(std::byte* to, const Template& field, std::uint32_t column, const std::byte* data,
                 std::uint32_t bytes) {
  Check::check(field, column);
  switch (field.kind) {
    case FieldKind::integer:
      store_integer(to, data, bytes, field.is_unsigned);
      break;
    case FieldKind::varying:
      to[0] = static_cast<std::byte>(bytes);
      if (field.length_bytes == 2) to[1] = static_cast<std::byte>(bytes >> 8);
      std::memcpy(to + field.length_bytes, data, bytes);
      break;
    case FieldKind::fixed_text:
      std::memcpy(to, data, bytes);
      std::memset(to + bytes, ' ', field.bytes - bytes);
      break;
    case FieldKind::raw:
      std::memcpy(to, data, bytes);
      break;
  }
}

template <typename Check>
void store_rows_with(std::span<const Template> templates, std::span<const StoredField> fields,
                     std::size_t rows, std::byte* out, std::size_t row_bytes) {
  const StoredField* field = fields.data();
  for (std::size_t row = 0; row < rows; ++row, out += row_bytes) {
    for (std::uint32_t column = 0; column < templates.size(); ++column, ++field)
      store_field<Check>(out + templates[column].offset, templates[column], column, field->data,
                         field->bytes);
  }
}

}  // namespace engineroom::low_concurrency
