#include "engine/load.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>

#include "common/require.hpp"

namespace engineroom::engine {

namespace {

using lock_sys::Mode;
using machine::Random;
using S = Statement;

// 2^(-i/256) in units of 2^-62, by square roots of a half.
constexpr unsigned kTableBits = 8;
constexpr std::uint64_t kOne = std::uint64_t{1} << 62;
constexpr std::uint64_t times(std::uint64_t a, std::uint64_t b) {
  return static_cast<std::uint64_t>((static_cast<unsigned __int128>(a) * b) >> 62);
}
constexpr std::uint64_t root_of(std::uint64_t x) {
  std::uint64_t root = 0;
  for (std::uint64_t bit = kOne; bit > 0; bit >>= 1) {
    const std::uint64_t more = root + bit;
    if (more <= kOne && times(more, more) <= x) root = more;
  }
  return root;
}
constexpr auto make_powers() {
  std::array<std::uint64_t, (std::size_t{1} << kTableBits) + 1> powers{};
  powers[0] = kOne;
  std::uint64_t root = kOne / 2;
  for (unsigned bit = 0; bit < kTableBits; ++bit) root = root_of(root);
  for (std::size_t i = 1; i < powers.size(); ++i) powers[i] = times(powers[i - 1], root);
  return powers;
}
constexpr auto kPowers = make_powers();
constexpr unsigned kPowerBits = 24;

/// 2^-y in units of 2^-62, y in units of 2^-24.
constexpr std::uint64_t power_of_half(std::uint64_t y) {
  const std::uint64_t whole = y >> kPowerBits;
  if (whole >= 62) return 0;
  const std::uint64_t fraction = y & ((std::uint64_t{1} << kPowerBits) - 1);
  const auto cell = static_cast<std::size_t>(fraction >> (kPowerBits - kTableBits));
  const std::uint64_t within = fraction & ((std::uint64_t{1} << (kPowerBits - kTableBits)) - 1);
  const std::uint64_t high = kPowers[cell];
  const std::uint64_t value = high - (((high - kPowers[cell + 1]) >> (kPowerBits - kTableBits)) * within);
  return value >> whole;
}

/// -ln(percent/100) in units of 2^-32.
constexpr std::uint64_t minus_ln(std::uint64_t percent) {
  const auto bits = static_cast<std::uint64_t>((static_cast<unsigned __int128>(percent) << 64) / 100);
  return machine::exponential(bits, std::uint64_t{1} << 32);
}

/// The mean of twelve uniform draws, from 0 to `last`.
std::uint64_t bell(Random& random, std::uint64_t last) {
  constexpr std::uint64_t kDraws = 12;
  std::uint64_t sum = 0;
  for (std::uint64_t i = 0; i < kDraws; ++i) sum += random.next() >> 32;
  return static_cast<std::uint64_t>(static_cast<unsigned __int128>(sum) * last / kDraws >> 32);
}

/// Sysbench's: a quarter of the draws is bell-shaped over all rows, the others fall evenly near the middle. It is one and the same
/// random number that chooses between the two and then the place in the hundredth of the middle, so that of the hundredth
/// only the upper three quarters are drawn.
std::uint64_t special(Random& random, std::uint64_t last) {
  const std::uint64_t drawn = random.next();
  if (drawn < std::uint64_t{1} << 62) return bell(random, last);
  // drawn * (last / 100 + 1) + last / 2 - last / 200, in units of 1/200
  const std::uint64_t within = machine::high_product(drawn, 2 * (last + 100));
  return (within + 99 * last) / 200;
}

std::uint64_t between(Random& random, std::uint64_t low, std::uint64_t high) {
  return low + random.below(high - low + 1);
}
/// TPC-C's non-uniform random number, from 0 on (clause 2.1.6).
std::uint64_t uneven(Random& random, std::uint64_t a, std::uint64_t n) {
  constexpr std::uint64_t kC = 7;
  return ((random.below(a + 1) | between(random, 1, n)) + kC) % n;
}

class Writer {
 public:
  explicit Writer(std::vector<Step>& steps) : steps_(steps) { steps_.clear(); }

  Step& add(const Step& step) { return steps_.emplace_back(step); }
  void reads(S statement, Table table = Table::sbtest) {
    add({.statement = statement, .reads = true, .table = table});
  }
  Step& locks(S statement, Table table, std::uint64_t row) {
    return add({.statement = statement, .locks = true, .table = table, .row = row});
  }
  Step& changes(S statement, Table table, std::uint64_t row) {
    return add({.statement = statement, .locks = true, .changes = true, .table = table, .row = row});
  }
  Step& inserts(S statement, Table table, std::uint64_t row) {
    return add({.statement = statement, .changes = true, .inserts = true, .table = table, .row = row});
  }

