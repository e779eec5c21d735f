// What a session asks of an engine, whatever the engine consists of.
#pragma once

#include <concepts>
#include <cstdint>

#include "machine/concept.hpp"
#include "sessions/program.hpp"

namespace engineroom::sessions {

using machine::AwaitsTo;
using machine::Machine;

/// Each step may wait; false when the run is stopped first, and the session ends. What an engine has nothing to do
/// for is `machine::Ready`. A step that forwards to one call gives back that call's task, so that it costs no
/// frame of its own.
template <typename E, typename M>
concept Engine = Machine<M> &&
    requires(E engine, M& m, typename E::Transaction& trx, const Statement& statement,
             const MiniTransactions& mtrs, std::uint64_t number) {
  engine.spawn_threads(m);  // of its own, before the sessions
  /// A transaction of a session that has had `number` before: what it holds from here to its end.
  { engine.begin(m, number) } -> std::same_as<typename E::Transaction>;
  /// What a statement does besides computing and before its mini-transactions: views, locks, reads.
  { engine.statement(m, trx, statement) } -> AwaitsTo<bool>;
  /// One change of the data, with its redo.
  { engine.mini_transaction(m, trx, mtrs) } -> AwaitsTo<bool>;
  /// All that lies between the last change and the answer to the client.
  { engine.commit(m, trx) } -> AwaitsTo<bool>;
};

}  // namespace engineroom::sessions
