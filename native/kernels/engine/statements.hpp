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
  commit,
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
  new_order_commit,
  payment_district_update,
  payment_district,
  payment_warehouse_update,
  payment_warehouse,
  payment_name,
  payment_customer,
  payment_customer_update,
  payment_data,
  payment_data_update,
  payment_history_insert,
  payment_commit,
  order_status_name,
  order_status_customer,
  order_status_order,
  order_status_lines,
  order_status_commit,
  delivery_oldest,
  delivery_remove,
  delivery_order,
  delivery_order_update,
  delivery_lines_update,
  delivery_amount,
  delivery_customer_update,
  delivery_commit,
  stock_level_district,
  stock_level_count,
  stock_level_commit,
};
constexpr std::size_t kStatements = static_cast<std::size_t>(Statement::stock_level_commit) + 1;
/// Each has the name of its transaction, too.
constexpr auto named(names::Of<Statement>) {
  using S = Statement;
  return names::table<Statement>("statement",
                                 {
                                     {"read_write.begin", S::begin},
                                     {"read_write.select_point", S::point_select},
                                     {"read_write.select_range", S::simple_range},
                                     {"read_write.select_sum", S::sum_range},
                                     {"read_write.select_ordered", S::order_range},
                                     {"read_write.select_distinct", S::distinct_range},
                                     {"read_write.update_index", S::index_update},
                                     {"read_write.update_non_index", S::non_index_update},
                                     {"read_write.delete", S::remove},
                                     {"read_write.insert", S::insert},
                                     {"read_write.commit", S::commit},
                                     {"new_order.select_district", S::new_order_district},
                                     {"new_order.select_customer", S::new_order_customer},
                                     {"new_order.update_district", S::new_order_district_update},
                                     {"new_order.insert_orders", S::new_order_order_insert},
                                     {"new_order.insert_new_order", S::new_order_insert},
                                     {"new_order.select_item", S::new_order_item},
                                     {"new_order.select_stock", S::new_order_stock},
                                     {"new_order.update_stock", S::new_order_stock_update},
                                     {"new_order.insert_order_line", S::new_order_line_insert},
                                     {"new_order.commit", S::new_order_commit},
                                     {"payment.update_district", S::payment_district_update},
                                     {"payment.select_district", S::payment_district},
                                     {"payment.update_warehouse", S::payment_warehouse_update},
                                     {"payment.select_warehouse", S::payment_warehouse},
                                     {"payment.select_customers_by_name", S::payment_name},
                                     {"payment.select_customer", S::payment_customer},
                                     {"payment.update_customer", S::payment_customer_update},
                                     {"payment.select_customer_data", S::payment_data},
                                     {"payment.update_customer_data", S::payment_data_update},
                                     {"payment.insert_history", S::payment_history_insert},
                                     {"payment.commit", S::payment_commit},
                                     {"order_status.select_customers_by_name", S::order_status_name},
                                     {"order_status.select_customer", S::order_status_customer},
                                     {"order_status.select_last_order", S::order_status_order},
                                     {"order_status.select_order_lines", S::order_status_lines},
                                     {"order_status.commit", S::order_status_commit},
                                     {"delivery.select_oldest_new_order", S::delivery_oldest},
                                     {"delivery.delete_new_order", S::delivery_remove},
                                     {"delivery.select_order", S::delivery_order},
                                     {"delivery.update_order", S::delivery_order_update},
                                     {"delivery.update_order_lines", S::delivery_lines_update},
                                     {"delivery.select_order_sum", S::delivery_amount},
                                     {"delivery.update_customer", S::delivery_customer_update},
                                     {"delivery.commit", S::delivery_commit},
                                     {"stock_level.select_district", S::stock_level_district},
                                     {"stock_level.count_low_stock", S::stock_level_count},
                                     {"stock_level.commit", S::stock_level_commit},
                                 });
}

/// Of one execution. The time is the mean of an exponential distribution.
struct Demand {
  std::uint64_t computing_ns = 50'000;
  std::uint64_t mtrs_permille = 0;
  std::uint64_t mtr_bytes = 150;
  std::uint64_t space_lookups_permille = 0;
  std::uint64_t root_searches_permille = 1'000;
  std::uint64_t hash_searches_permille = 0;
  std::uint64_t hash_changes_permille = 0;
};
constexpr std::uint64_t kMostMtrBytes = 1 << 20;
constexpr auto described(options::Of<Demand>) {
  using C = Demand;
  return options::list<C>(
      "what a statement asks for",
      {
          options::option<&C::computing_ns>("processor time that no part of the engine stands for"),
          options::option<&C::mtrs_permille>({.most = 1'000'000},
                                             "mini-transactions with redo, of a thousand executions"),
          options::option<&C::mtr_bytes>({.least = 1, .most = kMostMtrBytes}, "redo of each of them"),
          options::option<&C::space_lookups_permille>(
              {.most = 1'000'000},
              "tablespaces looked up, of a thousand executions: counts with has_space_latch"),
          options::option<&C::root_searches_permille>(
              {.most = 1'000'000},
              "searches from an index's root, of a thousand executions: counts with has_page_latches"),
          options::option<&C::hash_searches_permille>(
              {.most = 1'000'000},
              "searches in the adaptive hash index, of a thousand executions: counts with hash_index"),
          options::option<&C::hash_changes_permille>(
              {.most = 1'000'000},
              "changes under its latch, of a thousand executions: counts with hash_index"),
      });
}

/// By the statements' names.
using Demands = std::map<std::string, Demand>;
using DemandTable = std::array<Demand, kStatements>;

}  // namespace engineroom::engine
