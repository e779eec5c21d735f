// An operation on a latch that is most often over at once: in place then, and in a coroutine only when it is not.
//
// Cost        no frame where the fast path does
//
//   class Unlock : public FastPath<Latch, M> {
//     bool await_ready();                                   // the fast path; true: done
//     bool await_suspend(std::coroutine_handle<> self) {    // the rest, from where the fast path stopped
//       return this->goes_on_in(this->latch_.unlock_slowly(this->m_, this->has_begun_), self);
//     }
//   };
#pragma once

#include <coroutine>
#include <utility>

#include "machine/concept.hpp"
#include "machine/task.hpp"

namespace engineroom::sync {

using machine::Task;

template <typename L, typename M>
class FastPath {
 public:
  FastPath(L& latch, M& m) : latch_(latch), m_(m) {}
  FastPath(const FastPath&) = delete;
  FastPath& operator=(const FastPath&) = delete;
  void await_resume() {
    if (rest_) rest_.result();
  }

 protected:
  bool goes_on_in(Task<> rest, std::coroutine_handle<> self) {
    rest_ = std::move(rest);
    rest_.start();
    if (rest_.done()) return false;
    rest_.set_caller(self);
    return true;
  }
  /// Whether the word can be changed in place.
  bool begins_at(auto&& word) {
    has_begun_ = m_.reach(word, machine::Access::write);
    return has_begun_;
  }

  L& latch_;
  M& m_;
  bool has_begun_ = false;

 private:
  Task<> rest_;
};

}  // namespace engineroom::sync
