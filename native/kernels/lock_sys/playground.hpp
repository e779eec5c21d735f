// A table, some sessions, and their statements one after the other: who has which lock, and who waits for whom.
//
// Models      a few clients of one server, each of which waits for its statement to end or to be blocked
// Leaves out  statements at the same time: the next one begins when nothing moves any more; shards, whose latches would
//             guard the same queues
// Cost        a simulated machine that computes nothing but latches
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "lock_sys/rows.hpp"

namespace engineroom::lock_sys {

struct Statement {
  enum class Verb : std::uint8_t {
    select_for_share,
    select_for_update,
    update,
    remove,
    insert,
    commit,
    rollback
  };
  Verb verb = Verb::commit;
  std::size_t index = 0;
  Range range{};
  std::size_t column = 0;  // that an update adds to
  Value more = 0;
  Row row{};  // that is inserted
};
constexpr auto named(names::Of<Statement::Verb>) {
  using V = Statement::Verb;
  return names::table<V>("verb", {{"select for share", V::select_for_share},
                                  {"select for update", V::select_for_update},
                                  {"update", V::update},
                                  {"delete", V::remove},
                                  {"insert", V::insert},
                                  {"commit", V::commit},
                                  {"rollback", V::rollback}});
}

enum class State : std::uint8_t { idle, waiting };

/// A lock as performance_schema.data_locks has it, one for each record.
struct LockRow {
  std::uint32_t session = 0;
  std::int32_t index = -1;  // of the table itself: -1
  std::string mode;
  std::string data;
  bool is_waiting = false;

  bool operator==(const LockRow&) const = default;
  auto operator<=>(const LockRow&) const = default;
};
struct WaitRow {
  std::uint32_t waiting = 0;
  std::uint32_t blocking = 0;

  bool operator==(const WaitRow&) const = default;
  auto operator<=>(const WaitRow&) const = default;
};

/// A record of an index as a page has it: deleted rows stay, marked.
struct RecordRow {
  Row key;  // of a secondary index its column, then column 0
  bool is_deleted = false;

  bool operator==(const RecordRow&) const = default;
};

struct PlaygroundConfig {
  Design design = Design::mysql_9_7;
  std::vector<bool> reads_committed{false, false};  // a session each
  std::size_t columns = 1;
  std::vector<IndexDefinition> secondary{};
  std::vector<Row> rows{};
};

class Playground {
 public:
  explicit Playground(const PlaygroundConfig& config);
  ~Playground();

  /// Runs the statement until it ends or waits, and everybody whom it frees. What it came to: a name of Done, or "waits".
  /// Refuses a session that waits still.
  std::string execute(std::uint32_t session, const Statement& statement);
  /// What the last statement of a session came to by now.
  std::string result(std::uint32_t session) const;
  /// In the order of sessions, then of when each was made.
  std::vector<LockRow> locks() const;
  /// Each pair of a waiter and the one that it has to wait for.
  std::vector<WaitRow> waits() const;
  /// The one of those that a waiting session notes as its blocker; nobody in a version that notes none.
  std::optional<std::uint32_t> blocker(std::uint32_t session) const;
  /// What the version's own thread has published of a session that waits: how many wait for it, itself included. 0 in a version that
  /// does not weigh.
  std::uint64_t weight(std::uint32_t session) const;
  /// The records of an index in its order, whoever sees them. Refuses an index that is not there.
  std::vector<RecordRow> records(std::size_t index) const;

 private:
  class Inside;
  std::unique_ptr<Inside> inside_;
};

}  // namespace engineroom::lock_sys
