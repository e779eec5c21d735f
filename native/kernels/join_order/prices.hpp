// The two costs of which every pair adds a part, and every set, whose rows do not depend on the pair, another.
//
// Models      CostModel::c_out and CostModel::hash_join (plans.hpp), for planners that are compiled for one of them
// Leaves out  costs of which a set and a pair do not each have a part of their own
// Cost        an addition per pair, or four operations more where rows count
#pragma once

#include "join_order/plans.hpp"

namespace engineroom::join_order {

struct ByRows {
  struct Entry {
    double cost;
    void keep_rows(double) {}
  };
  static Entry entry(double cost, double) { return {cost}; }
  static double of_pair(const Entry& left, const Entry& right) { return left.cost + right.cost; }
  static double of_set(double rows) { return rows; }
};

struct ByHashJoin {
  struct Entry {
    double cost;
    double rows = 0;
    void keep_rows(double value) { rows = value; }
  };
  static Entry entry(double cost, double rows) { return {cost, rows}; }
  static double of_pair(const Entry& left, const Entry& right) {
    return CostModel::hash_inputs({left.rows, left.cost}, {right.rows, right.cost});
  }
  static double of_set(double rows) { return rows * CostModel::kReturnRow; }
};

}  // namespace engineroom::join_order
