// engineroom._native.filesort: sorting wide rows in the designs that a MySQL server has and had.
#include "filesort/filesort.hpp"

#include <map>
#include <tuple>

#include "bindings/arguments.hpp"
#include "bindings/arrays.hpp"

namespace engineroom::bindings {

namespace {

namespace fs = filesort;

using Where = std::optional<std::pair<std::int64_t, std::int64_t>>;

std::uint32_t small(std::int64_t value, std::int64_t least, std::int64_t most, const char* name) {
  if (value > most) {
    throw py::value_error(std::string(name) + " must be at most " + std::to_string(most) + ", got " +
                          std::to_string(value));
  }
  return static_cast<std::uint32_t>(at_least(value, least, name));
}

std::vector<fs::Column> columns_of(const std::vector<std::tuple<fs::Type, std::int64_t, bool>>& described) {
  std::vector<fs::Column> columns;
  for (const auto& [type, declared, is_nullable] : described) {
    columns.push_back({type, small(declared, 0, 65535, "declared_bytes"), is_nullable});
  }
  return columns;
}

std::map<std::string, std::uint64_t> as_map(const fs::Counters& c) {
  using C = fs::Counters;
  return counters_of_members<&C::rows_scanned, &C::rows_sorted, &C::rows_returned, &C::rows_fetched,
                             &C::pages_touched, &C::lob_reads, &C::bytes_copied, &C::heap_operations,
                             &C::comparisons, &C::runs, &C::merge_passes, &C::bytes_written, &C::bytes_read,
                             &C::record_bytes, &C::peak_sort_bytes, &C::is_priority_queue>(c);
}

fs::Query query_of(const std::vector<std::int64_t>& selected, std::int64_t order_by, const Where& where,
                   std::optional<std::int64_t> limit) {
  fs::Query query;
  for (const std::int64_t column : selected) query.selected.push_back(small(column, 0, 63, "selected"));
  query.order_by = small(order_by, 0, 63, "order_by");
  if (where) {
    query.where_column = small(where->first, 0, 63, "where");
    if (where->second < INT32_MIN || where->second > INT32_MAX) {
      throw py::value_error("where's bound must be a 32-bit integer, got " + std::to_string(where->second));
    }
    query.where_below = static_cast<std::int32_t>(where->second);
  }
  if (limit) query.limit = at_least(*limit, 0, "limit");
  return query;
}

struct PythonSorted {
  std::vector<std::vector<py::bytes>> rows;
  std::map<std::string, std::uint64_t> counters;
  bool is_read_set_restored;
};

constexpr const char* kSortDoc =
    R"(Sort the rows of a table and hand out the first `limit`, or all.

selected: columns handed out. order_by: the column sorted by, ascending. where: (column, bound), only rows whose integer is less.
storage: "file" for a real temporary file in `directory` (the system's own by default), or "memory".
output: "rows", or "count" for counters only.

Raises ValueError for a value out of range, OSError when a file cannot be made, written or read; Ctrl-C stops it.)";

constexpr const char* kChooseDoc =
    R"(What a release does with a statement: the two arguments of `sort` that it decides.

release: '5.6', '5.7', '8.0.15' (8.0 before 8.0.20) or '9.7' (everything since).)";

py::dict choose(const fs::Settings& settings, const fs::Table& table, fs::Release release,
                const std::vector<std::int64_t>& selected, std::int64_t order_by, const Where& where,
                std::optional<std::int64_t> limit) {
  const fs::Query query = query_of(selected, order_by, where, limit);
  fs::check_query(table, query);
  const fs::Design design = fs::choose(release, table, query, settings);
  return dict_of({{"attach", design.attach}, {"is_read_set_narrow", design.is_read_set_narrow}});
}

PythonSorted sort(const fs::Options& given, const fs::Table& table, const std::vector<std::int64_t>& selected,
                  std::int64_t order_by, const Where& where, std::optional<std::int64_t> limit,
                  StorageKind storage, const std::optional<std::string>& directory, OutputKind output) {
  const fs::Query query = query_of(selected, order_by, where, limit);
  fs::Options options = given;
  options.keep_values = output == OutputKind::rows;
  const std::unique_ptr<Storage> files = make_storage(storage, directory);
  fs::Handle handle(table);
  const fs::ColumnSet before = handle.read_set;
  const fs::Result result =
      without_gil([&] { return fs::filesort(handle, query, options, *files, stop_on_signal()); });
  PythonSorted sorted{
      .rows = {}, .counters = as_map(result.counters), .is_read_set_restored = handle.read_set == before};
  for (std::size_t i = 0; i < result.values.size(); ++i) {
    if (i % query.selected.size() == 0) sorted.rows.emplace_back();
    const std::vector<std::byte>& value = result.values[i];
    sorted.rows.back().emplace_back(reinterpret_cast<const char*>(value.data()), value.size());
  }
  return sorted;
}

}  // namespace

