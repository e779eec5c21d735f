// Orders of TPC-C: what is in the rows of an engine, as far as it says which rows are next.
//
// Models      d_next_o_id of a district, and which of its orders is the oldest that is not delivered
// Leaves out  everything else in the rows
// Cost        none on the machine: whoever looks has the row's lock or a view
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "engine/load.hpp"

namespace engineroom::engine {

class Orders {
 public:
  /// What a session knows in its transaction.
  struct Known {
    std::uint64_t own = 0;
    std::uint64_t district_of_own = kNone;
    std::uint64_t oldest = 0;
    bool is_delivered = false;                                        // by somebody else
    std::vector<std::pair<std::uint64_t, std::uint64_t>> deliveries;  // district and order

    static constexpr std::uint64_t kNone = UINT64_MAX;
  };

  explicit Orders(std::uint64_t districts) : districts_(static_cast<std::size_t>(districts)) {}

  static void begin(Known& known) {
    known.district_of_own = Known::kNone;
    known.deliveries.clear();
  }
  /// Somebody else has delivered the order that the step is about: the client leaves it out.
  static bool leaves_out(const Known& known, const Step& step) {
    return step.order == Order::oldest && known.is_delivered;
  }
  static std::uint64_t row_of(const Known& known, const Step& step) {
    if (step.order == Order::its_own) return row_of_order(step, known.own);
    return step.order == Order::oldest ? row_of_order(step, known.oldest) : step.row;
  }
  /// Behind a consistent read.
  void read(Known& known, const Step& step) const {
    if (step.order != Order::finds_oldest) return;
    const District& district = districts_[static_cast<std::size_t>(step.row / kOrdersOfDistrict)];
    known.oldest = district.delivered;
    known.is_delivered = district.delivered >= district.next;  // there is none
  }
  /// With the row locked. False: somebody else has delivered it in the meantime.
  bool locked(Known& known, const Step& step) {
    if (step.order == Order::takes_number) {
      known.district_of_own = step.row;
      known.own = of(step.row).next++;
    }
    if (step.order != Order::oldest || step.table != Table::new_order) return true;
    const std::uint64_t district = step.row / kOrdersOfDistrict;
    known.is_delivered = of(district).delivered > known.oldest;
    if (!known.is_delivered) known.deliveries.emplace_back(district, known.oldest);
    return !known.is_delivered;
  }
  void committed(const Known& known) {
    for (const auto& [district, order] : known.deliveries) {
      of(district).delivered = std::max(of(district).delivered, order + 1);
    }
  }
  void rolled_back(const Known& known) {
    if (known.district_of_own != Known::kNone) of(known.district_of_own).next = known.own;
  }

 private:
  struct District {
    std::uint64_t next = kOrders;
    std::uint64_t delivered = kDelivered;
  };
  District& of(std::uint64_t district) { return districts_[static_cast<std::size_t>(district)]; }

  std::vector<District> districts_;
};

}  // namespace engineroom::engine
