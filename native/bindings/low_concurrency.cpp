// engineroom._native.low_concurrency: value lists, record offsets and the conversion of fields.
#include <algorithm>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "arrays.hpp"
#include "low_concurrency/measure.hpp"

namespace engineroom::bindings {

namespace {

using namespace low_concurrency;

template <typename Enum, std::size_t n>
Enum chosen(const Enum (&all)[n], const std::string& name, const char* what) {
  std::string known;
  for (const Enum one : all) {
    if (name == name_of(one)) return one;
    known += (known.empty() ? "" : ", ") + std::string(name_of(one));
  }
  throw py::value_error(std::string(what) + " must be one of " + known + ", got '" + name + "'");
}

/// A field as a dict of FieldType's members; what is left out has its default.
FieldType field_of(const py::dict& given) {
  FieldType field;
  for (const auto& [key, value] : given) {
    const auto name = key.cast<std::string>();
    if (name == "fixed_bytes") {
      field.fixed_bytes = value.cast<std::uint16_t>();
    } else if (name == "max_bytes") {
      field.max_bytes = value.cast<std::uint16_t>();
    } else if (name == "is_nullable") {
      field.is_nullable = value.cast<bool>();
    } else if (name == "is_big") {
      field.is_big = value.cast<bool>();
    } else if (name == "default_is_null") {
      field.default_is_null = value.cast<bool>();
    } else if (name == "added_version") {
      field.added_version = value.cast<std::uint8_t>();
    } else if (name == "dropped_version") {
      field.dropped_version = value.cast<std::uint8_t>();
    } else {
      throw py::value_error("a field has no '" + name + "'");
    }
  }
  return field;
}

Schema schema_of(const py::list& fields, std::int64_t core_fields) {
  std::vector<FieldType> types;
  types.reserve(fields.size());
  for (const py::handle field : fields) types.push_back(field_of(field.cast<py::dict>()));
  return Schema(std::move(types), at_least(core_fields, 0, "core_fields"));
}

py::dict as_dict(const Cost& cost) {
  py::dict result;
  result["cpu_ns"] = cost.cpu_ns;
  result["operations"] = cost.operations;
  result["checksum"] = cost.checksum;
  return result;
}

py::dict parse(const std::string& container, std::int64_t rows, std::int64_t columns) {
  const Container which = chosen(kContainers, container, "container");
  const std::uint64_t n = at_least(rows, 1, "rows");
  const std::uint64_t wide = at_least(columns, 1, "columns");
  ParsedInsert parsed;
  {
    const py::gil_scoped_release unlocked;
    parsed = parse_insert(which, n, wide, &thread_cpu_ns);
  }
  py::dict result;
  result["values"] = parsed.values;
  result["checksum"] = parsed.checksum;
  result["container_bytes"] = parsed.container_bytes;
  result["item_bytes"] = parsed.item_bytes;
  result["reserved_bytes"] = parsed.reserved_bytes;
  result["arena_blocks"] = parsed.arena_blocks;
  result["build_ns"] = parsed.build_ns;
  result["walk_ns"] = parsed.walk_ns;
  return result;
}

std::tuple<py::bytes, std::size_t, std::vector<std::uint32_t>> encode_record(const py::list& fields,
                                                                             const py::list& values,
                                                                             std::int64_t core_fields,
                                                                             std::int64_t version,
                                                                             std::int64_t n_fields) {
  const Schema schema = schema_of(fields, core_fields);
  std::vector<Value> given;
  for (const py::handle value : values) {
    if (value.is_none()) {
      given.push_back({.is_null = true});
    } else if (const auto bytes = value.cast<std::int64_t>(); bytes < 0) {
      given.push_back({.bytes = static_cast<std::uint32_t>(-bytes), .is_external = true});
    } else {
      given.push_back({.bytes = static_cast<std::uint32_t>(bytes)});
    }
  }
  const Record record = encode(schema, given,
                               {.version = static_cast<std::uint8_t>(at_least(version, 0, "version")),
                                .n_fields = at_least(n_fields, 0, "n_fields")});
  return {py::bytes(reinterpret_cast<const char*>(record.bytes.data()), record.bytes.size()), record.origin,
          record.end_offsets};
}

std::vector<std::uint32_t> record_offsets(const std::string& decoder, const py::bytes& record,
                                          std::int64_t origin, const py::list& fields,
                                          std::int64_t core_fields) {
  const Schema schema = schema_of(fields, core_fields);
  const std::string_view view(record);
  // The widest header: flags and fields, a bit and two bytes of length a field. Then no decoder reads
  // outside.
  const std::size_t room = 16 + 3 * fields.size();
  std::vector<std::byte> padded(room);
  const auto bytes = std::as_bytes(std::span(view));
  padded.insert(padded.end(), bytes.begin(), bytes.end());
  const std::size_t at = at_least(origin, 5, "origin");
  if (at > view.size())
    throw py::value_error("origin is " + std::to_string(origin) + " in a record of " +
                          std::to_string(view.size()) + " bytes");
  if (schema.has_row_versions() && (bytes[at - 5] & std::byte{0x40}) != std::byte{0} &&
      std::to_integer<std::uint8_t>(padded[room + at - 6]) > schema.current_version())
    throw py::value_error("the record's row version is " +
                          std::to_string(std::to_integer<int>(padded[room + at - 6])) +
                          ", the schema is at " + std::to_string(schema.current_version()));
  std::vector<std::uint32_t> out(fields.size());
  offsets(chosen(kDecoders, decoder, "decoder"), schema, padded.data() + room + at, out);
  return out;
}

}  // namespace

void bind_low_concurrency(py::module_& module) {
  py::module_ m = module.def_submodule("low_concurrency", "What one client pays: lists, records and fields.");
  m.def(
      "parse_insert", &parse,
      "Parses an INSERT of `rows` rows of `columns` integers into items and lists and walks them. container: "
      "'list_5_7', 'deque_8_0', 'deque_9_7' or 'reserved'. Returns bytes, blocks and CPU ns of both phases.",
      py::arg("container"), py::kw_only(), py::arg("rows"), py::arg("columns"));
  m.def(
      "container_bytes",
      [](const std::string& container, std::int64_t rows, std::int64_t columns) {
        return container_bytes(chosen(kContainers, container, "container"), at_least(rows, 1, "rows"),
                               at_least(columns, 1, "columns"));
      },
      "The formula of the containers' bytes, without the items.", py::arg("container"), py::kw_only(),
      py::arg("rows"), py::arg("columns"));
  m.def(
      "encode_record", &encode_record,
      "A record in the COMPACT format: its bytes, the place of its origin, and the end offset of each field "
      "with "
      "flags. A value is its length in bytes, None for NULL, negative for one that is stored outside.",
      py::arg("fields"), py::arg("values"), py::kw_only(), py::arg("core_fields") = 0, py::arg("version") = 0,
      py::arg("n_fields") = 0);
  m.def("record_offsets", &record_offsets,
        "The end offsets as a decoder finds them: 'v57', 'v80', 'hoisted' or 'by_state'.", py::arg("decoder"),
        py::arg("record"), py::arg("origin"), py::arg("fields"), py::kw_only(), py::arg("core_fields") = 0);
  m.def(
      "measure_offsets",
      [](const std::string& decoder, std::int64_t columns, std::int64_t nullable_percent,
         std::int64_t variable_percent, std::int64_t row_versions, std::int64_t records,
         std::int64_t passes) {
        const Decoder which = chosen(kDecoders, decoder, "decoder");
        const RecordWork work{.columns = at_least(columns, 1, "columns"),
                              .nullable_percent = at_least(nullable_percent, 0, "nullable_percent"),
                              .variable_percent = at_least(variable_percent, 0, "variable_percent"),
                              .row_versions = at_least(row_versions, 0, "row_versions"),
                              .records = at_least(records, 1, "records"),
                              .passes = at_least(passes, 1, "passes")};
        Cost cost;
        {
          const py::gil_scoped_release unlocked;
          cost = measure_offsets(which, work);
        }
        return as_dict(cost);
      },
      "CPU ns of finding the offsets of records; an operation is a record.", py::arg("decoder"),
      py::kw_only(), py::arg("columns"), py::arg("nullable_percent") = 50, py::arg("variable_percent") = 30,
      py::arg("row_versions") = 0, py::arg("records") = 1000, py::arg("passes") = 100);
  m.def(
      "measure_store",
      [](const std::string& path, std::int64_t integers, std::int64_t varying, std::int64_t fixed_texts,
         std::int64_t rows, std::int64_t passes) {
        const FatalPath which = chosen(kFatalPaths, path, "path");
        const StoreWork work{.integers = at_least(integers, 0, "integers"),
                             .varying = at_least(varying, 0, "varying"),
                             .fixed_texts = at_least(fixed_texts, 0, "fixed_texts"),
                             .rows = at_least(rows, 1, "rows"),
                             .passes = at_least(passes, 1, "passes")};
        Cost cost;
        {
          const py::gil_scoped_release unlocked;
          cost = measure_store(which, work);
        }
        return as_dict(cost);
      },
      "CPU ns of converting rows, with the fatal path 'none', 'inline_stream', 'cold_call' or 'expect'; an "
      "operation is a field.",
      py::arg("path"), py::kw_only(), py::arg("integers") = 6, py::arg("varying") = 2,
      py::arg("fixed_texts") = 2, py::arg("rows") = 500, py::arg("passes") = 100);
}

}  // namespace engineroom::bindings
