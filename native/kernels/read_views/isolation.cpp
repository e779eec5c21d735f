#include "read_views/isolation.hpp"

#include <algorithm>

namespace engineroom::read_views {

Database::Database(Isolation isolation) : isolation_(isolation) {}

/// One statement on the machine, to its end.
template <typename Call>
void Database::run(const Call& call) {
  m_.spawn("session", call);
  m_.run();
}

std::size_t Database::connect() {
  sessions_.push_back(std::make_unique<Session>());
  return sessions_.size() - 1;
}

void Database::begin(std::size_t session) {
  Session& of = *sessions_.at(session);
  run([&] { return trx_sys_.begin(m_, of.trx, false); });
}

std::optional<Database::Rows> Database::read(std::size_t session, Key first, Key last) {
  Session& of = *sessions_.at(session);
  const bool is_locking = isolation_ == Isolation::serializable;
  if (is_locking) {
    for (const auto& other : sessions_) {
      const bool waits = other.get() != &of && std::ranges::any_of(other->changing, [&](Key key) {
                           return first <= key && key <= last;
                         });
      if (waits) return std::nullopt;
    }
    of.reading.emplace_back(first, last);
  }
  Rows seen;
  run([&]() -> Task<> {
    const bool is_consistent = !is_locking && isolation_ != Isolation::read_uncommitted;
    if (is_consistent) co_await trx_sys_.open_view(m_, of.trx);
    for (auto at = rows_.lower_bound(first); at != rows_.end() && at->first <= last; ++at) {
      Found found;
      if (is_consistent) {
        found = co_await at->second->read(m_, *of.trx.view);
      } else {
        found = co_await at->second->read_newest(m_);
      }
      if (found.is_there) seen.emplace_back(at->first, static_cast<Value>(found.value));
    }
    if (isolation_ == Isolation::read_committed) co_await trx_sys_.drop_view(m_, of.trx);
  });
  return seen;
}

bool Database::write(std::size_t session, Key key, Value value) {
  Session& of = *sessions_.at(session);
  for (const auto& other : sessions_) {
    if (other.get() == &of) continue;
    const bool waits = other->changing.contains(key) ||
                       std::ranges::any_of(other->reading, [&](const std::pair<Key, Key>& range) {
                         return range.first <= key && key <= range.second;
                       });
    if (waits) return false;
  }
  of.changing.insert(key);
  std::unique_ptr<Row<M>>& row = rows_[key];
  if (!row) row = std::make_unique<Row<M>>(m_, 0);
  run([&]() -> Task<> {
    co_await trx_sys_.become_read_write(m_, of.trx);
    co_await row->change(m_, of.trx.id, static_cast<std::uint64_t>(value), false);
  });
  of.changed.push_back(row.get());
  return true;
}

void Database::commit(std::size_t session) {
  Session& of = *sessions_.at(session);
  run([&]() -> Task<> {
    if (of.trx.is_listed) {
      co_await trx_sys_.commit(m_, of.trx);
    } else {
      co_await trx_sys_.end_of_reads(m_, of.trx);
    }
  });
  finish(of);
}

void Database::roll_back(std::size_t session) {
  Session& of = *sessions_.at(session);
  run([&]() -> Task<> {
    for (auto row = of.changed.rbegin(); row != of.changed.rend(); ++row) co_await (*row)->undo(m_);
    if (of.trx.is_listed) {
      co_await trx_sys_.roll_back(m_, of.trx);
    } else {
      co_await trx_sys_.end_of_reads(m_, of.trx);
    }
  });
  finish(of);
}

void Database::finish(Session& session) {
  session.changed.clear();
  session.changing.clear();
  session.reading.clear();
}

}  // namespace engineroom::read_views
