// engineroom._native.binlog: row events written and read.
#include <pybind11/functional.h>
#include <pybind11/typing.h>

#include <deque>

#include "bindings/arguments.hpp"
#include "bindings/arrays.hpp"
#include "binlog/examples.hpp"
#include "binlog/json.hpp"
#include "binlog/rows_text.hpp"
#include "binlog/sizes.hpp"

namespace engineroom::bindings {

namespace {

namespace bl = binlog;

bl::Span span_of(const py::bytes& bytes) {
  const std::string_view view(bytes);
  return {reinterpret_cast<const std::uint8_t*>(view.data()), view.size()};
}

py::bytes bytes_of(bl::Span span) { return {reinterpret_cast<const char*>(span.data()), span.size()}; }

/// The server takes 100 and json_binary says so; a document that holds itself must not end the stack before.
constexpr std::size_t kDeepestGiven = 200;

bl::Json json_of(const py::handle& given, std::size_t depth = 0) {
  if (depth > kDeepestGiven) throw py::value_error("a JSON document is at most 100 deep; this one is deeper");
  if (given.is_none()) return {};
  if (py::isinstance<py::bool_>(given)) return {given.cast<bool>()};
  if (py::isinstance<py::int_>(given)) {
    int overflow = 0;
    const long long value = PyLong_AsLongLongAndOverflow(given.ptr(), &overflow);
    // The server's parser takes a number above 32 bits for an unsigned one.
    if (overflow == 0 && value <= 0xFFFFFFFFLL) return {std::int64_t{value}};
    return {given.cast<std::uint64_t>()};
  }
  if (py::isinstance<py::float_>(given)) return {given.cast<double>()};
  if (py::isinstance<py::str>(given)) return {given.cast<std::string>()};
  if (py::isinstance<py::list>(given)) {
    bl::Json::Array all;
    for (const py::handle one : given) all.push_back(json_of(one, depth + 1));
    return {std::move(all)};
  }
  if (py::isinstance<py::dict>(given)) {
    bl::Json::Object all;
    for (const auto& [key, value] : given.cast<py::dict>())
      all.push_back({key.cast<std::string>(), json_of(value, depth + 1)});
    return {std::move(all)};
  }
  throw py::value_error("a JSON document is made of dict, list, str, int, float, bool and None, got " +
                        std::string(py::str(py::type::of(given))));
}

/// What `make` makes of a Python object, which it takes apart as if it fitted. Raises ValueError where it does not.
template <typename What, typename Make>
auto or_refused(const py::handle& given, What what, Make make) {
  try {
    return make();
  } catch (const py::cast_error&) {
  } catch (const py::error_already_set& error) {
    if (!error.matches(PyExc_AttributeError) && !error.matches(PyExc_UnicodeEncodeError)) throw;
  }
  throw py::value_error(what() + " cannot hold " + std::string(py::repr(given)));
}

std::uint32_t attribute(const py::handle& of, const char* name) {
  return of.attr(name).cast<std::uint32_t>();
}

bl::Value whole_value_of(const bl::Column& column, const py::handle& given, std::deque<std::string>& kept) {
  const auto text = [&](std::string bytes) {
    return bl::Value(std::string_view(kept.emplace_back(std::move(bytes))));
  };
  if (given.is_none() && column.type != bl::Type::json) return {};
  switch (column.type) {
    case bl::Type::json:
      // SQL's NULL is None, JSON's null is in a document of bytes.
      if (given.is_none()) return {};
      return text(py::isinstance<py::bytes>(given) ? given.cast<std::string>()
                                                   : bl::json_binary(json_of(given)));
    case bl::Type::decimal:
      return text(py::str(given));
    case bl::Type::time: {
      const std::int64_t days = given.attr("days").cast<std::int64_t>();
      const std::int64_t us = (days * 86'400 + given.attr("seconds").cast<std::int64_t>()) * 1'000'000 +
                              given.attr("microseconds").cast<std::int64_t>();
      const auto size = static_cast<std::uint64_t>(us < 0 ? -us : us);
      const std::uint64_t seconds = size / 1'000'000;
      return bl::Moment{.is_negative = us < 0,
                        .hour = static_cast<std::uint32_t>(seconds / 3600),
                        .minute = static_cast<std::uint32_t>(seconds / 60 % 60),
                        .second = static_cast<std::uint32_t>(seconds % 60),
                        .microsecond = static_cast<std::uint32_t>(size % 1'000'000)};
    }
    case bl::Type::date:
    case bl::Type::datetime:
    case bl::Type::timestamp: {
      bl::Moment moment{.year = attribute(given, "year"),
                        .month = attribute(given, "month"),
                        .day = attribute(given, "day")};
      if (py::hasattr(given, "hour")) {
        moment.hour = attribute(given, "hour");
        moment.minute = attribute(given, "minute");
        moment.second = attribute(given, "second");
        moment.microsecond = attribute(given, "microsecond");
      }
      return moment;
    }
    default:
      break;
  }
  if (py::isinstance<py::bytes>(given) || py::isinstance<py::str>(given))
    return text(given.cast<std::string>());
  if (py::isinstance<py::float_>(given)) return given.cast<double>();
  if (py::isinstance<py::int_>(given)) {
    int overflow = 0;
    const long long value = PyLong_AsLongLongAndOverflow(given.ptr(), &overflow);
    if (overflow == 0) return std::int64_t{value};
    return given.cast<std::uint64_t>();
  }
  throw py::value_error("a value of a row is None, int, float, str, bytes, Decimal, or of datetime, got " +
                        std::string(py::str(py::type::of(given))));
}

/// A Python value for a column; bytes that it needs live in `kept`.
bl::Value value_of(const bl::Column& column, const py::handle& given, std::deque<std::string>& kept) {
  return or_refused(
      given, [&] { return "a column of type " + bl::describe(column); },
      [&] { return whole_value_of(column, given, kept); });
}

bl::Columns columns_in(const std::vector<std::size_t>& some, std::size_t n, const char* what) {
  bl::Columns in(n);
  for (const std::size_t i : some) {
    if (i >= n)
      throw py::value_error(std::string(what) + " has column " + std::to_string(i) +
                            "; the table's are 0 to " + std::to_string(n - 1));
    in.add(i);
  }
  return in;
}

/// A table with its primary key, shared by its statements.
struct KeyedTable {
  bl::Table table;
  bl::Columns key;
  std::vector<std::uint8_t> map;  // the body of its table map
};

std::shared_ptr<KeyedTable> make_table(std::string database, std::string name,
                                       const std::vector<std::string>& columns,
                                       const std::vector<std::size_t>& key, std::int64_t id) {
  auto shared = std::make_shared<KeyedTable>();
  KeyedTable& made = *shared;
  made.table = {
      .id = at_least(id, 0, "id"), .database = std::move(database), .name = std::move(name), .columns = {}};
  if (made.table.database.size() > 255 || made.table.name.size() > 255)
    throw py::value_error("names of a database and a table have at most 255 bytes");
  if (columns.empty()) throw py::value_error("a table has at least one column");
  for (const std::string& column : columns) made.table.columns.push_back(bl::declared(column));
  made.key = columns_in(key, columns.size(), "key");
  for (const std::size_t i : key) made.table.columns[i].is_nullable = false;
  made.map = bl::table_map_body(made.table);
  return shared;
}

/// What one statement did to one table, ready to be written.
struct Statement {
  std::shared_ptr<const KeyedTable> of;
  bl::RowChange change;
  bl::Images images;
  bl::PackedRows before;
  bl::PackedRows after;
  std::uint16_t flags = 0;
  std::optional<bl::Partitions> partitions;
};

using PyRow = std::vector<py::object>;

std::unique_ptr<Statement> make_statement(const std::shared_ptr<KeyedTable>& keyed, bl::RowChange change,
                                          const std::optional<std::vector<PyRow>>& before,
                                          const std::optional<std::vector<PyRow>>& after, bl::RowImage image,
                                          const std::optional<std::vector<std::size_t>>& written,
                                          std::uint16_t flags,
                                          std::optional<std::pair<std::uint16_t, std::uint16_t>> partitions) {
  const KeyedTable& of = *keyed;
  const std::size_t n = of.table.columns.size();
  if (before.has_value() != (change != bl::RowChange::insert) ||
      after.has_value() != (change != bl::RowChange::remove))
    throw py::value_error("an insert has rows after, a delete rows before, an update both");
  if (before && after && before->size() != after->size())
    throw py::value_error("an update has as many rows before as after, got " +
                          std::to_string(before->size()) + " and " + std::to_string(after->size()));
  auto made = std::make_unique<Statement>();
  made->of = keyed;
  made->change = change;
  made->flags = flags;
  if (partitions) made->partitions = bl::Partitions{.to = partitions->first, .from = partitions->second};
  made->images = bl::images(image, change, of.table.columns, of.key,
                            written ? columns_in(*written, n, "written") : bl::all_columns(n));
  std::vector<bl::Value> values;
  const auto pack = [&](const std::optional<std::vector<PyRow>>& given, bl::PackedRows& rows) {
    if (!given) return;
    for (const PyRow& row : *given) {
      if (row.size() != n)
        throw py::value_error("a row of " + of.table.name + " has " + std::to_string(n) + " values, got " +
                              std::to_string(row.size()));
      values.clear();
      std::deque<std::string> kept;
      for (std::size_t i = 0; i < n; ++i) values.push_back(value_of(of.table.columns[i], row[i], kept));
      rows.add(of.table.columns, values);
    }
  };
  pack(before, made->before);
  pack(after, made->after);
  return made;
}

using Transactions = std::vector<std::vector<const Statement*>>;

/// A transaction's events as a server hands them to zstd.
void write_transaction(bl::Writer& writer, const std::vector<const Statement*>& statements,
                       std::uint64_t xid) {
  writer.begin({});
  for (const Statement* one : statements) {
    writer.table_map(one->of->map);
    writer.rows(one->of->table, one->change, one->images, one->before, one->after, one->flags,
                one->partitions);
  }
  writer.xid(xid);
}

/// Each transaction's events behind each other, and the bytes of each.
py::typing::Tuple<py::bytes, py::array_t<std::uint64_t>> payloads(const Transactions& transactions) {
  bl::Buffer out;
  std::vector<std::uint64_t> sizes;
  {
    const py::gil_scoped_release unlocked;
    bl::Writer writer(out, 0, false);
    for (const auto& statements : transactions) {
      const std::size_t begin = out.size();
      write_transaction(writer, statements, sizes.size() + 1);
      sizes.push_back(out.size() - begin);
    }
  }
  return py::make_tuple(bytes_of(out.span()), to_array(std::move(sizes)));
}

/// Writes all transactions so many times, each into the same buffer; the bytes of one time.
std::uint64_t encode(const Transactions& transactions, std::int64_t times) {
  at_least(times, 1, "times");
  const py::gil_scoped_release unlocked;
  bl::Buffer cache;
  bl::Writer writer(cache, 0, false);
  std::uint64_t bytes = 0;
  for (std::int64_t i = 0; i < times; ++i) {
    bytes = 0;
    for (const auto& statements : transactions) {
      cache.clear();
      write_transaction(writer, statements, 1);
      bytes += cache.size();
    }
  }
  return bytes;
}

std::array<std::uint8_t, 16> uuid_of(const py::bytes& given) {
  const bl::Span bytes = span_of(given);
  if (bytes.size() != 16) throw py::value_error("a UUID has 16 bytes, got " + std::to_string(bytes.size()));
  std::array<std::uint8_t, 16> uuid;
  std::copy(bytes.begin(), bytes.end(), uuid.begin());
  return uuid;
}

/// The writer with the bytes that it has written.
class Events {
 public:
  Events(std::int64_t position, bool checksums, std::int64_t server_id, std::int64_t timestamp)
      : writer(out, at_least(position, 0, "position"), checksums) {
    writer.server_id = static_cast<std::uint32_t>(at_least(server_id, 0, "server_id"));
    writer.timestamp = static_cast<std::uint32_t>(at_least(timestamp, 0, "timestamp"));
  }
  bl::Buffer out;
  bl::Writer writer;
};

bl::Session session_of(std::uint32_t thread_id, std::uint32_t seconds, std::string database,
                       std::uint32_t options, std::uint64_t sql_mode,
                       std::pair<std::uint16_t, std::uint16_t> auto_increment,
                       std::array<std::uint16_t, 4> collations, std::string time_zone,
                       std::uint64_t tables_for_update) {
  if (database.size() > 255 || time_zone.size() > 255) throw py::value_error("a name has at most 255 bytes");
  return {.thread_id = thread_id,
          .seconds = seconds,
          .database = std::move(database),
          .options = options,
          .sql_mode = sql_mode,
          .auto_increment_increment = auto_increment.first,
          .auto_increment_offset = auto_increment.second,
          .client_collation = collations[0],
          .connection_collation = collations[1],
          .server_collation = collations[2],
          .utf8mb4_collation = collations[3],
          .time_zone = std::move(time_zone),
          .tables_for_update = tables_for_update};
}

/// Calls Python's inflate(bytes), which gives pieces of bytes and raises ValueError where it cannot.
bl::Inflate inflate_by(py::function inflate) {
  return [inflate = std::move(inflate)](bl::Span compressed, const std::function<void(bl::Span)>& take) {
    const py::gil_scoped_acquire locked;
    try {
      for (const py::handle piece : inflate(bytes_of(compressed))) take(span_of(piece.cast<py::bytes>()));
    } catch (const py::error_already_set& error) {
      if (!error.matches(PyExc_ValueError)) throw;
      return std::string(py::str(error.value()));
    }
    return std::string();
  };
}

/// The rows of a file as lines of JSON, for Python.
class RowLines {
 public:
  RowLines(std::int64_t file_bytes, py::function inflate, std::string file)
      : text_(std::move(file)),
        reader_(
            at_least(file_bytes, 0, "file_bytes"),
            [this](const bl::Event& event) {
              if (!event.is_inner) {
                bl::Count& count = in_file_[event.type];
                ++count.events;
                count.bytes += event.bytes;
              }
              text_.add(event, lines_);
            },
            inflate_by(std::move(inflate))) {}

  py::bytes feed(const py::bytes& bytes) {
    lines_.clear();
    {
      const bl::Span span = span_of(bytes);
      const py::gil_scoped_release unlocked;
      reader_.feed(span);
    }
    return {lines_};
  }
  void end() { reader_.end(); }
  const bl::Reader& reader() const { return reader_; }
  const std::map<std::uint8_t, bl::Count>& in_file() const { return in_file_; }

 private:
  std::map<std::uint8_t, bl::Count> in_file_;
  std::string lines_;
  bl::RowsText text_;
  bl::Reader reader_;
};

/// The sizes of a file, for Python.
class FileSizes {
 public:
  FileSizes(std::int64_t file_bytes, py::function inflate, bl::Sizes::Keys keys,
            std::optional<py::function> take)
      : sizes_(std::move(keys), units_to(std::move(take))),
        reader_(
            at_least(file_bytes, 0, "file_bytes"), [this](const bl::Event& event) { sizes_.add(event); },
            inflate_by(std::move(inflate))) {}

  void feed(const py::bytes& bytes) {
    const bl::Span span = span_of(bytes);
    const py::gil_scoped_release unlocked;
    reader_.feed(span);
  }
  void end() {
    reader_.end();
    sizes_.end();
  }
  const bl::Reader& reader() const { return reader_; }
  const bl::Sizes& sizes() const { return sizes_; }

 private:
  static bl::Sizes::Take units_to(std::optional<py::function> take) {
    if (!take) return {};
    return [take = std::move(*take)](const bl::Units& units) {
      const py::gil_scoped_acquire locked;
      std::vector<std::uint64_t> full;
      std::vector<std::uint64_t> minimal;
      std::vector<std::uint64_t> events;
      std::vector<std::uint64_t> minimal_events;
      std::vector<std::uint64_t> gtid;
      for (const bl::Units::Unit& unit : units.units) {
        full.push_back(unit.full_bytes);
        minimal.push_back(unit.minimal_bytes);
        events.push_back(unit.events);
        minimal_events.push_back(unit.minimal_events);
        gtid.push_back(unit.gtid_bytes);
      }
      take(py::arg("full") = bytes_of(units.full.span()), py::arg("full_sizes") = to_array(std::move(full)),
           py::arg("minimal") = bytes_of(units.minimal.span()),
           py::arg("minimal_sizes") = to_array(std::move(minimal)),
           py::arg("events") = to_array(std::move(events)),
           py::arg("minimal_events") = to_array(std::move(minimal_events)),
           py::arg("gtids") = to_array(std::move(gtid)));
    };
  }
  bl::Sizes sizes_;
  bl::Reader reader_;
};

using Counts = std::map<int, std::pair<std::uint64_t, std::uint64_t>>;

Counts counts_of(const std::map<std::uint8_t, bl::Count>& of) {
  Counts all;
  for (const auto& [type, count] : of) all[type] = {count.events, count.bytes};
  return all;
}

py::dict table_dict(const bl::TableSizes& of) {
  py::dict all = dict_of({{"table", of.name},
                          {"key", of.key},
                          {"key_from", std::string(names::of(of.key_from))},
                          {"map_events", of.maps.events},
                          {"map_bytes", of.maps.bytes}});
  py::dict changes;
  for (const bl::RowChange change : {bl::RowChange::insert, bl::RowChange::update, bl::RowChange::remove}) {
    const bl::ChangeSizes& sizes = of.changes[static_cast<std::size_t>(change)];
    if (sizes.events == 0) continue;
    py::dict one = dict_of({{"events", sizes.events},
                            {"rows", sizes.rows},
                            {"bytes", sizes.bytes},
                            {"minimal_bytes", sizes.minimal_bytes}});
    changes[py::str(std::string(names::of(change)))] = one;
  }
  all["changes"] = changes;
  py::list columns;
  for (std::size_t i = 0; i < of.columns.size(); ++i) {
    columns.append(dict_of({{"column", of.columns[i]},
                            {"type", of.types[i]},
                            {"before_bytes", of.of_columns[i].before_bytes},
                            {"after_bytes", of.of_columns[i].after_bytes},
                            {"unchanged_bytes", of.of_columns[i].unchanged_bytes}}));
  }
  all["columns"] = columns;
  return all;
}

py::list transactions_of(const std::vector<bl::Transaction>& of) {
  py::list all;
  for (const bl::Transaction& one : of) {
    all.append(dict_of({{"gtid", one.gtid},
                        {"position", one.position},
                        {"bytes", one.bytes},
                        {"rows", one.rows},
                        {"begin_s", std::uint64_t{one.begin_s}},
                        {"seconds", one.seconds}}));
  }
  return all;
}

constexpr const char* kSizesDoc = R"(Where the bytes of a file go; fed piece by piece.

inflate: gives the pieces of a zstd frame, or of what MariaDB compresses by zlib, and raises ValueError where it cannot. keys: columns of primary keys by "database.table", from 0. take: called with the
transactions that the server would compress, some at a time: full, their bytes behind each other; full_sizes, of each; minimal and
minimal_sizes, the same with minimal row images; events and minimal_events, of each; gtids, the bytes of its GTID event without the transaction's packed
length (0 where it has none). Raises Damaged.)";

constexpr const char* kTableDoc = R"doc(A table as the binary log knows it.

columns: their declarations, such as "int unsigned not null", "varchar(50)", "decimal(20,7)", "char(5) character set latin1" or
"enum('a','b')". key: the columns of its primary key, from 0. id: its number on the server.

Raises ValueError with a declaration that it does not know.)doc";

constexpr const char* kStatementDoc = R"(What one statement did to the rows of one table.

change: "insert" (rows after), "delete" (rows before) or "update" (both). A row has a value per column: None, int (also for BIT,
YEAR, an ENUM's member from 1, a SET's bits), float, str or bytes, Decimal, date, datetime (a TIMESTAMP in UTC), timedelta for TIME;
a JSON document as dict, list, str and so on. image: "full", "minimal" or "noblob"; written: the columns that the statement
names, all by default. partitions: to and from.

Raises ValueError for a value that its column cannot hold.)";

