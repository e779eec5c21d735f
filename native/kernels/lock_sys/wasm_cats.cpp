// Up to six sessions that queue for rows and commit: who waits for whom, how heavy each waiter is, and who is granted first.
//
// What happens is run through the chapter's lock system, native/kernels/lock_sys/playground, one statement after the other. Here is only
// what the sessions do.
//
// Leaves out  arguments out of range: the caller checks them
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "lock_sys/playground.hpp"
#include "wasm/exports.hpp"

namespace {

using namespace engineroom;
using namespace engineroom::lock_sys;
using exports::line;
using exports::text;
using Verb = Statement::Verb;

constexpr std::uint32_t kSessions = 6;
constexpr std::array kDesigns{Design::mysql_5_7, Design::mysql_9_7};
constexpr Value key_of(char row) { return 10 * (row - 'A' + 1); }

/// Statements of three letters: w changes a row, s reads it for sharing, c commits; the session, from 1; the row. What a session cannot do,
/// since it waits or was rolled back, is left out. At the end whoever is waited for commits, the lowest first, until nobody waits.
struct History {
  const char* name;
  std::string_view statements;
};
constexpr std::array<History, 4> kHistories{{
    {"who holds up most", "w1Aw2Bw5Aw2Aw3Bw4Bc1 "},
    {"readers and a writer", "w1Aw4Bs2Aw4As3Aw5Bw6Bc1 "},
    {"a deadlock", "w1Aw2Bw3Aw4Bw5Bw1Bw2A"},
    {"passed by too often", "w1Aw5Aw2Bw2Aw3Bc1 w4Cw4Aw6Cc2 c3 w2Bw2Aw3Bc4 c6 w4Cw4Aw6Cc2 c3 w2Bw2Aw3Bc4 "},
}};

struct World {
  Playground table;
  std::array<bool, kSessions> is_open{};

  explicit World(Design design)
      : table({.design = design,
               .reads_committed = std::vector<bool>(kSessions, true),
               .columns = 2,
               .rows = {{key_of('A'), 0}, {key_of('B'), 0}, {key_of('C'), 0}}}) {}

  bool waits(std::uint32_t session) const { return table.result(session) == "waits"; }
  bool can(char what, std::uint32_t session) const {
    return !waits(session) && (what != 'c' || is_open[session]);
  }

  /// Runs it and tells it: "event" with what, session, row as codes, whether it waits; then "granted" and "victim" with those whose wait it
  /// ended, a line each.
  void run(char what, std::uint32_t session, char row) {
    std::array<bool, kSessions> waited{};
    for (std::uint32_t i = 0; i < kSessions; ++i) waited[i] = waits(i);
    Statement statement;
    statement.verb = what == 'w' ? Verb::update : what == 's' ? Verb::select_for_share : Verb::commit;
    if (what != 'c')
      statement.range = {.low = key_of(row), .high = key_of(row), .has_low = true, .has_high = true};
    statement.column = 1;
    statement.more = 1;
    table.execute(session, statement);
    is_open[session] = what != 'c';
    line("event", static_cast<int>(what), session, static_cast<int>(row), static_cast<int>(waits(session)));
    for (std::uint32_t i = 0; i < kSessions; ++i) {
      if (!waited[i] && i != session) continue;
      const std::string result = table.result(i);
      if (result == "deadlock") is_open[i] = false;
      if (result == "deadlock" && (waited[i] || i == session)) line("victim", i);
      if (waited[i] && result == "ok") line("granted", i);
    }
  }
  /// The lowest for whom somebody waits and who does not wait; kSessions when there is none.
  std::uint32_t next() const {
    std::uint32_t lowest = kSessions;
    for (const WaitRow& row : table.waits()) {
      if (!waits(row.blocking)) lowest = std::min(lowest, row.blocking);
    }
    return lowest;
  }
  /// "session" with its number, whether it has begun, whether it waits, weight, and its blocker + 1 or 0; "wait" with waiting and blocking;
  /// "lock" with session, row as a code, whether it is shared, whether it waits.
  void tell() const {
    for (std::uint32_t i = 0; i < kSessions; ++i) {
      const auto blocker = table.blocker(i);
      line("session", i, static_cast<int>(is_open[i]), static_cast<int>(waits(i)), table.weight(i),
           blocker ? *blocker + 1 : 0);
    }
    for (const WaitRow& row : table.waits()) line("wait", row.waiting, row.blocking);
    for (const LockRow& lock : table.locks()) {
      if (lock.index != 0) continue;
      const int row = 'A' + (lock.data[0] - '1');
      line("lock", lock.session, row, static_cast<int>(lock.mode[0] == 'S'),
           static_cast<int>(lock.is_waiting));
    }
  }
};

}  // namespace

/// The address of names, each ended by a line feed, all by a zero. Good until the next call.
ENGINEROOM_EXPORT("histories") const char* histories() {
  return exports::names_of(kHistories, [](const History& each) { return each.name; });
}

/// The whole history, a line for each event and what it did, and behind event `step` what there is then. `of_design`: 0 is 5.7, 1 is 9.7.
/// A step beyond the last event shows the end.
ENGINEROOM_EXPORT("run")
const char* run(std::uint32_t of_history, std::uint32_t of_design, std::uint32_t step) {
  const std::string_view statements = kHistories[of_history].statements;
  World world(kDesigns[of_design]);
  text.clear();
  std::uint32_t done = 0;
  bool is_told = false;
  const auto look = [&](bool is_end) {
    if (is_told || (done != step && !is_end)) return;
    world.tell();
    is_told = true;
  };
  const auto happen = [&](char what, std::uint32_t session, char row) {
    look(false);
    world.run(what, session, row);
    ++done;
  };
  for (std::size_t at = 0; at < statements.size(); at += 3) {
    const auto session = static_cast<std::uint32_t>(statements[at + 1] - '1');
    if (world.can(statements[at], session)) happen(statements[at], session, statements[at + 2]);
  }
  for (std::uint32_t next = world.next(); next < kSessions; next = world.next()) happen('c', next, ' ');
  look(true);
  return text.c_str();
}
