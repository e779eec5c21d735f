// engineroom._native.low_concurrency: value lists, record offsets and the conversion of fields.
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <tuple>
#include <variant>
#include <vector>

#include "bindings/arguments.hpp"
#include "bindings/arrays.hpp"
#include "low_concurrency/measure.hpp"

namespace engineroom::bindings {

namespace {

using namespace low_concurrency;

py::dict as_dict(const Cost& cost) {
  return dict_of({{"cpu_ns", cost.cpu_ns}, {"operations", cost.operations}, {"checksum", cost.checksum}});
}

py::dict parse(Container container, std::int64_t rows, std::int64_t columns) {
  const std::uint64_t n = at_least(rows, 1, "rows");
  const std::uint64_t wide = at_least(columns, 1, "columns");
  const ParsedInsert parsed =
      without_gil([&] { return parse_insert(container, n, wide, &thread_cpu_ns, stop_on_signal()); });
  using P = ParsedInsert;
  return dict_of_members<&P::values, &P::checksum, &P::container_bytes, &P::item_bytes, &P::reserved_bytes,
                         &P::arena_blocks, &P::build_ns, &P::walk_ns>(parsed);
}

using Encoded = std::tuple<py::bytes, std::size_t, std::vector<std::uint32_t>>;

Encoded encode_record(const Inserted& as, const std::vector<FieldType>& fields, const py::list& values,
                      std::int64_t core_fields) {
  const Schema schema(fields, at_least(core_fields, 0, "core_fields"));
  std::vector<Value> given;
  for (const py::handle value : values) {
    if (value.is_none()) {
      given.push_back({.is_null = true});
      continue;
    }
    constexpr std::int64_t kLongest = std::numeric_limits<std::uint32_t>::max();
    std::string text;
    const options::Value length = value_from(value, text);
    const auto* bytes = std::get_if<std::int64_t>(&length);
    if (bytes == nullptr || *bytes < -kLongest || *bytes > kLongest) {
      throw py::value_error("a value must be its length in bytes, below 4 GiB, or None, got " +
                            std::string(py::repr(value)));
    }
    given.push_back(
        {.bytes = static_cast<std::uint32_t>(*bytes < 0 ? -*bytes : *bytes), .is_external = *bytes < 0});
  }
  const Record record = encode(schema, given, as);
  return {py::bytes(reinterpret_cast<const char*>(record.bytes.data()), record.bytes.size()), record.origin,
          record.end_offsets};
}

std::vector<std::uint32_t> record_offsets(Decoder decoder, const py::bytes& record, std::int64_t origin,
                                          const std::vector<FieldType>& fields, std::int64_t core_fields) {
  const Schema schema(fields, at_least(core_fields, 0, "core_fields"));
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
  offsets(decoder, schema, padded.data() + room + at, out);
  return out;
}

template <typename Variant, typename Work>
py::dict measured(Cost (*measure)(Variant, const Work&, Interrupt), Variant variant, const Work& work) {
  const Cost cost = without_gil([&] { return measure(variant, work, stop_on_signal()); });
  return as_dict(cost);
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
      [](Container container, std::int64_t rows, std::int64_t columns) {
        return container_bytes(container, at_least(rows, 1, "rows"), at_least(columns, 1, "columns"));
      },
      "The formula of the containers' bytes, without the items.", py::arg("container"), py::kw_only(),
      py::arg("rows"), py::arg("columns"));
  def_with_options(m, "encode_record", &encode_record,
                   "A record in the COMPACT format: its bytes, the place of its origin, and the end offset "
                   "of each field with flags. A value is its length in bytes, None for NULL, negative for "
                   "one that is stored outside.\n\n" +
                       documented<FieldType>("fields: a dict each, of"),
                   py::arg("fields"), py::arg("values"), py::kw_only(), py::arg("core_fields") = 0);
  m.def("record_offsets", &record_offsets,
        "The end offsets as a decoder finds them: 'v57', 'v80', 'hoisted' or 'by_state'.", py::arg("decoder"),
        py::arg("record"), py::arg("origin"), py::arg("fields"), py::kw_only(), py::arg("core_fields") = 0);
  def_with_options(
      m, "measure_offsets",
      +[](const RecordWork& work, Decoder decoder) { return measured(measure_offsets, decoder, work); },
      "CPU ns of finding the offsets of records; an operation is a record.", py::arg("decoder"),
      py::kw_only());
  def_with_options(
      m, "measure_store",
      +[](const StoreWork& work, FatalPath path) { return measured(measure_store, path, work); },
      "CPU ns of converting rows, with the fatal path 'none', 'inline_stream', 'cold_call' or 'expect'; an "
      "operation is a field.",
      py::arg("path"), py::kw_only());
}

}  // namespace engineroom::bindings
