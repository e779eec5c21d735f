// The statements of the loads, each with a name, and what one of them asks of a server besides locks and latches.
//
// Models      the statements of sysbench's oltp_read_write.lua (1.0) and of BenchmarkSQL's five transactions (5.0)
// Leaves out  their texts, which a server gets
// Cost        a table of one entry per statement
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>

#include "common/described.hpp"
#include "common/names.hpp"

namespace engineroom::engine {

enum class Statement : std::uint8_t {
  // sysbench read-write
  begin,
  point_select,
  simple_range,
  sum_range,
  order_range,
  distinct_range,
  index_update,
  non_index_update,
  remove,
  insert,
  // TPC-C
  new_order_district,
  new_order_customer,
  new_order_district_update,
  new_order_order_insert,
  new_order_insert,
  new_order_item,
  new_order_stock,
  new_order_stock_update,
  new_order_line_insert,
  payment_district_update,
  payment_district,
  payment_warehouse_update,
  payment_warehouse,
  payment_name,
  payment_customer,
  payment_customer_update,
  payment_history_insert,
  order_status_name,
  order_status_customer,
  order_status_order,
  order_status_lines,
  delivery_oldest,
  delivery_remove,
  delivery_order,
  delivery_order_update,
  delivery_lines_update,
  delivery_amount,
  delivery_customer_update,
  stock_level_district,
  stock_level_count,
  // of both
  commit,
};
constexpr std::size_t kStatements = static_cast<std::size_t>(Statement::commit) + 1;
constexpr auto named(names::Of<Statement>) {
  using S = Statement;
  return names::table<Statement>("statement", {
                                                  {"begin", S::begin},
                                                  {"point_select", S::point_select},
                                                  {"simple_range", S::simple_range},
                                                  {"sum_range", S::sum_range},
                                                  {"order_range", S::order_range},
                                                  {"distinct_range", S::distinct_range},
                                                  {"index_update", S::index_update},
                                                  {"non_index_update", S::non_index_update},
                                                  {"delete", S::remove},
                                                  {"insert", S::insert},
                                                  {"new_order.district", S::new_order_district},
                                                  {"new_order.customer", S::new_order_customer},
                                                  {"new_order.district_update", S::new_order_district_update},
                                                  {"new_order.order_insert", S::new_order_order_insert},
                                                  {"new_order.new_order_insert", S::new_order_insert},
                                                  {"new_order.item", S::new_order_item},
                                                  {"new_order.stock", S::new_order_stock},
                                                  {"new_order.stock_update", S::new_order_stock_update},
                                                  {"new_order.line_insert", S::new_order_line_insert},
                                                  {"payment.district_update", S::payment_district_update},
                                                  {"payment.district", S::payment_district},
                                                  {"payment.warehouse_update", S::payment_warehouse_update},
                                                  {"payment.warehouse", S::payment_warehouse},
                                                  {"payment.name", S::payment_name},
                                                  {"payment.customer", S::payment_customer},
                                                  {"payment.customer_update", S::payment_customer_update},
                                                  {"payment.history_insert", S::payment_history_insert},
                                                  {"order_status.name", S::order_status_name},
                                                  {"order_status.customer", S::order_status_customer},
                                                  {"order_status.order", S::order_status_order},
                                                  {"order_status.lines", S::order_status_lines},
                                                  {"delivery.oldest", S::delivery_oldest},
                                                  {"delivery.delete", S::delivery_remove},
                                                  {"delivery.order", S::delivery_order},
                                                  {"delivery.order_update", S::delivery_order_update},
                                                  {"delivery.lines_update", S::delivery_lines_update},
                                                  {"delivery.amount", S::delivery_amount},
                                                  {"delivery.customer_update", S::delivery_customer_update},
                                                  {"stock_level.district", S::stock_level_district},
                                                  {"stock_level.count", S::stock_level_count},
                                                  {"commit", S::commit},
                                              });
}

/// Of one execution. The time is the mean of an exponential distribution.
struct Demand {
  std::uint64_t computing_ns = 50'000;
  std::uint64_t mtrs_permille = 0;
  std::uint64_t mtr_bytes = 150;
};
constexpr std::uint64_t kMostMtrBytes = 1 << 20;
constexpr auto described(options::Of<Demand>) {
  using C = Demand;
  return options::list<C>(
      "what a statement asks for",
      {
          options::option<&C::computing_ns>("computing_ns",
                                            "processor time that no part of the engine stands for"),
          options::option<&C::mtrs_permille>("mtrs_permille", {.most = 1'000'000},
                                             "mini-transactions with redo, of a thousand executions"),
          options::option<&C::mtr_bytes>("mtr_bytes", {.least = 1, .most = kMostMtrBytes},
                                         "redo of each of them"),
      });
}

/// By the statements' names.
using Demands = std::map<std::string, Demand>;
using DemandTable = std::array<Demand, kStatements>;

}  // namespace engineroom::engine
