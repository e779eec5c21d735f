// The open read views, newest first, and the closed ones that were left among them.
//
// Models      MVCC (5.7 to 9.7): m_views and m_free; trx_sys->view_list (5.6), where every view is open
// Leaves out  the pointer whose lowest bit says that its view is closed: here the owner keeps that
// Cost        linking and unlinking O(1); the oldest open view costs a look at each closed one behind it
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "machine/concept.hpp"
#include "transactions/read_view.hpp"

namespace engineroom::transactions {

using machine::Machine;
using machine::Task;

/// A view in the list, with the word by which its owner closes and reopens it without the mutex.
template <Machine M>
struct View : ReadView {
  typename M::Word closed{0};
  typename M::Lines node{1};  // what links it
  View* newer = nullptr;
  View* older = nullptr;
  // For whoever checks: how many transactions had become visible when the snapshot was taken.
  std::uint64_t commits_seen = 0;
};

/// All of it under the mutex of the transaction system.
template <Machine M>
class ViewList {
 public:
  /// A view that nobody uses: kept ones first, as the server allocates 1024 at its start and then as needed.
  View<M>* take() {
    if (free_.empty()) {
      all_.push_back(std::make_unique<View<M>>());
      return all_.back().get();
    }
    View<M>* view = free_.back();
    free_.pop_back();
    return view;
  }
  void give_back(View<M>* view) { free_.push_back(view); }

  void link_newest(View<M>* view) {
    view->newer = nullptr;
    view->older = newest_;
    (newest_ == nullptr ? oldest_ : newest_->newer) = view;
    newest_ = view;
    ++size_;
  }
  void unlink(View<M>* view) {
    (view->newer == nullptr ? newest_ : view->newer->older) = view->older;
    (view->older == nullptr ? oldest_ : view->older->newer) = view->newer;
    --size_;
  }

  View<M>* newest() const { return newest_; }
  View<M>* oldest() const { return oldest_; }
  std::size_t size() const { return size_; }

  /// The oldest view that is open, from the tail; each closed one on the way is a line that its owner wrote last. Adds
  /// the views looked at to `visited`. nullptr when none is open.
  Task<View<M>*> oldest_open(M& m, std::uint64_t& visited) {
    View<M>* view = oldest_;
    while (view != nullptr) {
      ++visited;
      const std::uint64_t is_closed = co_await m.load(view->closed);
      if (is_closed == 0) break;
      view = view->newer;
    }
    co_return view;
  }

 private:
  std::vector<std::unique_ptr<View<M>>> all_;
  std::vector<View<M>*> free_;
  View<M>* newest_ = nullptr;
  View<M>* oldest_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace engineroom::transactions