void bind_filesort(py::module_& module) {
  py::module_ m = module.def_submodule("filesort", "Sorting wide rows, by row ids or with their columns.");

  py::class_<fs::Table>(m, "Table",
                        "Pages of rows; values that do not fit half a page lie on pages of their own.")
      .def(py::init([](const std::vector<std::tuple<fs::Type, std::int64_t, bool>>& columns) {
             return fs::Table(columns_of(columns));
           }),
           "columns: (type, declared bytes, is nullable) each; type is 'integer', 'char', 'varchar', 'text', "
           "'mediumtext', 'longtext' or 'json'.",
           py::arg("columns"))
      .def(
          "append",
          [](fs::Table& table, const std::vector<std::string>& values) {
            std::vector<std::span<const std::byte>> row;
            row.reserve(values.size());
            for (const std::string& value : values) row.push_back(std::as_bytes(std::span(value)));
            table.append(row);
          },
          "Append a row: the bytes of each column, an integer as four, little end first.", py::arg("values"))
      .def(
          "value",
          [](const fs::Table& table, std::int64_t row, std::int64_t column) {
            const auto r = small(row, 0, static_cast<std::int64_t>(table.rows()) - 1, "row");
            const auto c = small(column, 0, static_cast<std::int64_t>(table.columns().size()) - 1, "column");
            const auto bytes = table.value(r, c);
            return py::bytes(reinterpret_cast<const char*>(bytes.data()), bytes.size());
          },
          "The stored bytes of a column of a row, read without any counter.", py::arg("row"),
          py::arg("column"))
      .def(
          "is_off_page",
          [](const fs::Table& table, std::int64_t row, std::int64_t column) {
            const auto r = small(row, 0, static_cast<std::int64_t>(table.rows()) - 1, "row");
            const auto c = small(column, 0, static_cast<std::int64_t>(table.columns().size()) - 1, "column");
            return table.is_off_page(r, c);
          },
          "Whether this value lies on pages of its own.", py::arg("row"), py::arg("column"))
      .def_property_readonly("rows", &fs::Table::rows, "How many rows.")
      .def_property_readonly(
          "columns", [](const fs::Table& table) { return table.columns().size(); }, "How many columns.")
      .def_property_readonly("leaf_pages", &fs::Table::leaf_pages,
                             "Pages that a scan reads, without off-page ones.")
      .def_property_readonly("height", &fs::Table::height, "Pages from the root to a row.");

  m.def(
      "article_table",
      [](std::int64_t rows, std::int64_t lob_bytes, fs::Type lob_type, std::int64_t declared_bytes,
         std::int64_t seed) {
        const auto n = small(rows, 0, 10'000'000, "rows");
        const auto bytes = small(lob_bytes, 0, 16'000'000, "lob_bytes");
        const auto declared = small(declared_bytes, 0, 65535, "declared_bytes");
        const std::uint64_t drawn_by = at_least(seed, 0, "seed");
        const py::gil_scoped_release unlocked;
        return fs::article_table(n, bytes, lob_type, declared, drawn_by, stop_on_signal());
      },
      "The source's table: id, sort key (a permutation of the row numbers), a filter of 0 to 99, char(255), "
      "long value.",
      py::kw_only(), py::arg("rows"), py::arg("lob_bytes") = 8192, py::arg("lob_type") = fs::Type::varchar,
      py::arg("declared_bytes") = 8192, py::arg("seed") = 1);

  m.def(
      "scan",
      [](const fs::Table& table, const std::vector<std::int64_t>& columns) {
        fs::Handle handle(table);
        fs::ColumnSet set;
        for (const std::int64_t column : columns) {
          set.add(small(column, 0, static_cast<std::int64_t>(table.columns().size()) - 1, "columns"));
        }
        handle.read_set = set;
        const py::gil_scoped_release unlocked;
        return as_map(fs::scan(handle));
      },
      "Read every row's columns and do nothing with them; returns the counters.", py::arg("table"),
      py::arg("columns"));

  def_with_options(m, "choose", &choose, kChooseDoc, py::arg("table"), py::kw_only(), py::arg("release"),
                   py::arg("selected"), py::arg("order_by") = fs::kKey, py::arg("where") = py::none(),
                   py::arg("limit") = py::none());

  m.def(
      "uses_priority_queue",
      [](std::int64_t rows, std::int64_t limit, std::int64_t record_bytes, std::int64_t sort_buffer_bytes) {
        return fs::uses_priority_queue(at_least(rows, 0, "rows"), at_least(limit, 0, "limit"),
                                       at_least(record_bytes, 1, "record_bytes"),
                                       at_least(sort_buffer_bytes, 1, "sort_buffer_bytes"));
      },
      "Whether LIMIT keeps the best rows in a heap instead of sorting all of them.", py::kw_only(),
      py::arg("rows"), py::arg("limit"), py::arg("record_bytes"), py::arg("sort_buffer_bytes") = 262144);

  py::class_<PythonSorted>(m, "Sorted", "What a sort handed out and what it counted.")
      .def_readonly("rows", &PythonSorted::rows, "The selected columns of each row, as bytes.")
      .def_readonly("counters", &PythonSorted::counters)
      .def_readonly("is_read_set_restored", &PythonSorted::is_read_set_restored,
                    "Whether the table's read set is again what it was before.");

  def_with_options(m, "sort", &sort, kSortDoc, py::arg("table"), py::kw_only(), py::arg("selected"),
                   py::arg("order_by") = fs::kKey, py::arg("where") = py::none(),
                   py::arg("limit") = py::none(), py::arg("storage") = StorageKind::file,
                   py::arg("directory") = py::none(), py::arg("output") = OutputKind::rows);
}

}  // namespace engineroom::bindings
