#include "low_concurrency/record.hpp"

#include <algorithm>
#include <string>

#include "common/require.hpp"

namespace engineroom::low_concurrency {

namespace {

constexpr std::size_t kExtraBytes = 5;
constexpr std::byte kInstantFlag{0x80};
constexpr std::byte kVersionFlag{0x40};

bool may_take_two(const FieldType& field) { return field.max_bytes > 255 || field.is_big; }

bool has_field(const FieldType& field, std::size_t i, const Schema& schema, Inserted as) {
  if (schema.has_instant_columns() && !schema.has_row_versions())
    return i < (as.n_fields ? as.n_fields : schema.core_fields());
  if (!schema.has_row_versions()) return true;
  if (as.version == 0 && schema.has_instant_columns()) {
    const std::size_t n = as.n_fields ? as.n_fields : schema.core_fields();
    return i < n && field.added_version == 0;
  }
  return field.added_version <= as.version &&
         (field.dropped_version == 0 || as.version < field.dropped_version);
}

std::uint32_t missing(const FieldType& field, std::uint8_t version, std::uint32_t end) {
  if (field.dropped_version != 0 && version >= field.dropped_version) return end | kDropped;
  return end | (field.default_is_null ? kSqlNull : kDefault);
}

/// What the bytes before the origin say about one record.
struct Found {
  RecordState state;
  std::uint8_t version;
  std::size_t n_fields;
  const std::byte* nulls;
  const std::byte* lengths;
};

/// Which of the six states a record is in, and where its NULL bits and lengths begin (both run backwards).
Found find(const Schema& schema, const std::byte* origin) {
  const std::byte* at = origin - kExtraBytes - 1;
  if (!schema.has_instant_columns() && !schema.has_row_versions()) {
    const std::size_t n = schema.fields().size();
    return {RecordState::no_instant_no_version, 0, n, at, at - (schema.nullable_of_first(n) + 7) / 8};
  }
  const std::byte info = *(origin - kExtraBytes);
  if ((info & kVersionFlag) != std::byte{0}) {
    const auto version = std::to_integer<std::uint8_t>(*at--);
    return {RecordState::after_instant_add_new, version, schema.fields().size(), at,
            at - (schema.nullable_in_version(version) + 7) / 8};
  }
  if ((info & kInstantFlag) != std::byte{0}) {
    std::size_t n = std::to_integer<std::size_t>(*at--);
    if (n & 0x80) n = (n & 0x7f) << 8 | std::to_integer<std::size_t>(*at--);
    return {schema.has_row_versions() ? RecordState::after_upgrade : RecordState::after_instant_add_old, 0, n,
            at, at - (schema.nullable_of_first(n) + 7) / 8};
  }
  if (schema.has_instant_columns()) {
    const std::size_t n = schema.core_fields();
    return {RecordState::before_instant_add_old, 0, n, at, at - (schema.nullable_of_first(n) + 7) / 8};
  }
  return {RecordState::before_instant_add_new, 0, schema.fields().size(), at,
          at - (schema.nullable_in_version(0) + 7) / 8};
}

/// The part that all have in common: is it NULL, is it of a fixed length, else read one or two bytes of
/// length.
struct Cursor {
  const std::byte* nulls;
  const std::byte* lengths;
  unsigned null_bit = 1;
  std::uint32_t end = 0;