constexpr const char* kWriterDoc = R"(Writes events behind each other, as a server of 9.7 does.

position: of the next event in its file; 0 for events of a payload, which have no positions. checksums: CRC32 behind each.)";

}  // namespace

void bind_binlog(py::module_& module) {
  py::module_ m =
      module.def_submodule("binlog", "Events of the binary log: written as a server writes them, and read.");
  py::register_exception<bl::Damaged>(m, "Damaged", PyExc_ValueError).doc() =
      "The bytes are not a binary log's; the text begins with the position.";

  py::class_<KeyedTable, std::shared_ptr<KeyedTable>>(m, "Table", kTableDoc)
      .def(py::init(&make_table), py::arg("database"), py::arg("name"), py::arg("columns"), py::kw_only(),
           py::arg("key") = std::vector<std::size_t>{}, py::arg("id") = 1)
      .def_property_readonly(
          "columns",
          [](const KeyedTable& of) {
            std::vector<std::string> all;
            for (const bl::Column& column : of.table.columns) all.push_back(bl::describe(column));
            return all;
          },
          "Its columns as far as a log tells.");
  py::class_<Statement>(m, "Statement", kStatementDoc)
      .def(py::init(&make_statement), py::arg("table"), py::arg("change"), py::kw_only(),
           py::arg("before") = py::none(), py::arg("after") = py::none(),
           py::arg("image") = bl::RowImage::full, py::arg("written") = py::none(), py::arg("flags") = 0,
           py::arg("partitions") = py::none());

  py::class_<Events>(m, "Writer", kWriterDoc)
      .def(py::init<std::int64_t, bool, std::int64_t, std::int64_t>(), py::kw_only(), py::arg("position") = 0,
           py::arg("checksums") = false, py::arg("server_id") = 1, py::arg("timestamp") = 0)
      .def_property(
          "timestamp", [](const Events& events) { return events.writer.timestamp; },
          [](Events& events, std::uint32_t value) { events.writer.timestamp = value; },
          "Seconds since 1970, of the next events.")
      .def_property_readonly(
          "position", [](const Events& events) { return events.writer.position(); }, "Of the next event.")
      .def(
          "format_description",
          [](Events& events, const std::string& version, std::uint32_t created, std::uint16_t flags) {
            events.writer.format_description(version, created, flags);
          },
          "The first event of a file.", py::arg("server_version"), py::kw_only(), py::arg("created") = 0,
          py::arg("flags") = 0)
      .def(
          "previous_gtids",
          [](Events& events, const std::vector<std::tuple<py::bytes, std::int64_t, std::int64_t>>& given) {
            std::vector<bl::GtidInterval> all;
            for (const auto& [uuid, first, last] : given) all.push_back({uuid_of(uuid), first, last});
            events.writer.previous_gtids(all);
          },
          "What was executed before this file: UUID, first and last number of each interval.",
          py::arg("intervals"))
      .def(
          "gtid",
          [](Events& events, const py::bytes& uuid, std::int64_t number, std::int64_t last_committed,
             std::int64_t sequence_number, std::uint64_t commit_us, std::uint64_t transaction_bytes,
             std::uint32_t server_version, bool may_have_statements) {
            events.writer.gtid({.uuid = uuid_of(uuid),
                                .number = number,
                                .last_committed = last_committed,
                                .sequence_number = sequence_number,
                                .commit_us = commit_us,
                                .original_commit_us = commit_us,
                                .transaction_bytes = transaction_bytes,
                                .server_version = server_version,
                                .may_have_statements = may_have_statements});
          },
          "A transaction's identifier; anonymous with number 0.", py::kw_only(), py::arg("uuid"),
          py::arg("number"), py::arg("last_committed"), py::arg("sequence_number"), py::arg("commit_us"),
          py::arg("transaction_bytes"), py::arg("server_version"), py::arg("may_have_statements") = false)
      .def(
          "begin",
          [](Events& events, std::uint32_t thread_id, std::uint32_t seconds, std::string database,
             std::uint32_t options, std::uint64_t sql_mode,
             std::pair<std::uint16_t, std::uint16_t> auto_increment, std::array<std::uint16_t, 4> collations,
             std::string time_zone, std::uint64_t tables_for_update) {
            events.writer.begin(session_of(thread_id, seconds, std::move(database), options, sql_mode,
                                           auto_increment, collations, std::move(time_zone),
                                           tables_for_update));
          },
          "BEGIN. seconds: that the first statement had taken. collations: of client, connection and server, "
          "and utf8mb4's default. time_zone: if the statement used it.",
          py::kw_only(), py::arg("thread_id") = 0, py::arg("seconds") = 0, py::arg("database") = "",
          py::arg("options") = 0, py::arg("sql_mode") = 0,
          py::arg("auto_increment") = std::pair<std::uint16_t, std::uint16_t>{1, 1},
          py::arg("collations") = std::array<std::uint16_t, 4>{255, 255, 255, 255}, py::arg("time_zone") = "",
          py::arg("tables_for_update") = 0)
      .def(
          "table_map", [](Events& events, const KeyedTable& of) { events.writer.table_map(of.map); },
          "What the rows behind it are rows of.", py::arg("table"))
      .def(
          "rows",
          [](Events& events, const Statement& of, std::size_t most_bytes) {
            events.writer.rows(of.of->table, of.change, of.images, of.before, of.after, of.flags,
                               of.partitions, most_bytes);
          },
          "A statement's rows, in events of at most `most_bytes` (binlog_row_event_max_size) where that is "
          "more than one row.",
          py::arg("statement"), py::kw_only(), py::arg("most_bytes") = 8192)
      .def(
          "xid", [](Events& events, std::uint64_t number) { events.writer.xid(number); },
          "The commit of a transaction.", py::arg("number"))
      .def(
          "rotate",
          [](Events& events, const std::string& file, std::uint64_t position) {
            events.writer.rotate(file, position);
          },
          "The name of the next file.", py::arg("next_file"), py::kw_only(), py::arg("next_position") = 4)
      .def(
          "payload",
          [](Events& events, const py::bytes& compressed, std::uint64_t uncompressed_bytes) {
            events.writer.payload(span_of(compressed), uncompressed_bytes);
          },
          "A transaction that zstd has compressed.", py::arg("compressed"), py::kw_only(),
          py::arg("uncompressed_bytes"))
      .def(
          "take",
          [](Events& events) {
            py::bytes all = bytes_of(events.out.span());
            events.out.clear();
            return all;
          },
          "What was written since the last take.");

  py::class_<RowLines>(m, "RowLines",
                       "All rows of a file as lines of JSON; fed piece by piece. Raises Damaged.")
      .def(py::init<std::int64_t, py::function, std::string>(), py::kw_only(), py::arg("file_bytes"),
           py::arg("inflate"), py::arg("file") = "")
      .def("feed", &RowLines::feed, "The lines of the events that are whole with these bytes.",
           py::arg("data"))
      .def("end", &RowLines::end, "The file ends; raises Damaged if it ends inside an event.")
      .def_property_readonly(
          "server_version", [](const RowLines& of) { return of.reader().format().server_version; },
          "Of the server that wrote the file.")
      .def_property_readonly(
          "in_file", [](const RowLines& of) { return counts_of(of.in_file()); },
          "Events and bytes by type, as the file has them.");
  py::class_<FileSizes>(m, "Sizes", kSizesDoc)
      .def(py::init<std::int64_t, py::function, bl::Sizes::Keys, std::optional<py::function>>(),
           py::kw_only(), py::arg("file_bytes"), py::arg("inflate"), py::arg("keys") = bl::Sizes::Keys{},
           py::arg("take") = py::none())
      .def("feed", &FileSizes::feed, "The next bytes of the file.", py::arg("data"))
      .def("end", &FileSizes::end,
           "The file ends; hands over what is left. Raises Damaged if it ends inside an event.")
      .def_property_readonly(
          "server_version", [](const FileSizes& of) { return of.reader().format().server_version; },
          "Of the server that wrote the file.")
      .def_property_readonly(
          "checksums", [](const FileSizes& of) { return of.reader().format().has_checksums; },
          "Whether its events have them.")
      .def_property_readonly(
          "position", [](const FileSizes& of) { return of.reader().position(); },
          "Behind the last whole event.")
      .def_property_readonly(
          "in_file", [](const FileSizes& of) { return counts_of(of.sizes().in_file()); },
          "Events and bytes by type, as the file has them.")
      .def_property_readonly(
          "uncompressed", [](const FileSizes& of) { return counts_of(of.sizes().uncompressed()); },
          "The same, as if nothing were compressed.")
      .def_property_readonly(
          "transactions", [](const FileSizes& of) { return of.sizes().transactions(); },
          "How many, from BEGIN to commit.")
      .def_property_readonly(
          "largest", [](const FileSizes& of) { return transactions_of(of.sizes().largest()); },
          "The transactions with the most bytes, the most first.")
      .def_property_readonly(
          "longest", [](const FileSizes& of) { return transactions_of(of.sizes().longest()); },
          "Those that took the most seconds.")
      .def_property_readonly(
          "minutes",
          [](const FileSizes& of) {
            std::map<std::uint32_t, std::pair<std::uint64_t, std::uint64_t>> all;
            for (const auto& [minute, in] : of.sizes().minutes()) all[minute] = {in.bytes, in.transactions};
            return all;
          },
          "Bytes and transactions by the minute, since 1970 in UTC, in which they were committed.")
      .def_property_readonly(
          "unit_bytes", [](const FileSizes& of) { return of.sizes().unit_bytes(); },
          "Uncompressed bytes of the transactions that the server would compress, without GTID events.")
      .def_property_readonly(
          "saved_outside", [](const FileSizes& of) { return of.sizes().saved_outside(); },
          "What minimal images save in all others.")
      .def_property_readonly(
          "packed_length_bytes", [](const FileSizes& of) { return of.sizes().packed_length_bytes(); },
          "Bytes of the packed lengths in the GTID events of those transactions.")
      .def(
          "tables",
          [](const FileSizes& of) {
            py::list all;
            for (const bl::TableSizes* table : of.sizes().tables()) all.append(table_dict(*table));
            return all;
          },
          "A dict per table: rows, events and bytes by change, bytes by column.");
  m.def("payloads", &payloads,
        "The events of transactions, each a list of statements, as a server compresses them: all bytes, and "
        "how many each has.",
        py::arg("transactions"));
  m.def("encode", &encode,
        "Writes transactions so many times, each into the same buffer, as a server's session does into its "
        "cache, and gives the bytes of one time. For measuring: nothing is handed over.",
        py::arg("transactions"), py::kw_only(), py::arg("times") = 1);
  m.def(
      "example",
      [](bl::Example kind, bl::RowImage image, std::int64_t nth, bool checksums) {
        bl::Buffer out;
        bl::Writer writer(out, checksums ? bl::kFirstEvent : 0, checksums);
        bl::put_example(writer, kind, image, at_least(nth, 0, "nth"));
        return bytes_of(out.span());
      },
      "The events of the nth transaction of a kind, behind its GTID event: as they stand in a file, or as "
      "zstd is given them.",
      py::arg("kind"), py::kw_only(), py::arg("image") = bl::RowImage::full, py::arg("nth") = 0,
      py::arg("checksums") = false);
  m.def(
      "json_binary",
      [](const py::object& document) {
        return or_refused(
            document, [] { return std::string("a JSON document"); },
            [&] { return py::bytes(bl::json_binary(json_of(document))); });
      },
      "A document as a JSON column stores it.", py::arg("document"));
  m.def(
      "json_text", [](const py::bytes& document) { return bl::json_text(span_of(document), 0); },
      "The text of a stored document. Raises Damaged.", py::arg("document"));
  m.def(
      "crc32", [](const py::bytes& bytes) { return bl::crc32(span_of(bytes)); }, "The checksum of events.",
      py::arg("data"));
}

}  // namespace engineroom::bindings
