#include "binlog/examples.hpp"

#include <array>
#include <deque>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

#include "binlog/json.hpp"
#include "machine/random.hpp"

namespace engineroom::binlog {

namespace {

using Row = std::vector<Value>;
using Rows = std::vector<Row>;

constexpr std::uint16_t kForeignKeysBySql = 0x10;  // a flag of rows that 9.7 sets
constexpr int kRowsPerInsert = 100;
constexpr Moment kNow{.year = 2024, .month = 2, .day = 1, .hour = 12};

/// A table with its primary key, and what its table map says.
struct Declared {
  Table table;
  Columns key;
  std::vector<std::uint8_t> map;

  Declared(std::uint64_t id, std::string database, std::string name, const std::vector<std::string>& columns,
           const std::vector<std::size_t>& of_key)
      : table{.id = id, .database = std::move(database), .name = std::move(name), .columns = {}},
        key(columns.size()) {
    for (const std::string& column : columns) table.columns.push_back(declared(column));
    for (const std::size_t i : of_key) key.add(i);
    map = table_map_body(table);
  }
};

std::string number() { return "int not null"; }
std::string chars(int n) { return "char(" + std::to_string(n) + ") character set latin1 not null"; }
std::string varchar(int n) { return "varchar(" + std::to_string(n) + ") character set latin1 not null"; }
std::string money(int digits) { return "decimal(" + std::to_string(digits) + ",2) not null"; }
const char* const kTax = "decimal(4,4) not null";

std::vector<std::string> joined(std::vector<std::string> first, const std::vector<std::string>& more) {
  first.insert(first.end(), more.begin(), more.end());
  return first;
}

struct Tables {
  std::vector<std::string> address{varchar(20), varchar(20), varchar(20), chars(2), chars(9)};
  Declared warehouse{
      100, "tpcc", "warehouse", joined(joined({number(), varchar(10)}, address), {kTax, money(12)}), {0}};
  Declared district{101,
                    "tpcc",
                    "district",
                    joined(joined({number(), number(), varchar(10)}, address), {kTax, money(12), number()}),
                    {1, 0}};
  Declared customer{
      102,
      "tpcc",
      "customer",
      joined(joined({number(), number(), number(), varchar(16), chars(2), varchar(16)}, address),
             {chars(16), "datetime not null", chars(2), money(12), kTax, money(12), money(12), number(),
              number(), varchar(500)}),
      {2, 1, 0}};
  Declared history{
      103,
      "tpcc",
      "history",
      {number(), number(), number(), number(), number(), "datetime not null", money(6), varchar(24)},
      {}};
  Declared new_order{104, "tpcc", "new_order", {number(), number(), number()}, {2, 1, 0}};
  Declared orders{105,
                  "tpcc",
                  "orders",
                  {number(), number(), number(), number(), "datetime not null", "int", number(), number()},
                  {2, 1, 0}};
  Declared order_line{
      106,
      "tpcc",
      "order_line",
      {number(), number(), number(), number(), number(), number(), "datetime", number(), money(6), chars(24)},
      {2, 1, 0, 3}};
  Declared stock{107,
                 "tpcc",
                 "stock",
                 joined(joined({number(), number(), number()}, std::vector<std::string>(10, chars(24))),
                        {number(), number(), number(), varchar(50)}),
                 {1, 0}};
  Declared event{108, "shop", "event", {"bigint not null", "datetime not null", "json not null"}, {0}};
  Declared token{109, "shop", "token", {"bigint not null", "binary(16)", "binary(32)"}, {0}};
  Declared page{110, "shop", "page", {number(), number(), "varchar(200) not null", "text not null"}, {0}};
};

class Maker {
 public:
  Maker(Writer& writer, RowImage image, std::uint64_t nth, std::uint64_t stream)
      : writer_(writer), image_(image), nth_(nth), rng_(nth, stream) {}

  void new_order();
  void payment();
  void delivery();
  void documents();
  void digests();
  void counter();

