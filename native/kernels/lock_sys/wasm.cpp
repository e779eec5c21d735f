// A small table and two sessions under a reader's hands: native/kernels/lock_sys/playground, one statement after the other.
//
// Leaves out  arguments out of range, and statements of a session that waits: the caller checks them
#include <cstdint>
#include <memory>
#include <string>

#include "lock_sys/playground.hpp"
#include "wasm/exports.hpp"

namespace {

using namespace engineroom;
using namespace engineroom::lock_sys;
using exports::text;

constexpr std::uint32_t kSessions = 2;

// Bits of `bounds`: which ends of a range there are, and which of them belong to it.
constexpr std::uint32_t kHasLow = 1, kHasHigh = 2, kWithLow = 4, kWithHigh = 8;

std::unique_ptr<Playground> playground;

std::string number(std::int64_t value) { return std::to_string(value); }

}  // namespace

/// The address of names, each ended by a line feed, all by a zero. Good until the next call.
ENGINEROOM_EXPORT("designs") const char* designs() { return exports::names_of<Design>(); }
ENGINEROOM_EXPORT("verbs") const char* verbs() { return exports::names_of<Statement::Verb>(); }

/// The table anew: t(id, k, v) with an index on k, which is not unique. `of_design`: its place in designs().
/// `reads_committed`: whether both sessions do.
ENGINEROOM_EXPORT("create") void create(std::uint32_t of_design, std::uint32_t reads_committed) {
  PlaygroundConfig config{.design = exports::at<Design>(of_design)};
  config.reads_committed.assign(kSessions, reads_committed != 0);
  config.columns = 3;
  config.secondary = {{.column = 1, .is_unique = false}};
  config.rows = {{10, 1, 0}, {20, 1, 0}, {30, 5, 0}};
  playground = std::make_unique<Playground>(config);
}

/// One statement of a session that does not wait. `of_verb`: its place in verbs(). `more` is added to `column` by an
/// update; `id`, `k` and `v` are the row of an insert.
ENGINEROOM_EXPORT("execute")
void execute(std::uint32_t session, std::uint32_t of_verb, std::uint32_t index, std::uint32_t bounds,
             std::int32_t low, std::int32_t high, std::uint32_t column, std::int32_t more, std::int32_t id,
             std::int32_t k, std::int32_t v) {
  Statement statement;
  statement.verb = exports::at<Statement::Verb>(of_verb);
  statement.index = index;
  if ((bounds & kHasLow) != 0) statement.range.low = low;
  if ((bounds & kHasHigh) != 0) statement.range.high = high;
  statement.range.has_low = (bounds & kWithLow) != 0;
  statement.range.has_high = (bounds & kWithHigh) != 0;
  statement.column = column;
  statement.more = more;
  if (statement.verb == Statement::Verb::insert) statement.row = {id, k, v};
  playground->execute(session, statement);
}

/// What there is now, a line each, its parts between tabs: "result" with session and word; "wait" with the waiting session and its
/// blocker; "record" with index, whether it is deleted, and key; "lock" with session, index, whether it waits, mode and data.
ENGINEROOM_EXPORT("state") const char* state() {
  text.clear();
  for (std::uint32_t session = 0; session < kSessions; ++session) {
    text += "result\t" + number(session) + "\t" + playground->result(session) + "\n";
  }
  for (const WaitRow& row : playground->waits()) {
    text += "wait\t" + number(row.waiting) + "\t" + number(row.blocking) + "\n";
  }
  for (std::size_t index = 0; index < 2; ++index) {
    for (const RecordRow& row : playground->records(index)) {
      text += "record\t" + number(static_cast<std::int64_t>(index)) + "\t" + number(row.is_deleted) + "\t";
      for (const Value value : row.key) text += (text.back() == '\t' ? "" : ", ") + number(value);
      text += '\n';
    }
  }
  for (const LockRow& row : playground->locks()) {
    text += "lock\t" + number(row.session) + "\t" + number(row.index) + "\t" + number(row.is_waiting) + "\t" +
            row.mode + "\t" + row.data + "\n";
  }
  return text.c_str();
}
