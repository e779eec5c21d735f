// A read-write latch in many parts: a reader takes one of them, a writer all.
//
// Models      Sharded_rw_lock: the global latch of lock_sys since 8.0.21, 64 parts, one of them drawn by each s-latch
// Leaves out  sx, which nobody takes of it
// Cost        s: as of one RwLatch whose line few others use; x: that of every part, one after the other
//
//   const std::size_t part = latch.draw_part(m);
//   co_await latch.s_lock(m, part);
//   ...
//   co_await latch.s_unlock(m, part);
#pragma once

#include <cstddef>
#include <deque>
#include <string_view>

#include "machine/concept.hpp"
#include "machine/random.hpp"
#include "sync/rw_latch.hpp"

namespace engineroom::sync {

template <machine::Machine M>
class ShardedRwLatch {
 public:
  static constexpr std::size_t kParts = 64;

  ShardedRwLatch(M& m, std::string_view name, SpinParams spin = {}, std::size_t parts = kParts) {
    for (std::size_t i = 0; i < parts; ++i) parts_.emplace_back(m, name, spin);
  }

  std::size_t draw_part(M& m) const {
    return static_cast<std::size_t>(machine::high_product(m.random(), parts_.size()));
  }
  auto s_lock(M& m, std::size_t part) { return parts_[part].s_lock(m); }
  auto s_unlock(M& m, std::size_t part) { return parts_[part].s_unlock(m); }
  /// Whether a writer waits for a reader of this part.
  auto x_is_wanted(M& m, std::size_t part) { return parts_[part].x_is_wanted(m); }

  /// All parts in their order, so that two writers cannot wait for each other.
  Task<> x_lock(M& m) {
    for (RwLatch<M>& part : parts_) co_await part.x_lock(m);
  }
  Task<> x_unlock(M& m) {
    for (RwLatch<M>& part : parts_) co_await part.x_unlock(m);
  }
  /// False, and nothing is held, when somebody is in the way.
  Task<bool> try_x(M& m) {
    for (std::size_t taken = 0; taken < parts_.size(); ++taken) {
      const bool is_mine = co_await parts_[taken].try_x(m);
      if (is_mine) continue;
      while (taken > 0) co_await parts_[--taken].x_unlock(m);
      co_return false;
    }
    co_return true;
  }

  Site site() const { return parts_.front().site(); }

 private:
  std::deque<RwLatch<M>> parts_;
};

}  // namespace engineroom::sync