  std::uint32_t next(const FieldType& field) {
    if (field.is_nullable) {
      if (null_bit == 0x100) {
        null_bit = 1;
        --nulls;
      }
      const bool is_null = (std::to_integer<unsigned>(*nulls) & null_bit) != 0;
      null_bit <<= 1;
      if (is_null) return end | kSqlNull;
    }
    if (field.fixed_bytes != 0) return end += field.fixed_bytes;
    std::uint32_t length = std::to_integer<std::uint32_t>(*lengths--);
    if (may_take_two(field) && (length & 0x80)) {
      length = length << 8 | std::to_integer<std::uint32_t>(*lengths--);
      end += length & 0x3fff;
      return (length & 0x4000) ? end | kExternal : end;
    }
    return end += length;
  }
};

void plain(const Schema& schema, const std::byte* origin, std::span<std::uint32_t> out) {
  const std::byte* const nulls = origin - kExtraBytes - 1;
  const std::size_t n = schema.fields().size();
  Cursor cursor{nulls, nulls - (schema.nullable_of_first(n) + 7) / 8};
  const FieldType* field = schema.fields().data();
  for (std::size_t i = 0; i < n; ++i) out[i] = cursor.next(*field++);
}

/// Whether field i is not in a record of this state; the switch that 8.0 asks for each field.
bool is_missing(RecordState state, const FieldType& field, std::size_t i, const Found& found) {
  switch (state) {
    case RecordState::no_instant_no_version:
      return false;
    case RecordState::before_instant_add_old:
    case RecordState::after_instant_add_old:
      return i >= found.n_fields || field.added_version != 0;
    case RecordState::after_upgrade:
      return i >= found.n_fields || field.added_version != 0;
    case RecordState::before_instant_add_new:
    case RecordState::after_instant_add_new:
      return found.version < field.added_version ||
             (field.dropped_version != 0 && found.version >= field.dropped_version);
  }
  return false;
}

void switching(const Schema& schema, const Found& found, std::span<std::uint32_t> out) {
  Cursor cursor{found.nulls, found.lengths};
  const std::size_t n = schema.fields().size();
  for (std::size_t i = 0; i < n; ++i) {
    const FieldType& field = schema.physical(i);
    out[i] = is_missing(found.state, field, i, found) ? missing(field, found.version, cursor.end)
                                                      : cursor.next(field);
  }
}

template <RecordState state>
void specialised(const Schema& schema, const Found& found, std::span<std::uint32_t> out) {
  Cursor cursor{found.nulls, found.lengths};
  const std::size_t n = schema.fields().size();
  const FieldType* field = schema.fields().data();
  for (std::size_t i = 0; i < n; ++i, ++field) {
    out[i] = is_missing(state, *field, i, found) ? missing(*field, found.version, cursor.end)
                                                 : cursor.next(*field);
  }
}

void by_state(const Schema& schema, const Found& found, std::span<std::uint32_t> out) {
  switch (found.state) {
    case RecordState::no_instant_no_version:
      return specialised<RecordState::no_instant_no_version>(schema, found, out);
    case RecordState::before_instant_add_old:
      return specialised<RecordState::before_instant_add_old>(schema, found, out);
    case RecordState::after_instant_add_old:
      return specialised<RecordState::after_instant_add_old>(schema, found, out);
    case RecordState::before_instant_add_new:
      return specialised<RecordState::before_instant_add_new>(schema, found, out);
    case RecordState::after_instant_add_new:
      return specialised<RecordState::after_instant_add_new>(schema, found, out);
    case RecordState::after_upgrade:
      return specialised<RecordState::after_upgrade>(schema, found, out);
  }
}

}  // namespace

Schema::Schema(std::vector<FieldType> fields, std::size_t core_fields)
    : fields_(std::move(fields)), core_fields_(core_fields) {
  if (fields_.empty() || fields_.size() > 1023)
    refuse("a schema has " + std::to_string(fields_.size()) + " fields; a record has 1 to 1023");
  if (core_fields_ > fields_.size())
    refuse("core_fields is " + std::to_string(core_fields_) + " of " + std::to_string(fields_.size()));
  for (const FieldType& field : fields_) {
    if (field.dropped_version != 0 && field.dropped_version <= field.added_version)
      refuse("a field is dropped in version " + std::to_string(field.dropped_version) + " and added in " +
             std::to_string(field.added_version));
    current_version_ = std::max({current_version_, field.added_version, field.dropped_version});
  }
  if (current_version_ > 64)
    refuse("row version is " + std::to_string(current_version_) + "; 64 is the last");
  nullable_of_first_.push_back(0);
  for (std::size_t i = 0; i < fields_.size(); ++i) {
    physical_.push_back(static_cast<std::uint16_t>(i));
    // A column of a later row version has no bit in a record that tells only its number of fields.
    const bool counts = fields_[i].is_nullable && fields_[i].added_version == 0;
    nullable_of_first_.push_back(static_cast<std::uint16_t>(nullable_of_first_.back() + (counts ? 1 : 0)));
  }
  for (unsigned version = 0; version <= current_version_; ++version) {
    const auto of_version = std::count_if(fields_.begin(), fields_.end(), [&](const FieldType& field) {
      return field.is_nullable && field.added_version <= version &&
             (field.dropped_version == 0 || version < field.dropped_version);
    });
    nullable_in_version_.push_back(static_cast<std::uint16_t>(of_version));
  }
}

Record encode(const Schema& schema, std::span<const Value> values, Inserted as) {
  const std::size_t n = schema.fields().size();
  if (values.size() != n)
    refuse("the record has " + std::to_string(values.size()) + " values and the schema " + std::to_string(n));
  if (as.version > schema.current_version())
    refuse("row version is " + std::to_string(as.version) + "; the schema is at " +
           std::to_string(schema.current_version()));
  if (as.n_fields != 0 &&
      (!schema.has_instant_columns() || as.n_fields < schema.core_fields() || as.n_fields > n))
    refuse("n_fields is " + std::to_string(as.n_fields) +
           "; from core_fields to all, in a schema that has them");
  Record record;
  std::vector<std::byte> before;  // read backwards from the origin
  std::byte info{0};
  const bool has_version_byte = schema.has_row_versions() && as.version > 0;
  if (has_version_byte) {
    info = kVersionFlag;
    before.push_back(std::byte{as.version});
  } else if (as.n_fields != 0) {
    info = kInstantFlag;
    if (as.n_fields > 0x7f) {
      before.push_back(static_cast<std::byte>(0x80 | as.n_fields >> 8));
      before.push_back(static_cast<std::byte>(as.n_fields & 0xff));
    } else {
      before.push_back(static_cast<std::byte>(as.n_fields));
    }
  }
  std::vector<std::byte> nulls;
  std::vector<std::byte> lengths;
  std::size_t null_bits = 0;
  std::uint32_t end = 0;
  for (std::size_t i = 0; i < n; ++i) {
    const FieldType& field = schema.fields()[i];
    const Value& value = values[i];
    if (!has_field(field, i, schema, as)) {
      record.end_offsets.push_back(missing(field, as.version, end));
      continue;
    }
    if (field.is_nullable) {
      if (null_bits % 8 == 0) nulls.push_back(std::byte{0});
      if (value.is_null) nulls.back() |= std::byte{1} << (null_bits % 8);
      null_bits += 1;
      if (value.is_null) {
        record.end_offsets.push_back(end | kSqlNull);
        continue;
      }
    } else if (value.is_null) {
      refuse("field " + std::to_string(i) + " is NULL and not nullable");
    }
    std::uint32_t flags = 0;
    std::uint32_t bytes = field.fixed_bytes;
    if (bytes == 0) {
      bytes = value.bytes;
      if (!field.is_big && bytes > field.max_bytes)
        refuse("field " + std::to_string(i) + " has " + std::to_string(bytes) + " bytes of at most " +
               std::to_string(field.max_bytes));
      if (bytes > 0x3fff)
        refuse("field " + std::to_string(i) + " has " + std::to_string(bytes) + " bytes of 16383");
      const bool is_external = value.is_external && field.is_big;
      if (may_take_two(field) && (bytes > 127 || is_external)) {
        lengths.push_back(static_cast<std::byte>(0x80 | (is_external ? 0x40 : 0) | bytes >> 8));
        lengths.push_back(static_cast<std::byte>(bytes & 0xff));
        if (is_external) flags = kExternal;
      } else {
        lengths.push_back(static_cast<std::byte>(bytes));
      }
    }
    end += bytes;
    record.end_offsets.push_back(end | flags);
  }
  before.insert(before.end(), nulls.begin(), nulls.end());
  before.insert(before.end(), lengths.begin(), lengths.end());
  record.bytes.assign(before.rbegin(), before.rend());
  record.bytes.push_back(info);
  record.bytes.resize(record.bytes.size() + kExtraBytes - 1);
  record.origin = record.bytes.size();
  for (std::uint32_t i = 0; i < end; ++i) record.bytes.push_back(static_cast<std::byte>(i * 37 + 11));
  return record;
}

void offsets(Decoder decoder, const Schema& schema, const std::byte* origin, std::span<std::uint32_t> out) {
  switch (decoder) {
    case Decoder::v57:
      if (schema.has_instant_columns() || schema.has_row_versions())
        refuse("decoder is v57, which knows no INSTANT columns, and the schema has some");
      return plain(schema, origin, out);
    case Decoder::v80:
      return switching(schema, find(schema, origin), out);
    case Decoder::hoisted: {
      if (!schema.has_instant_columns() && !schema.has_row_versions()) return plain(schema, origin, out);
      return switching(schema, find(schema, origin), out);
    }
    case Decoder::by_state:
      return by_state(schema, find(schema, origin), out);
  }
}

}  // namespace engineroom::low_concurrency
