#include "low_concurrency/measure.hpp"

#include <ctime>
#include <string>
#include <vector>

#include "common/require.hpp"

namespace engineroom::low_concurrency {

std::uint64_t thread_cpu_ns() {
  std::timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(now.tv_nsec);
}

namespace {

/// SplitMix64: the same numbers on every platform.
class Numbers {
 public:
  explicit Numbers(std::uint64_t seed) : state_(seed) {}
  std::uint64_t below(std::uint64_t n) {
    state_ += 0x9e3779b97f4a7c15;
    std::uint64_t x = state_;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
    x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
    return (x ^ (x >> 31)) % n;
  }

 private:
  std::uint64_t state_;
};

}  // namespace

void check_together(const RecordWork& work) {
  if (work.row_versions >= work.columns)
    refuse("row_versions is " + std::to_string(work.row_versions) + "; fewer than the columns, " +
           std::to_string(work.columns) + ", can be added");
}

void check_together(const StoreWork& work) {
  if (work.integers == 0 && work.varying == 0 && work.fixed_texts == 0)
    refuse("a row has no field; give it integers, varying or fixed_texts");
}

Cost measure_offsets(Decoder decoder, const RecordWork& work, Interrupt interrupt) {
  options::check(work);
  Numbers numbers(work.seed);
  std::vector<FieldType> fields;
  for (std::uint64_t i = 0; i < work.columns; ++i) {
    FieldType field{.is_nullable = numbers.below(100) < work.nullable_percent};
    if (numbers.below(100) < work.variable_percent) {
      field.max_bytes = 300;
    } else {
      field.fixed_bytes = 4;
    }
    const std::uint64_t first_added = work.columns - work.row_versions;
    if (i >= first_added) field.added_version = static_cast<std::uint8_t>(i - first_added + 1);
    fields.push_back(field);
  }
  const Schema schema(fields);
  std::vector<Record> records;
  for (std::uint64_t r = 0; r < work.records; ++r) {
    std::vector<Value> values;
    for (const FieldType& field : fields)
      values.push_back({.bytes = field.fixed_bytes ? 0 : static_cast<std::uint32_t>(numbers.below(40)),
                        .is_null = field.is_nullable && numbers.below(4) == 0});
    const auto version =
        static_cast<std::uint8_t>(work.row_versions ? numbers.below(work.row_versions + 1) : 0);
    records.push_back(encode(schema, values, {.version = version}));
    interrupt.advance(8 * work.columns);
  }
  std::vector<std::uint32_t> out(work.columns);
  Cost cost;
  const std::uint64_t start = thread_cpu_ns();
  for (std::uint64_t pass = 0; pass < work.passes; ++pass) {
    for (const Record& record : records) {
      offsets(decoder, schema, record.bytes.data() + record.origin, out);
      cost.checksum = cost.checksum * 31 + out.back() + out[work.columns / 2];
    }
    interrupt.advance(records.size() * work.columns);
  }
  cost.cpu_ns = thread_cpu_ns() - start;
  cost.operations = work.passes * work.records;
  return cost;
}

Cost measure_store(FatalPath path, const StoreWork& work, Interrupt interrupt) {
  options::check(work);
  Numbers numbers(work.seed);
  std::vector<Template> templates;
  std::uint32_t offset = 1;
  const auto add = [&](std::uint64_t count, FieldKind kind, std::uint32_t bytes, std::uint32_t in_row) {
    for (std::uint64_t i = 0; i < count; ++i, offset += in_row)
      templates.push_back({.offset = offset, .bytes = bytes, .kind = kind});
  };
  add(work.integers, FieldKind::integer, 4, 4);
  add(work.varying, FieldKind::varying, 40, 41);
  add(work.fixed_texts, FieldKind::fixed_text, 20, 20);
  const std::size_t row_bytes = offset;
  std::vector<std::byte> data(64);
  for (std::byte& one : data) one = static_cast<std::byte>(numbers.below(256));
  std::vector<StoredField> fields;
  for (std::uint64_t row = 0; row < work.rows; ++row) {
    interrupt.advance(templates.size());
    for (const Template& field : templates)
      fields.push_back({.data = data.data() + numbers.below(16),
                        .bytes = field.kind == FieldKind::integer
                                     ? 4
                                     : static_cast<std::uint32_t>(numbers.below(field.bytes + 1))});
  }
  std::vector<std::byte> out(work.rows * row_bytes);
  Cost cost;
  const std::uint64_t start = thread_cpu_ns();
  for (std::uint64_t pass = 0; pass < work.passes; ++pass) {
    store_rows(path, templates, fields, work.rows, out.data(), row_bytes);
    interrupt.advance(fields.size());
  }
  cost.cpu_ns = thread_cpu_ns() - start;
  cost.operations = work.passes * fields.size();
  for (const std::byte one : out) cost.checksum = cost.checksum * 31 + std::to_integer<std::uint64_t>(one);
  return cost;
}

Cost measure_insert(Container container, std::uint64_t rows, std::uint64_t columns, std::uint64_t passes) {
  if (passes == 0) refuse("passes is 0; at least 1 is measured");
  Cost cost;
  for (std::uint64_t pass = 0; pass < passes; ++pass) {
    const std::uint64_t start = thread_cpu_ns();
    const ParsedInsert parsed = parse_insert(container, rows, columns);
    cost.cpu_ns += thread_cpu_ns() - start;  // with the arena's end, as at the end of a statement
    cost.checksum = parsed.checksum;
  }
  cost.operations = passes * rows;
  return cost;
}

}  // namespace engineroom::low_concurrency
