// Records in the COMPACT format and four ways to find where their fields end.
//
// Models      rec_get_offsets and rec_init_offsets_comp_ordinary (rem/rec.h): 5.7.32, and 8.0.39 / 9.7.4
//             with columns added or dropped INSTANT in both implementations
// Leaves out  REDUNDANT format, node pointers, system records, external field references (only their flag),
//             virtual columns
// Cost        O(fields) a record
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "common/described.hpp"

namespace engineroom::low_concurrency {

struct FieldType {
  std::uint16_t fixed_bytes = 0;
  std::uint16_t max_bytes = 0;
  bool is_nullable = false;
  bool is_big = false;
  bool default_is_null = false;
  std::uint8_t added_version = 0;
  std::uint8_t dropped_version = 0;
};
constexpr auto described(options::Of<FieldType>) {
  using C = FieldType;
  return options::list<C>(
      "a field",
      {options::option<&C::fixed_bytes>("0 for a variable field"),
       options::option<&C::max_bytes>("of a variable field: above 255 its length may take two bytes"),
       options::option<&C::is_nullable>("whether it may be NULL"),
       options::option<&C::is_big>("a BLOB or the like: its length may take two bytes"),
       options::option<&C::default_is_null>("what a record without the field stands for"),
       options::option<&C::added_version>("the row version in which it was added; 0 for never"),
       options::option<&C::dropped_version>("the row version in which it was dropped; 0 for never")});
}

/// How the record's table was changed before and after the record was inserted: six cases, found anew for
/// each record.
enum class RecordState : std::uint8_t {
  no_instant_no_version,
  before_instant_add_old,  // 8.0.12 to 8.0.28: the record has the fields that the table began with
  after_instant_add_old,   // and this one says how many it has
  before_instant_add_new,  // 8.0.29 and later: a record without a version byte has version 0
  after_instant_add_new,   // and one with it was inserted at that version
  after_upgrade,           // in a table of the old kind that was changed again in the new way
};

class Schema {
 public:
  /// `core_fields`: the fields that the table began with, if columns were added by the old implementation;
  /// else 0.
  explicit Schema(std::vector<FieldType> fields, std::size_t core_fields = 0);

  std::span<const FieldType> fields() const { return fields_; }
  const FieldType& physical(std::size_t i) const { return fields_[physical_[i]]; }
  bool has_instant_columns() const { return core_fields_ != 0; }
  bool has_row_versions() const { return current_version_ != 0; }
  std::size_t core_fields() const { return core_fields_; }
  std::uint8_t current_version() const { return current_version_; }
  /// Nullable fields that a record of this version, or with this many fields, has a bit for.
  std::size_t nullable_in_version(std::uint8_t version) const { return nullable_in_version_[version]; }
  std::size_t nullable_of_first(std::size_t n) const { return nullable_of_first_[n]; }

 private:
  std::vector<FieldType> fields_;
  std::vector<std::uint16_t> physical_;  // 8.0.29 and later look each field up through this
  std::size_t core_fields_;
  std::uint8_t current_version_ = 0;
  std::vector<std::uint16_t> nullable_in_version_;
  std::vector<std::uint16_t> nullable_of_first_;
};

inline constexpr std::uint32_t kSqlNull = 1u << 31;
inline constexpr std::uint32_t kExternal = 1u << 30;
inline constexpr std::uint32_t kDefault = 1u << 29;
inline constexpr std::uint32_t kDropped = 1u << 28;

struct Value {
  std::uint32_t bytes = 0;
  bool is_null = false;
  bool is_external = false;
};

struct Record {
  std::vector<std::byte> bytes;
  std::size_t origin = 0;                  // the data begin here, everything else lies before
  std::vector<std::uint32_t> end_offsets;  // what a decoder must find
};

/// What the record was inserted as: `version` for a schema with row versions, `n_fields` for one with instant
/// columns; 0 fields: before any column was added.
struct Inserted {
  std::uint8_t version = 0;
  std::size_t n_fields = 0;
};
constexpr auto described(options::Of<Inserted>) {
  using C = Inserted;
  return options::list<C>("a record's insertion",
                          {options::option<&C::version>("the row version that it was inserted at"),
                           options::option<&C::n_fields>(
                               "how many fields it was inserted with, in a schema with instant columns; "
                               "0 for those before any column was added")});
}

Record encode(const Schema& schema, std::span<const Value> values, Inserted as = {});

enum class Decoder {
  v57,       // 5.7: no INSTANT columns exist
  v80,       // the state is found for each record and asked for each field
  hoisted,   // the state is asked once: the loop of 5.7 for the common case, the other loop else
  by_state,  // a loop for each state
};
constexpr auto named(names::Of<Decoder>) { return names::as_written<Decoder::by_state>("decoder"); }

/// Writes the end offset of each field, with its flags. `v57` needs a schema without INSTANT columns.
void offsets(Decoder decoder, const Schema& schema, const std::byte* origin, std::span<std::uint32_t> out);

}  // namespace engineroom::low_concurrency
