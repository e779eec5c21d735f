// What a lock forbids: its mode, and for a record how far it reaches around it.
//
// Models      lock_t::type_mode (5.6 to 9.7): LOCK_IS to LOCK_AUTO_INC, LOCK_GAP, LOCK_REC_NOT_GAP, LOCK_INSERT_INTENTION
// Leaves out  predicate locks of spatial indexes
// Cost        two bytes a lock
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

#include "common/names.hpp"

namespace engineroom::lock_sys {

enum class Mode : std::uint8_t { is, ix, s, x, auto_inc };

/// `next_key` is the record and the gap before it. On the supremum, which is no record, every kind is the gap before it.
enum class Kind : std::uint8_t { next_key, gap, rec_not_gap, insert_intention };

constexpr auto named(names::Of<Mode>) {
  return names::table<Mode>(
      "mode",
      {{"IS", Mode::is}, {"IX", Mode::ix}, {"S", Mode::s}, {"X", Mode::x}, {"AUTO_INC", Mode::auto_inc}});
}
constexpr auto named(names::Of<Kind>) {
  return names::table<Kind>("kind", {{"next-key", Kind::next_key},
                                     {"gap", Kind::gap},
                                     {"rec-not-gap", Kind::rec_not_gap},
                                     {"insert intention", Kind::insert_intention}});
}

/// Records of a page by their place in its heap, so that a lock can have a bit for each.
using HeapNo = std::uint32_t;
inline constexpr HeapNo kSupremum = 1;
inline constexpr HeapNo kFirstRecord = 2;

/// A tablespace in the upper half, the number of a page in the lower.
using PageId = std::uint64_t;
using TableId = std::uint64_t;

constexpr bool is_compatible(Mode asked, Mode held) {
  constexpr std::size_t kModes = 5;
  constexpr std::array<std::array<bool, kModes>, kModes> kCompatible{{
      {true, true, true, false, true},      // IS with IS, IX, S, X, AUTO_INC
      {true, true, false, false, true},     // IX
      {true, false, true, false, false},    // S
      {false, false, false, false, false},  // X
      {true, true, false, false, false},    // AUTO_INC
  }};
  return kCompatible[static_cast<std::size_t>(asked)][static_cast<std::size_t>(held)];
}

/// Whether who holds `held` needs no `asked` beside it.
constexpr bool is_stronger_or_equal(Mode held, Mode asked) {
  switch (held) {
    case Mode::x:
      return true;
    case Mode::s:
      return asked == Mode::is || asked == Mode::s;
    case Mode::ix:
      return asked == Mode::is || asked == Mode::ix;
    case Mode::is:
    case Mode::auto_inc:
      break;
  }
  return held == asked;
}

/// As performance_schema.data_locks writes it: "X,REC_NOT_GAP".
inline std::string lock_mode_text(Mode mode, Kind kind, HeapNo heap_no) {
  std::string text(names::of(mode));
  const bool is_supremum = heap_no == kSupremum;
  if (kind == Kind::rec_not_gap) text += ",REC_NOT_GAP";
  if (kind == Kind::gap || (kind == Kind::insert_intention && !is_supremum)) text += ",GAP";
  if (kind == Kind::insert_intention) text += ",INSERT_INTENTION";
  return text;
}

}  // namespace engineroom::lock_sys
