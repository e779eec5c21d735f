// Two loads as lists of steps: which rows are locked, in which order, and what is read and written.
//
// Models      sysbench's oltp_read_write (1.0.20) over one table, with its uniform, Pareto and special distributions; the five
//             transactions of TPC-C (clause 2, the mix of 5.2.3) with the statements and the order of BenchmarkSQL 5.0:
//             New-Order locks the district and then the stock of its lines in the order of warehouse and item; Payment the
//             district, the warehouse, the customer; Delivery, district by district, the oldest order, its lines and its
//             customer
// Leaves out  what is in the rows: which order a customer had last, who has the middle name; the customer of a delivered order
//             is drawn anew. Terminals do not think
// Cost        some random numbers per step, no shared state
//
// A script is drawn before its transaction begins. What only the run knows, the number of a new order and the oldest one that
// is not delivered, is a step that asks for it.
#pragma once

#include <cstdint>
#include <vector>

#include "common/described.hpp"
#include "common/names.hpp"
#include "engine/statements.hpp"
#include "lock_sys/modes.hpp"
#include "machine/random.hpp"

namespace engineroom::engine {

enum class LoadKind : std::uint8_t { sysbench_read_write, tpcc };
constexpr auto named(names::Of<LoadKind>) { return names::as_written<LoadKind::tpcc>("load"); }
enum class Distribution : std::uint8_t { uniform, pareto, special };
constexpr auto named(names::Of<Distribution>) {
  return names::as_written<Distribution::special>("distribution");
}

constexpr std::uint32_t kMostClients = 4096;
struct LoadConfig {
  LoadKind kind = LoadKind::sysbench_read_write;
  std::uint32_t clients = 1;
  std::uint64_t transactions = 0;
  std::uint64_t away_ns = 33'000;
  std::uint64_t client_ns = 0;
  std::uint64_t rows = 1'000'000;
  Distribution distribution = Distribution::pareto;
  std::uint64_t pareto_percent = 20;
  std::uint64_t warehouses = 1;
  bool home_warehouses = false;
  bool foreign_keys = false;
};
constexpr auto described(options::Of<LoadConfig>) {
  using C = LoadConfig;
  return options::list<C>(
      "a load",
      {
          options::option<&C::kind>("whose transactions the clients run"),
          options::option<&C::clients>({.least = 1, .most = kMostClients}, "sessions, each in a closed loop"),
          options::option<&C::transactions>("of each client; 0: until the run is stopped"),
          options::option<&C::away_ns>("before each statement: the client and the network, mean"),
          options::option<&C::client_ns>(
              "before each statement: what the client computes on the server's own processors"),
          options::option<&C::rows>({.least = 1, .most = 1'000'000'000}, "of sysbench's table"),
          options::option<&C::distribution>("of the rows that sysbench draws"),
          options::option<&C::pareto_percent>(
              {.least = 1, .most = 50},
              "rand-pareto-h: so many percent of the rows are drawn in all other cases"),
          options::option<&C::warehouses>({.least = 1, .most = 100'000}, "of TPC-C"),
          options::option<&C::home_warehouses>(
              "whether each client keeps one warehouse, as BenchmarkSQL's terminalWarehouseFixed has it"),
          options::option<&C::foreign_keys>(
              "whether an order's insertion locks its customer, as BenchmarkSQL's schema has it"),
      });
}

enum class Table : std::uint8_t {
  sbtest,
  warehouse,
  district,
  customer,
  new_order,
  orders,
  order_line,
  history,
  stock,
  item,
};
constexpr auto named(names::Of<Table>) { return names::as_written<Table::item>("table"); }

/// A mix (mix.hpp) numbers its own tables.
constexpr std::uint64_t kMostTables = 16;

constexpr std::uint64_t kDistricts = 10;
constexpr std::uint64_t kCustomers = 3'000;  // of a district
constexpr std::uint64_t kItems = 100'000;
constexpr std::uint64_t kOrders = 3'000;     // of a district when the run begins ...
constexpr std::uint64_t kDelivered = 2'100;  // ... and so many of them delivered
constexpr std::uint64_t kMostLines = 16;     // of an order
/// Rows of orders are numbered within their district.
constexpr std::uint64_t kOrdersOfDistrict = std::uint64_t{1} << 32;

/// Which order a step is about: one that only the run knows. The row of an order is its district's first and so many further.
enum class Order : std::uint8_t {
  none,
  takes_number,  // behind its lock: the district's next order is this transaction's
  its_own,
  finds_oldest,  // of the district, not delivered
  oldest,        // that one; the step is left out when another transaction has delivered it
};

/// One statement, or a part of one: it computes and is away only once.
struct Step {
  Statement statement = Statement::commit;
  const Demand* demand = nullptr;     // else the one of its statement
  bool is_next_of_statement = false;  // one more row of the step before
  bool reads = false;                 // consistently: with a view
  bool locks = false;
  bool changes = false;
  bool inserts = false;
  Order order = Order::none;
  lock_sys::Mode mode = lock_sys::Mode::x;
  Table table = Table::sbtest;
  std::uint64_t row = 0;      // of an order: of its district's first
  std::uint32_t rows = 0;     // that a consistent read looks at from `row` on; 0: it does not say
  std::uint32_t lookups = 0;  // of its own id among the active ones, as it meets what it marked itself
  std::uint32_t checks = 0;   // queues that are looked at besides, as latches counted on live servers say
};

enum class TransactionKind : std::uint8_t {
  read_write,
  new_order,
  payment,
  order_status,
  delivery,
  stock_level
};
constexpr auto named(names::Of<TransactionKind>) {
  return names::as_written<TransactionKind::stock_level>("transaction");
}

struct Script {
  TransactionKind kind = TransactionKind::read_write;
  bool rolls_back = false;   // at its end, by itself: one New-Order in a hundred
  bool sends_commit = true;  // else the last statement commits by itself
  Statement commit = Statement::commit;
  const Demand* commit_demand = nullptr;  // else the one of the statement `commit`
  std::uint64_t client = 0;               // whose script it is
  std::vector<Step> steps;
};

/// Draws what one transaction does; `script` is used again.
void draw(const LoadConfig& load, machine::Random& random, Script& script);
/// Draws the rows that its reads look at, which only a buffer pool asks for: of sysbench's load.
void draw_reads(const LoadConfig& load, machine::Random& random, Script& script);

/// A row of sysbench's table, from 0 on.
class RowDraw {
 public:
  explicit RowDraw(const LoadConfig& load);
  std::uint64_t operator()(machine::Random& random) const;

 private:
  std::uint64_t rows_;
  Distribution distribution_;
  std::uint64_t power_ = 0;  // of sysbench's Pareto distribution, over ln 2, in units of 2^-24
};

/// The statements that a load has, for which a table must have demands.
std::vector<Statement> statements_of(LoadKind kind);
/// Refuses a statement that the load does not have, and one that is missing.
DemandTable demand_table(LoadKind kind, const Demands& demands);

/// The row of a step that is about an order.
std::uint64_t row_of_order(const Step& step, std::uint64_t order);

/// Where a row lies: its page and its place there.
struct Place {
  std::uint64_t page = 0;
  std::uint32_t heap_no = 0;
  std::uint32_t records_on_page = 0;
};
Place place_of(Table table, std::uint64_t row);

/// The pages from the root of a table's index to the leaf that has the row.
struct Path {
  std::uint64_t root = 0;
  std::uint64_t node = 0;
  std::uint64_t leaf = 0;
};
Path path_to(Table table, std::uint64_t row);
/// All pages of a table with so many rows, leaves first.
std::vector<std::uint64_t> pages_of(Table table, std::uint64_t rows);

}  // namespace engineroom::engine
