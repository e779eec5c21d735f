// The rules that keep a redo log safe, each where the algorithms ask for it: what may be told only when, who
// waits for whom.
//
// Models      the orders in which the servers do things, and why recovery can rely on them
// Leaves out  what is no rule but speed
// Cost        nothing: an empty class, all of it inlined
//
// The logs are templates over them, so that a test can break one rule at a time (mistakes.hpp) and the
// algorithms need not know.
#pragma once

#include <cstddef>
#include <cstdint>

#include "machine/concept.hpp"
#include "machine/ready.hpp"
#include "redo_log/block.hpp"

namespace engineroom::redo_log {

struct Sound {
  /// A commit that is to survive waits for the fsync, another one for the write: of an LSN or the word that holds it.
  template <typename T>
  static T& awaited(bool flush, T& written, T& flushed) {
    return flush ? flushed : written;
  }
  /// What an fsync makes durable is what was written before it began.
  template <machine::Machine M>
  static machine::Ready<Lsn> made_durable(M&, Lsn written_before, typename M::Word&) {
    return {written_before};
  }
  /// Whether the block of `end` has to know where its first group begins: there, if this group began in another.
  static bool begins_in_block(Lsn start, Lsn end) { return block_of(end) != block_of(start); }
  /// The bytes are in the buffer before anybody may take them for complete: before the mutex of 5.x is free, before the
  /// link of 8.0.
  template <machine::Machine M>
  static void copy(M& m, std::byte* to, const std::byte* from, std::size_t bytes) {
    m.copy(to, from, bytes);
  }
  /// A block that is entered has no group of its own yet: what its place in the buffer says is an earlier block's.
  static constexpr bool forgets_earlier_group() { return true; }

  // 5.6 and 5.7
  /// The incomplete block goes on where the next bytes will lie.
  template <machine::Machine M>
  static void carry_over(M& m, std::byte* to, const std::byte* incomplete_block) {
    m.copy(to, incomplete_block, kBlockBytes);
  }
  /// A thread that wants to flush while an fsync runs waits for its end: the next one is for all who wait.
  static bool waits_for_fsync(bool flush, std::uint64_t pending_flushes) {
    return flush && pending_flushes > 0;
  }

  // 5.7
  /// While one half is written, mini-transactions go on in the other.
  static constexpr bool frees_mutex_to_write() { return true; }

  // 8.0
  /// So far the end of the log stays behind what is not written, one round of the ring later: that begins in a block
  /// whose start is written once more, and who fills a block enters the next one.
  static constexpr Sn ring_margin() { return 2 * kBlockBytes; }
  /// The writer goes up to the first gap, not to the end of what is reserved.
  template <machine::Machine M, typename Links>
  static auto ready(M& m, Links& recent_written, typename M::Word&) {
    return recent_written.tail(m);
  }
  /// Nobody is further ahead of the first gap than the link buffer has slots.
  template <machine::Machine M, typename Links>
  static auto has_space(M& m, Links& links, Lsn start) {
    return links.has_space(m, start);
  }
  /// A thread that closes a gap tells those who wait for that.
  template <typename Tell>
  static auto behind_a_link(const Tell& tell) {
    return tell();
  }
  /// A slot is used again: a link whose end is a whole round ahead is another's.
  static bool is_of_a_later_round(Lsn end, Lsn position, std::uint64_t slots) {
    return end >= position + slots;
  }
};

}  // namespace engineroom::redo_log