 private:
  std::vector<Step>& steps_;
};

void read_write(const LoadConfig& load, Random& random, Script& script) {
  const RowDraw row(load);
  Writer to(script.steps);
  script.commit = S::commit;
  to.add({.statement = S::begin});
  for (int i = 0; i < 10; ++i) to.reads(S::point_select);
  for (const S range : {S::simple_range, S::sum_range, S::order_range, S::distinct_range}) to.reads(range);
  // Of its index over k an update that changes it marks the old entry and inserts one, behind a look for a duplicate.
  to.changes(S::index_update, Table::sbtest, row(random)).checks = 3;
  to.changes(S::non_index_update, Table::sbtest, row(random));
  const std::uint64_t again = row(random);
  to.changes(S::remove, Table::sbtest, again).checks = 1;
  // The row is there, marked: the insertion looks at it as a duplicate, and so at its entry.
  Step& insert = to.inserts(S::insert, Table::sbtest, again);
  insert.checks = 4;
  insert.lookups = 2;
}

/// The client's own, or any.
std::uint64_t warehouse_of(const LoadConfig& load, Random& random, const Script& script) {
  return load.home_warehouses ? machine::mixed(script.client) % load.warehouses
                              : random.below(load.warehouses);
}

void new_order(const LoadConfig& load, Random& random, Script& script) {
  Writer to(script.steps);
  const std::uint64_t w = warehouse_of(load, random, script);
  const std::uint64_t d = w * kDistricts + random.below(kDistricts);
  const std::uint64_t customer = d * kCustomers + uneven(random, 1023, kCustomers);
  const std::uint64_t orders = d * kOrdersOfDistrict;
  struct Line {
    std::uint64_t stock;
    auto operator<=>(const Line&) const = default;
  };
  std::array<Line, kMostLines> lines{};
  const auto n = static_cast<std::size_t>(between(random, 5, 15));
  for (std::size_t i = 0; i < n; ++i) {
    std::uint64_t from = w;
    const bool is_remote = random.below(100) == 0 && load.warehouses > 1;
    if (is_remote) from = (w + 1 + random.below(load.warehouses - 1)) % load.warehouses;
    lines[i] = {from * kItems + uneven(random, 8191, kItems)};
  }
  std::sort(lines.begin(), lines.begin() + static_cast<std::ptrdiff_t>(n));
  script.rolls_back = random.below(100) == 0;
  script.commit = S::new_order_commit;
  // The last item of an order that is rolled back does not exist; what was done before it is sent all the same.
  const std::size_t good = script.rolls_back ? n - 1 : n;

  to.locks(S::new_order_district, Table::district, d).order = Order::takes_number;
  to.reads(S::new_order_customer, Table::customer);
  to.changes(S::new_order_district_update, Table::district, d);
  Step& order = to.inserts(S::new_order_order_insert, Table::orders, orders);
  order.order = Order::its_own;
  order.checks = 1;  // of its index over customers
  if (load.foreign_keys) {
    Step& parent = to.locks(S::new_order_order_insert, Table::customer, customer);
    parent.is_next_of_statement = true;
    parent.mode = Mode::s;
  }
  to.inserts(S::new_order_insert, Table::new_order, orders).order = Order::its_own;
  for (std::size_t i = 0; i < n; ++i) {
    to.reads(S::new_order_item, Table::item);
    if (i < good) to.locks(S::new_order_stock, Table::stock, lines[i].stock);
  }
  for (std::size_t i = 0; i < good; ++i) to.changes(S::new_order_stock_update, Table::stock, lines[i].stock);
  for (std::size_t i = 0; i < good; ++i) {
    to.inserts(S::new_order_line_insert, Table::order_line, kMostLines * orders + i).order = Order::its_own;
  }
}

void payment(const LoadConfig& load, Random& random, Script& script) {
  Writer to(script.steps);
  const std::uint64_t w = warehouse_of(load, random, script);
  const std::uint64_t d = w * kDistricts + random.below(kDistricts);
  std::uint64_t of = d;
  if (random.below(100) < 15 && load.warehouses > 1) {
    of =
        (w + 1 + random.below(load.warehouses - 1)) % load.warehouses * kDistricts + random.below(kDistricts);
  }
  script.commit = S::payment_commit;
  const bool is_by_name = random.below(100) < 60;
  const std::uint64_t customer = of * kCustomers + uneven(random, 1023, kCustomers);
  to.changes(S::payment_district_update, Table::district, d);
  to.reads(S::payment_district, Table::district);
  to.changes(S::payment_warehouse_update, Table::warehouse, w);
  to.reads(S::payment_warehouse, Table::warehouse);
  if (is_by_name) to.reads(S::payment_name, Table::customer);
  to.locks(S::payment_customer, Table::customer, customer);
  // One customer in ten has bad credit, and a text that grows.
  if (random.below(10) == 0) {
    to.reads(S::payment_data, Table::customer);
    to.changes(S::payment_data_update, Table::customer, customer).checks = 2;
  } else {
    to.changes(S::payment_customer_update, Table::customer, customer);
  }
  to.inserts(S::payment_history_insert, Table::history, w);
}

void order_status(Random& random, Script& script) {
  Writer to(script.steps);
  script.commit = S::order_status_commit;
  if (random.below(100) < 60) to.reads(S::order_status_name, Table::customer);
  to.reads(S::order_status_customer, Table::customer);
  to.reads(S::order_status_order, Table::orders);
  to.reads(S::order_status_lines, Table::order_line);
}

void delivery(const LoadConfig& load, Random& random, Script& script) {
  Writer to(script.steps);
  script.commit = S::delivery_commit;
  const std::uint64_t w = warehouse_of(load, random, script);
  for (std::uint64_t d = w * kDistricts; d < (w + 1) * kDistricts; ++d) {
    const std::uint64_t orders = d * kOrdersOfDistrict;
    const std::uint64_t lines = between(random, 5, 15);
    const auto of_oldest = [](Step& step) { step.order = Order::oldest; };
    Step& oldest =
        to.add({.statement = S::delivery_oldest, .reads = true, .table = Table::new_order, .row = orders});
    oldest.order = Order::finds_oldest;
    of_oldest(to.changes(S::delivery_remove, Table::new_order, orders));
    of_oldest(to.add({.statement = S::delivery_order, .reads = true, .table = Table::orders}));
    // A NULL that becomes a value makes the row longer: its locks are put aside and back.
    Step& order = to.changes(S::delivery_order_update, Table::orders, orders);
    of_oldest(order);
    order.checks = 2;
    for (std::uint64_t i = 0; i < lines; ++i) {
      Step& line = to.changes(S::delivery_lines_update, Table::order_line, kMostLines * orders + i);
      of_oldest(line);
      line.checks = 2;
      line.is_next_of_statement = i > 0;
    }
    of_oldest(to.add({.statement = S::delivery_amount, .reads = true, .table = Table::order_line}));
    const std::uint64_t customer = d * kCustomers + uneven(random, 1023, kCustomers);
    of_oldest(to.changes(S::delivery_customer_update, Table::customer, customer));
  }
}

void stock_level(Script& script) {
  Writer to(script.steps);
  script.commit = S::stock_level_commit;
  to.reads(S::stock_level_district, Table::district);
  to.reads(S::stock_level_count, Table::stock);
}

/// Bytes of a row: clause 1.2 of the standard, and of sysbench's CREATE TABLE; with 20 that InnoDB adds.
constexpr std::uint64_t bytes_of(Table table) {
  switch (table) {
    case Table::sbtest:
      return 190 + 20;
    case Table::warehouse:
      return 89 + 20;
    case Table::district:
      return 95 + 20;
    case Table::customer:
      return 655 + 20;
    case Table::new_order:
      return 8 + 20;
    case Table::orders:
      return 24 + 20;
    case Table::order_line:
      return 54 + 20;
    case Table::history:
      return 46 + 20;
    case Table::stock:
      return 306 + 20;
    case Table::item:
      return 82 + 20;
  }
  return 200 + 20;  // of a mix's table
}
/// A page of 16 KiB is filled to fifteen sixteenths.
constexpr std::uint64_t rows_on_page(Table table) { return 16 * 1024 * 15 / 16 / bytes_of(table); }

}  // namespace

RowDraw::RowDraw(const LoadConfig& load) : rows_(load.rows), distribution_(load.distribution) {
  if (distribution_ != Distribution::pareto) return;
  const std::uint64_t h = load.pareto_percent;
  const auto power = static_cast<std::uint64_t>((static_cast<unsigned __int128>(minus_ln(h)) << kPowerBits) /
                                                minus_ln(100 - h));
  power_ = static_cast<std::uint64_t>((static_cast<unsigned __int128>(power) << 32) /
                                      machine::random_internal::kLn2);
}

std::uint64_t RowDraw::operator()(Random& random) const {
  switch (distribution_) {
    case Distribution::uniform:
      break;
    case Distribution::pareto: {
      // u^p is 2^(-p * -log2 u).
      const std::uint64_t part = power_of_half(machine::exponential(random.next(), power_));
      return std::min(rows_ - 1, times(rows_, part));
    }
    case Distribution::special:
      return special(random, rows_ - 1);
  }
  return random.below(rows_);
}

void draw(const LoadConfig& load, Random& random, Script& script) {
  script.rolls_back = false;
  script.sends_commit = true;
  script.commit_demand = nullptr;
  if (load.kind == LoadKind::sysbench_read_write) {
    script.kind = TransactionKind::read_write;
    return read_write(load, random, script);
  }
  // The mix of the standard's minimum: 43, 4, 4 and 4 percent, and New-Order the rest.
  const std::uint64_t at = random.below(100);
  if (at < 45) {
    script.kind = TransactionKind::new_order;
    new_order(load, random, script);
  } else if (at < 88) {
    script.kind = TransactionKind::payment;
    payment(load, random, script);
  } else if (at < 92) {
    script.kind = TransactionKind::order_status;
    order_status(random, script);
  } else if (at < 96) {
    script.kind = TransactionKind::delivery;
    delivery(load, random, script);
  } else {
    script.kind = TransactionKind::stock_level;
    stock_level(script);
  }
}

void draw_reads(const LoadConfig& load, Random& random, Script& script) {
  constexpr std::uint32_t kRange = 100;  // --range-size
  const RowDraw row(load);
  for (Step& step : script.steps) {
    if (!step.reads) continue;
    step.rows = step.statement == S::point_select ? 1 : kRange;
    step.row = row(random);
    // A range that goes on behind the last row ends there.
    step.rows = static_cast<std::uint32_t>(std::min<std::uint64_t>(step.rows, load.rows - step.row));
  }
}

std::vector<Statement> statements_of(LoadKind kind) {
  const auto first = static_cast<std::size_t>(kind == LoadKind::tpcc ? S::new_order_district : S::begin);
  const auto last = static_cast<std::size_t>(kind == LoadKind::tpcc ? S::stock_level_commit : S::commit);
  std::vector<Statement> all;
  for (std::size_t i = first; i <= last; ++i) all.push_back(static_cast<Statement>(i));
  return all;
}

DemandTable demand_table(LoadKind kind, const Demands& demands) {
  DemandTable table;
  const std::vector<Statement> all = statements_of(kind);
  for (const auto& [name, demand] : demands) {
    const S statement = names::parse<S>(name);
    if (std::ranges::find(all, statement) == all.end()) {
      refuse("the load " + std::string(names::of(kind)) + " has no statement " + name +
             "; leave its demand out");
    }
    table[static_cast<std::size_t>(statement)] = demand;
  }
  for (const S statement : all) {
    if (demands.contains(std::string(names::of(statement)))) continue;
    refuse("demands has nothing for the statement " + std::string(names::of(statement)) + " of the load " +
           std::string(names::of(kind)) + "; statements() lists all that it needs");
  }
  return table;
}

std::uint64_t row_of_order(const Step& step, std::uint64_t order) {
  switch (step.table) {
    case Table::new_order:
    case Table::orders:
      return step.row + order;
    case Table::order_line:
      return step.row + kMostLines * order;
    default:
      return step.row;
  }
}

Place place_of(Table table, std::uint64_t row) {
  const std::uint64_t on_page = rows_on_page(table);
  return {.page = (static_cast<std::uint64_t>(table) + 1) << 56 | (row / on_page),
          .heap_no = lock_sys::kFirstRecord + static_cast<std::uint32_t>(row % on_page),
          .records_on_page = static_cast<std::uint32_t>(on_page) + lock_sys::kFirstRecord};
}

Path path_to(Table table, std::uint64_t row) {
  // An entry of a node has a key of four bytes, a page number of four and a header of five.
  constexpr std::uint64_t kChildren = 16 * 1024 * 15 / 16 / 13;
  const std::uint64_t first = (static_cast<std::uint64_t>(table) + 1) << 56;
  constexpr std::uint64_t kLevel = std::uint64_t{1} << 53;
  return {.root = first | 2 * kLevel,
          .node = first | kLevel | row / rows_on_page(table) / kChildren,
          .leaf = place_of(table, row).page};
}

std::vector<std::uint64_t> pages_of(Table table, std::uint64_t rows) {
  std::vector<std::uint64_t> pages;
  std::vector<std::uint64_t> nodes;
  for (std::uint64_t row = 0; row < rows; row += rows_on_page(table)) {
    const Path path = path_to(table, row);
    pages.push_back(path.leaf);
    if (nodes.empty() || nodes.back() != path.node) nodes.push_back(path.node);
  }
  pages.insert(pages.end(), nodes.begin(), nodes.end());
  pages.push_back(path_to(table, 0).root);
  return pages;
}

}  // namespace engineroom::engine
