// What a snapshot is: which transactions' changes it shows, and what purge has to keep for it.
//
// Models      ReadView (5.7 to 9.7) and read_view_t (5.6): the same four rules, the same two clocks
// Leaves out  nothing of the rules; 5.6 keeps the ids in descending order
// Cost        a binary search among the ids that were active
//
// Ids say what a view shows: a transaction has its id from its first change on. Numbers say what purge may remove: a
// transaction has its number from its commit on. One counter gives both, so that they can be compared.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace engineroom::transactions {

using TrxId = std::uint64_t;  // 0: has changed nothing
using TrxNo = std::uint64_t;

struct ReadView {
  TrxId low_limit_id = 0;  // the counter when the view was made: ids from here on came later
  TrxId up_limit_id = 0;   // the smallest id that was active; low_limit_id where none was
  TrxId creator_id = 0;    // of the view's own transaction
  TrxNo low_limit_no = 0;  // undo logs with smaller numbers are not needed
  std::vector<TrxId> ids;  // active then, ascending, without the creator

  /// Whether the view shows what the transaction `id` changed.
  bool changes_visible(TrxId id) const {
    if (id < up_limit_id || id == creator_id) return true;
    if (id >= low_limit_id) return false;
    return !std::ranges::binary_search(ids, id);
  }
  /// No read-write transaction was active when the view was made.
  bool empty() const { return ids.empty(); }

  /// Sets what follows from the others; `ids` is sorted.
  void complete() { up_limit_id = ids.empty() ? low_limit_id : ids.front(); }
};

}  // namespace engineroom::transactions