 private:
  static const Tables& tables() {
    static const Tables all;
    return all;
  }
  std::int64_t between(std::int64_t low, std::int64_t high) {
    return low + static_cast<std::int64_t>(rng_.below(static_cast<std::uint64_t>(high - low + 1)));
  }
  std::size_t below(std::size_t n) { return static_cast<std::size_t>(rng_.below(n)); }
  template <std::size_t n>
  std::string one_of(const std::array<const char*, n>& words) {
    return words[below(n)];
  }
  /// Bytes of a value must live until the statement is written.
  Value kept(std::string text) { return std::string_view(texts_.emplace_back(std::move(text))); }
  std::string drawn(std::string_view letters, std::int64_t n) {
    std::string text;
    for (std::int64_t i = 0; i < n; ++i) text += letters[below(letters.size())];
    return text;
  }
  std::string word(std::int64_t low, std::int64_t high) {
    return drawn("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789", between(low, high));
  }
  Value text(std::int64_t low, std::int64_t high) { return kept(word(low, high)); }
  Value bytes(std::int64_t n) {
    std::string made;
    for (std::int64_t i = 0; i < n; ++i) made += static_cast<char>(rng_.below(256));
    return kept(std::move(made));
  }
  static std::string fraction(std::int64_t units, std::size_t digits) {
    std::string text = std::to_string(units < 0 ? -units : units);
    if (text.size() <= digits) text.insert(0, digits + 1 - text.size(), '0');
    text.insert(text.size() - digits, 1, '.');
    return units < 0 ? "-" + text : text;
  }
  Value cents(std::int64_t n) { return kept(fraction(n, 2)); }

  void add_address(Row& row) {
    for (int i = 0; i < 3; ++i) row.push_back(text(10, 20));
    row.push_back(kept(drawn("ABCDEFGHIJKLMNOPQRSTUVWXYZ", 2)));
    row.push_back(kept(drawn("0123456789", 4) + "11111"));
  }
  Row warehouse(std::int64_t ytd_cents) {
    Row row{std::int64_t{1}, text(6, 10)};
    add_address(row);
    row.push_back(kept(fraction(between(0, 2000), 4)));
    row.push_back(cents(ytd_cents));
    return row;
  }
  Row district(std::int64_t d, std::int64_t ytd_cents, std::int64_t next_order) {
    Row row{d, std::int64_t{1}, text(6, 10)};
    add_address(row);
    row.push_back(kept(fraction(between(0, 2000), 4)));
    row.push_back(cents(ytd_cents));
    row.push_back(next_order);
    return row;
  }
  Row customer(std::int64_t d) {
    Row row{between(1, 3000), d,          std::int64_t{1},
            text(8, 16),      kept("OE"), kept(drawn("ABEILNOPRST", between(9, 15)))};
    add_address(row);
    row.push_back(kept(drawn("0123456789", 16)));
    row.push_back(kNow);
    row.push_back(kept(between(1, 10) == 1 ? "BC" : "GC"));
    row.push_back(kept("50000.00"));
    row.push_back(kept(fraction(between(0, 5000), 4)));
    row.push_back(cents(-1000));
    row.push_back(cents(1000));
    row.insert(row.end(), {std::int64_t{1}, std::int64_t{0}, text(300, 500)});
    return row;
  }

  void change(const Declared& of, RowChange what, const Rows& before, const Rows& after,
              std::initializer_list<std::size_t> written) {
    Columns in(of.table.columns.size());
    for (const std::size_t i : written) in.add(i);
    PackedRows packed_before, packed_after;
    for (const Row& row : before) packed_before.add(of.table.columns, row);
    for (const Row& row : after) packed_after.add(of.table.columns, row);
    writer_.table_map(of.map);
    writer_.rows(of.table, what, images(image_, what, of.table.columns, of.key, in), packed_before,
                 packed_after, kForeignKeysBySql);
  }
  void insert(const Declared& of, const Rows& rows, std::initializer_list<std::size_t> written) {
    change(of, RowChange::insert, {}, rows, written);
  }
  /// Rows with some columns set to other values, in each the same.
  void update(const Declared& of, const Rows& before,
              std::initializer_list<std::pair<std::size_t, Value>> values,
              std::initializer_list<std::size_t> written) {
    Rows after = before;
    for (Row& row : after)
      for (const auto& [i, value] : values) row[i] = value;
    change(of, RowChange::update, before, after, written);
  }

