// Mistakes that a log of one's own easily makes: the rules with one of them broken. The crash runs plant them, one at a
// time, and must find each.
#pragma once

#include <cstdint>
#include <cstring>

#include "common/names.hpp"
#include "redo_log/rules.hpp"

namespace engineroom::redo_log {

/// A commit returns when the log is written.
struct DurableBeforeFsync : Sound {
  template <typename T>
  static T& awaited(bool, T& written, T&) {
    return written;
  }
};

/// What is written when the fsync ends is taken for flushed.
struct FlushedReadAfterFsync : Sound {
  template <machine::Machine M>
  static auto made_durable(M& m, Lsn, typename M::Word& written) {
    return m.load(written);
  }
};

/// Recovery that starts at a checkpoint finds no group boundary.
struct FirstGroupNotSet : Sound {
  static bool begins_in_block(Lsn, Lsn) { return false; }
};

/// A block that one group fills and that lies where an earlier one lay says that a group begins in it: recovery that
/// starts at a checkpoint there reads from the middle of a group.
struct EarlierGroupNotForgotten : Sound {
  static constexpr bool forgets_earlier_group() { return false; }
};

/// The place is reserved, and the bytes come later.
struct CopiedLater : Sound {
  template <machine::Machine M>
  static void copy(M& m, std::byte* to, const std::byte* from, std::size_t bytes) {
    m.spawn("late copy", [&m, to, from, bytes]() -> machine::Task<> {
      co_await m.yield();
      m.copy(to, from, bytes);
    });
  }
};

/// Switching halves forgets the incomplete block.
struct LastBlockLeftBehind : Sound {
  template <machine::Machine M>
  static void carry_over(M&, std::byte* to, const std::byte*) {
    std::memset(to, 0, kHeaderBytes);
  }
};

/// Nobody waits for the running fsync: no group, though nothing is lost.
struct FollowersFsyncToo : Sound {
  static bool waits_for_fsync(bool, std::uint64_t) { return false; }
};

/// The mutex is held while the file is written, as in 5.6: nothing is lost but time.
struct WrittenUnderMutex : Sound {
  static constexpr bool frees_mutex_to_write() { return false; }
};

/// The ring is filled up to what is not written: into its block, which is written again.
struct RingFilledToTheBrim : Sound {
  static constexpr Sn ring_margin() { return 0; }
};

/// The writer takes everything that is reserved.
struct WritePastGap : Sound {
  template <machine::Machine M, typename Links>
  static machine::Task<Lsn> ready(M& m, Links& recent_written, typename M::Word& reserved) {
    co_await recent_written.tail(m);  // it looks, and goes on all the same
    const Sn sn = co_await m.load(reserved);
    co_return lsn_of(sn);
  }
};

/// No wait for a slot of the link buffers.
struct WindowIgnored : Sound {
  template <machine::Machine M, typename Links>
  static machine::Ready<bool> has_space(M&, Links&, Lsn) {
    return {true};
  }
};

/// A thread that closes a gap does not wake those who wait for it.
struct CloserNotTold : Sound {
  template <typename Tell>
  static machine::Ready<> behind_a_link(const Tell&) {
    return {};
  }
};

/// A link of a later round is taken for this one's.
struct ClaimUnchecked : Sound {
  static bool is_of_a_later_round(Lsn, Lsn, std::uint64_t) { return false; }
};

enum class Mistake : std::uint8_t {
  none,
  durable_before_fsync,
  first_group_not_set,
  earlier_group_not_forgotten,
  copy_outside_mutex,
  last_block_left_behind,
  followers_fsync_too,
  written_under_mutex,
  ring_filled_to_the_brim,
  write_past_gap,
  link_before_copy,
  window_ignored,
  claim_unchecked,
  flushed_read_after_fsync,
  closer_not_told,
};

constexpr auto named(names::Of<Mistake>) {
  return names::table<Mistake>("mistake",
                               {
                                   {"none", Mistake::none},
                                   {"durable_before_fsync", Mistake::durable_before_fsync},
                                   {"first_group_not_set", Mistake::first_group_not_set},
                                   {"earlier_group_not_forgotten", Mistake::earlier_group_not_forgotten},
                                   {"copy_outside_mutex", Mistake::copy_outside_mutex},
                                   {"last_block_left_behind", Mistake::last_block_left_behind},
                                   {"followers_fsync_too", Mistake::followers_fsync_too},
                                   {"written_under_mutex", Mistake::written_under_mutex},
                                   {"ring_filled_to_the_brim", Mistake::ring_filled_to_the_brim},
                                   {"write_past_gap", Mistake::write_past_gap},
                                   {"link_before_copy", Mistake::link_before_copy},
                                   {"window_ignored", Mistake::window_ignored},
                                   {"claim_unchecked", Mistake::claim_unchecked},
                                   {"flushed_read_after_fsync", Mistake::flushed_read_after_fsync},
                                   {"closer_not_told", Mistake::closer_not_told},
                               });
}

template <Mistake a_mistake, typename Broken>
struct Planted {
  static constexpr Mistake kMistake = a_mistake;
  using Rules = Broken;
};
template <typename... Each>
struct Mistakes {
  /// Calls run.operator()<Rules>() with the rules that `mistake` leaves; false when it is none of these.
  template <typename Run>
  static bool plant(Mistake mistake, const Run& run) {
    return ((mistake == Each::kMistake && (run.template operator()<typename Each::Rules>(), true)) || ...);
  }
};

using MistakesOf56 = Mistakes<Planted<Mistake::none, Sound>,                               //
                              Planted<Mistake::durable_before_fsync, DurableBeforeFsync>,  //
                              Planted<Mistake::first_group_not_set, FirstGroupNotSet>,
                              Planted<Mistake::earlier_group_not_forgotten, EarlierGroupNotForgotten>,  //
                              Planted<Mistake::copy_outside_mutex, CopiedLater>,                        //
                              Planted<Mistake::last_block_left_behind, LastBlockLeftBehind>>;
using MistakesOf57 = Mistakes<Planted<Mistake::none, Sound>,                               //
                              Planted<Mistake::durable_before_fsync, DurableBeforeFsync>,  //
                              Planted<Mistake::first_group_not_set, FirstGroupNotSet>,
                              Planted<Mistake::earlier_group_not_forgotten, EarlierGroupNotForgotten>,  //
                              Planted<Mistake::copy_outside_mutex, CopiedLater>,                        //
                              Planted<Mistake::last_block_left_behind, LastBlockLeftBehind>,            //
                              Planted<Mistake::followers_fsync_too, FollowersFsyncToo>,
                              Planted<Mistake::written_under_mutex, WrittenUnderMutex>>;
using MistakesOf80 = Mistakes<Planted<Mistake::none, Sound>,                               //
                              Planted<Mistake::durable_before_fsync, DurableBeforeFsync>,  //
                              Planted<Mistake::first_group_not_set, FirstGroupNotSet>,
                              Planted<Mistake::earlier_group_not_forgotten, EarlierGroupNotForgotten>,  //
                              Planted<Mistake::ring_filled_to_the_brim, RingFilledToTheBrim>,
                              Planted<Mistake::write_past_gap, WritePastGap>,                     //
                              Planted<Mistake::link_before_copy, CopiedLater>,                    //
                              Planted<Mistake::window_ignored, WindowIgnored>,                    //
                              Planted<Mistake::claim_unchecked, ClaimUnchecked>,                  //
                              Planted<Mistake::flushed_read_after_fsync, FlushedReadAfterFsync>,  //
                              Planted<Mistake::closer_not_told, CloserNotTold>>;

}  // namespace engineroom::redo_log
