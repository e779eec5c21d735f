// The memory behind the mutex of the transaction system, as cache lines: what a section reads and writes there has to come from the CPU
// that changed it last, and the next one waits meanwhile.
//
// Models      rw_trx_ids (a vector, eight ids to a line), rw_trx_set (a red-black tree), heads and neighbours of rw_trx_list and
//             m_views, the head of serialisation_list; recent ids as bits (a patch of 8.0.27)
// Leaves out  the tree's balancing, so that its upper levels are soon in every cache; where a view keeps its copy; that a
//             processor fetches several lines of one copy at a time: what they take one after the other is an upper bound
// Cost        an event for each line that is not here
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "machine/concept.hpp"
#include "machine/random.hpp"
#include "transactions/read_view.hpp"

namespace engineroom::transactions {

using machine::Access;
using machine::Machine;
using machine::Task;

template <Machine M>
class SharedMemory {
 public:
  enum Head : std::size_t { kTransactions, kNumbers, kViews };
  static constexpr std::size_t kIdsOfLine = 8;
  static constexpr std::size_t kBitsOfLine = 512;

  /// Ids from the one at `first` on, up to the one before `last`.
  auto ids(M& m, std::size_t first, std::size_t last, Access access) {
    const std::size_t from = std::min(first / kIdsOfLine, kLines - 1);
    const std::size_t to = std::min((std::max(last, first + 1) - 1) / kIdsOfLine, kLines - 1);
    return m.touch(ids_, from, to - from + 1, access);
  }
  /// Lines that hold the bits of ids from `least` to `most`.
  static std::size_t lines_of_bits(TrxId least, TrxId most) {
    return static_cast<std::size_t>(most / kBitsOfLine - least / kBitsOfLine) + 1;
  }
  Task<> bits(M& m, TrxId least, TrxId most, Access access) {
    std::size_t left = std::min(lines_of_bits(least, most), kBitLines);
    const auto first = static_cast<std::size_t>(least / kBitsOfLine % kBitLines);
    const std::size_t before_end = std::min(left, kBitLines - first);
    co_await m.touch(bits_, first, before_end, access);
    left -= before_end;
    if (left > 0) co_await m.touch(bits_, 0, left, access);
  }
  /// From the root to the id's node; the last step changes it.
  Task<> tree(M& m, TrxId id, std::size_t size, Access access) {
    const std::uint64_t way = machine::mixed(id);
    const auto levels = static_cast<unsigned>(std::bit_width(std::min(size, kTreeLines - 1)));
    for (unsigned level = 0; level < levels; ++level) {
      const std::size_t node =
          (std::size_t{1} << level) - 1 + static_cast<std::size_t>(way & ((std::uint64_t{1} << level) - 1));
      co_await m.touch(tree_, node, 1, level + 1 == levels ? access : Access::read);
    }
  }
  auto head(M& m, Head which) { return m.touch(heads_, which, 1, Access::write); }
  static auto node(M& m, typename M::Lines& lines) { return m.touch(lines, 0, 1, Access::write); }

 private:
  static constexpr std::size_t kLines = 1024;     // 8,192 active transactions
  static constexpr std::size_t kBitLines = 1024;  // 524,288 ids
  static constexpr std::size_t kTreeLines = 1024;

  typename M::Lines ids_{kLines};
  typename M::Lines bits_{kBitLines};
  typename M::Lines tree_{kTreeLines};
  typename M::Lines heads_{3};
};

}  // namespace engineroom::transactions