  Writer& writer_;
  RowImage image_;
  std::uint64_t nth_;
  machine::Random rng_;
  std::deque<std::string> texts_;
};

void Maker::new_order() {
  const Tables& t = tables();
  const std::int64_t d = between(1, 10), order = between(3001, 9999), lines = between(5, 15);
  update(t.district, {district(d, 3'000'000, order)}, {{10, order + 1}}, {10});
  insert(t.orders, {{order, d, std::int64_t{1}, between(1, 3000), kNow, {}, lines, std::int64_t{1}}},
         {0, 1, 2, 3, 4, 6, 7});
  insert(t.new_order, {{order, d, std::int64_t{1}}}, {0, 1, 2});
  Rows of_stock;
  std::vector<std::int64_t> quantities;
  // In the order of items, so that no two terminals deadlock.
  std::int64_t item = 0;
  for (std::int64_t i = 0; i < lines; ++i) {
    item += between(1, 100'000 / lines);
    quantities.push_back(between(1, 10));
    Row row{item, std::int64_t{1}, between(10, 100)};
    for (int district = 0; district < 10; ++district) row.push_back(text(24, 24));
    row.insert(row.end(), {between(0, 100), between(0, 20), std::int64_t{0}, text(26, 50)});
    of_stock.push_back(std::move(row));
  }
  for (std::size_t i = 0; i < of_stock.size(); ++i) {
    const Row& now = of_stock[i];
    const std::int64_t left = std::get<std::int64_t>(now[2]), sold = quantities[i];
    update(t.stock, {now},
           {{2, left >= sold + 10 ? left - sold : left - sold + 91},
            {13, std::get<std::int64_t>(now[13]) + sold},
            {14, std::get<std::int64_t>(now[14]) + 1}},
           {2, 13, 14, 15});
  }
  for (std::size_t i = 0; i < of_stock.size(); ++i)
    insert(t.order_line,
           {{order,
             d,
             std::int64_t{1},
             static_cast<std::int64_t>(i + 1),
             of_stock[i][0],
             std::int64_t{1},
             {},
             quantities[i],
             cents(quantities[i] * between(100, 10'000)),
             of_stock[i][static_cast<std::size_t>(2 + d)]}},
           {0, 1, 2, 3, 4, 5, 7, 8, 9});
}

void Maker::payment() {
  const Tables& t = tables();
  const std::int64_t d = between(1, 10), amount = between(100, 500'000);
  const Row house = warehouse(30'000'000), of_district = district(d, 3'000'000, between(3001, 9999)),
            who = customer(d);
  update(t.warehouse, {house}, {{8, cents(30'000'000 + amount)}}, {8});
  update(t.district, {of_district}, {{9, cents(3'000'000 + amount)}}, {9});
  if (std::get<std::string_view>(who[13]) == "BC") {
    std::string data = std::to_string(std::get<std::int64_t>(who[0])) + " " + std::to_string(d) + " 1 " +
                       std::to_string(d) + " 1 " + fraction(amount, 2) + ", ";
    data += std::get<std::string_view>(who[20]);
    update(t.customer, {who},
           {{16, cents(-1000 - amount)},
            {17, cents(1000 + amount)},
            {18, std::int64_t{2}},
            {20, kept(data.substr(0, 500))}},
           {16, 17, 18, 20});
  } else {
    update(t.customer, {who},
           {{16, cents(-1000 - amount)}, {17, cents(1000 + amount)}, {18, std::int64_t{2}}}, {16, 17, 18});
  }
  std::string names(std::get<std::string_view>(house[1]));
  names += "    ";
  names += std::get<std::string_view>(of_district[2]);
  insert(t.history,
         {{who[0], d, std::int64_t{1}, d, std::int64_t{1}, kNow, cents(amount), kept(std::move(names))}},
         {0, 1, 2, 3, 4, 5, 6, 7});
}

void Maker::delivery() {
  const Tables& t = tables();
  const std::int64_t carrier = between(1, 10);
  for (std::int64_t d = 1; d <= 10; ++d) {
    const std::int64_t order = between(2101, 3000), n = between(5, 15);
    const Row who = customer(d);
    change(t.new_order, RowChange::remove, {{order, d, std::int64_t{1}}}, {}, {});
    update(t.orders, {{order, d, std::int64_t{1}, who[0], kNow, {}, n, std::int64_t{1}}}, {{5, carrier}},
           {5});
    Rows lines;
    std::int64_t total = 0;
    for (std::int64_t i = 1; i <= n; ++i) {
      const std::int64_t amount = between(1, 999'999);
      total += amount;
      lines.push_back({order,
                       d,
                       std::int64_t{1},
                       i,
                       between(1, 100'000),
                       std::int64_t{1},
                       {},
                       std::int64_t{5},
                       cents(amount),
                       text(24, 24)});
    }
    update(t.order_line, lines, {{6, kNow}}, {6});
    update(t.customer, {who}, {{16, cents(total - 1000)}, {19, std::int64_t{1}}}, {16, 19});
  }
}

void Maker::documents() {
  constexpr std::array types{"view", "view", "view", "search", "cart", "order"};
  constexpr std::array departments{"shoes", "coats", "shirts", "bags"};
  constexpr std::array devices{"phone", "phone", "desktop"};
  constexpr std::array<std::int64_t, 4> widths{390, 412, 1440, 1920};
  Rows rows;
  for (int i = 0; i < kRowsPerInsert; ++i) {
    const auto number = static_cast<std::int64_t>(nth_) * kRowsPerInsert + i;
    Moment moment = kNow;
    moment.minute = static_cast<std::uint32_t>(number / 60 % 60);
    moment.second = static_cast<std::uint32_t>(number % 60);
    // In an order that every compiler keeps.
    std::string page = "/shop/" + one_of(departments) + "/";
    page += std::to_string(between(0, 4999));
    Json::Object device{{"kind", {one_of(devices)}}, {"width", {widths[below(widths.size())]}}};
    Json::Object document{
        {"type", {one_of(types)}},
        {"customer", {between(0, 999'999)}},
        {"session", {drawn("0123456789abcdef", 16)}},
        {"page", {std::move(page)}},
        {"device", {std::move(device)}},
        {"milliseconds", {between(0, 3999)}},
    };
    rows.push_back({number, moment, kept(json_binary({std::move(document)}))});
  }
  insert(tables().event, rows, {0, 1, 2});
}

void Maker::digests() {
  Rows rows;
  for (int i = 0; i < kRowsPerInsert; ++i)
    rows.push_back({static_cast<std::int64_t>(nth_) * kRowsPerInsert + i, bytes(16), bytes(32)});
  insert(tables().token, rows, {0, 1, 2});
}

void Maker::counter() {
  constexpr std::array words{"the",   "a",      "of",    "and",    "with", "for",  "size", "colour",
                             "black", "white",  "light", "warm",   "soft", "wool", "shoe", "coat",
                             "shirt", "bag",    "made",  "from",   "wear", "wash", "cold", "water",
                             "order", "return", "days",  "within", "free", "sole", "heel", "button"};
  std::string body;
  while (body.size() < 5000) body += one_of(words) + " ";
  const std::int64_t hits = between(1, 99'999);
  update(tables().page, {{between(1, 99'999), hits, text(40, 40), kept(std::move(body))}}, {{1, hits + 1}},
         {1});
}

}  // namespace

void put_example(Writer& writer, Example kind, RowImage image, std::uint64_t nth) {
  writer.timestamp = 1'706'788'800;
  const bool is_tpcc = kind == Example::new_order || kind == Example::payment || kind == Example::delivery;
  // An update comes first in these: BEGIN says of which of a statement's tables.
  const bool begins_with_update =
      kind == Example::new_order || kind == Example::payment || kind == Example::counter;
  writer.begin({.thread_id = 8,
                .database = is_tpcc ? "tpcc" : "shop",
                .sql_mode = 0x45A00020,
                .client_collation = 45,
                .connection_collation = 45,
                .time_zone = {},
                .tables_for_update = begins_with_update ? 1U : 0U});
  Maker maker(writer, image, nth, static_cast<std::uint64_t>(kind));
  switch (kind) {
    case Example::new_order:
      maker.new_order();
      break;
    case Example::payment:
      maker.payment();
      break;
    case Example::delivery:
      maker.delivery();
      break;
    case Example::documents:
      maker.documents();
      break;
    case Example::digests:
      maker.digests();
      break;
    case Example::counter:
      maker.counter();
      break;
  }
  writer.xid(1000 + nth);
}

std::uint64_t gtid_bytes(std::uint64_t behind) {
  std::uint64_t bytes = 0;
  // Its own length is in the length that it tells, in as many bytes as that takes.
  for (int i = 0; i < 2; ++i) {
    Buffer out;
    Writer(out, kFirstEvent, true)
        .gtid({.uuid = {},
               .number = 1,
               .sequence_number = 1,
               .commit_us = 1,
               .original_commit_us = 1,
               .transaction_bytes = behind + bytes,
               .server_version = 90704});
    bytes = out.size();
  }
  return bytes;
}

}  // namespace engineroom::binlog
