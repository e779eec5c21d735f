// A table of numbers under the four isolation levels: what each lets a transaction see of the others.
//
// Models      consistent reads by view (READ COMMITTED, REPEATABLE READ), dirty ones (READ UNCOMMITTED), locking ones
//             (SERIALIZABLE); changes under exclusive row locks; gap locks of SERIALIZABLE against inserts
// Leaves out  waiting: who would wait for a lock is refused; next-key locks of changes at REPEATABLE READ
// Cost        a scan per range
//
// One statement at a time, in the order in which it is called: a script says what two sessions do in turns.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "common/names.hpp"
#include "machine/sim_machine.hpp"
#include "read_views/versions.hpp"
#include "transactions/trx_sys.hpp"

namespace engineroom::read_views {

enum class Isolation : std::uint8_t { read_uncommitted, read_committed, repeatable_read, serializable };
constexpr auto named(names::Of<Isolation>) {
  return names::table<Isolation>("isolation level", {{"READ UNCOMMITTED", Isolation::read_uncommitted},
                                                     {"READ COMMITTED", Isolation::read_committed},
                                                     {"REPEATABLE READ", Isolation::repeatable_read},
                                                     {"SERIALIZABLE", Isolation::serializable}});
}

class Database {
 public:
  using Key = std::int64_t;
  using Value = std::int64_t;
  using Rows = std::vector<std::pair<Key, Value>>;

  explicit Database(Isolation isolation);

  /// A session, by the number that it has from here on.
  std::size_t connect();
  void begin(std::size_t session);
  /// The rows with keys from `first` to `last` that it sees; nothing when it would have to wait.
  std::optional<Rows> read(std::size_t session, Key first, Key last);
  /// Sets a row, which is inserted where there is none. False when it would have to wait.
  bool write(std::size_t session, Key key, Value value);
  void commit(std::size_t session);
  void roll_back(std::size_t session);

 private:
  using M = machine::SimMachine;
  struct Session {
    transactions::Trx<M> trx;
    std::vector<Row<M>*> changed;              // in order, for undoing
    std::set<Key> changing;                    // locked exclusively
    std::vector<std::pair<Key, Key>> reading;  // ranges locked shared, with their gaps
  };

  template <typename Call>
  void run(const Call& call);
  void finish(Session& session);

  Isolation isolation_;
  M m_{machine::SimConfig{}};
  transactions::TrxSys<M> trx_sys_{m_, {}};
  std::map<Key, std::unique_ptr<Row<M>>> rows_;
  std::vector<std::unique_ptr<Session>> sessions_;
};

}  // namespace engineroom::read_views
