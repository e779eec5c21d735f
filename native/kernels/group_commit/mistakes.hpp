// Mistakes that a group commit of one's own easily makes: the rules with one of them broken. The crash runs plant them, one at
// a time, and must find each.
#pragma once

#include <cstdint>

#include "common/names.hpp"
#include "group_commit/design.hpp"
#include "group_commit/rules.hpp"

namespace engineroom::group_commit {

enum class Mistake : std::uint8_t {
  none,
  fetched_after_flush,  // somebody joins while the redo is flushed: in the binlog, and prepared nowhere
  own_lsn_only,  // the leader's prepare may be durable since an earlier flush; those of its followers are not
  committed_before_sync,  // committed in the engine, and perhaps in no binlog
  delay_in_flush_stage,   // nothing is lost but time: FLUSH waits, too
  told_twice,             // a leader that hands its chain over tells it: clients are answered before the sync
  never_told,             // the last of a group sleeps on
  rotated_over_prepared,  // a transaction of the old file is committed when the new one is the last
  engine_not_flushed_at_rotation,  // found prepared, and in no file that is read
};
constexpr auto named(names::Of<Mistake>) {
  return names::as_written<Mistake::engine_not_flushed_at_rotation>("mistake");
}

/// Whether a design has what the mistake breaks: 5.5 has no stages, and before 5.7.6 no leader flushes redo.
constexpr bool is_possible(Design design, Mistake mistake) {
  switch (mistake) {
    case Mistake::none:
    case Mistake::committed_before_sync:
    case Mistake::rotated_over_prepared:
      return true;
    case Mistake::fetched_after_flush:
    case Mistake::own_lsn_only:
      return design == Design::one_redo_flush;
    case Mistake::engine_not_flushed_at_rotation:
      return design != Design::serialised;  // there each commit flushes
    case Mistake::delay_in_flush_stage:
    case Mistake::told_twice:
    case Mistake::never_told:
      return design != Design::serialised;
  }
  return false;
}

/// The rules with one of them broken: at run time, so that all mistakes are one more program and not one each.
class Broken {
 public:
  explicit Broken(Mistake mistake = Mistake::none) : mistake_(mistake) {}

  bool fetches_before_flush() const { return !is(Mistake::fetched_after_flush); }
  Lsn to_flush(Lsn end_of_log, Lsn of_leader) const {
    return is(Mistake::own_lsn_only) ? of_leader : end_of_log;
  }
  bool syncs_before_commit() const { return !is(Mistake::committed_before_sync); }
  bool delays_before_sync() const { return !is(Mistake::delay_in_flush_stage); }
  bool tells_members_early() const { return is(Mistake::told_twice); }
  bool forgets_last_member() const { return is(Mistake::never_told); }
  bool waits_for_prepared() const { return !is(Mistake::rotated_over_prepared); }
  bool flushes_engine_at_rotation() const { return !is(Mistake::engine_not_flushed_at_rotation); }

 private:
  bool is(Mistake mistake) const { return mistake_ == mistake; }
  Mistake mistake_;
};

}  // namespace engineroom::group_commit
