// One row, a few writers and a reader: which version a read shows, and by which rule each was shown or passed over.
//
// What happens is run through the chapter's transaction system and row on the simulated machine, one call at a time, so
// that ids, numbers, the view and what is found are theirs. Only the name of the rule is made here; it is held against the view.
//
// Leaves out  arguments out of range: the caller checks them
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "machine/sim_machine.hpp"
#include "read_views/isolation.hpp"
#include "read_views/versions.hpp"
#include "transactions/trx_sys.hpp"
#include "wasm/exports.hpp"

namespace {

using namespace engineroom;
using exports::line;
using exports::text;
using machine::SimMachine;
using machine::Task;
using read_views::Found;
using read_views::Isolation;
using read_views::Row;
using read_views::Version;
using transactions::ReadView;
using transactions::Trx;
using transactions::TrxId;
using transactions::TrxSys;

constexpr std::string_view kSessions = "ABCDR";  // R: the reader
constexpr char kLoader = 'L';

/// Events in pairs: what, and who. b: begins to write, here or elsewhere; w: changes the row; x: deletes it; c: commits.
struct History {
  const char* name;
  bool is_loaded;  // the row is there from the beginning
  std::string_view events;
};
constexpr std::array<History, 4> kHistories{{
    {"one after the other", true, "bAwAcAbBwBcBbCwCcCbDwD"},
    {"begun early, changed late", true, "bAbBwBcBbCwCcCwAcAbDwD"},
    {"inserted, deleted, inserted again", false, "bAwAcAbBwBcBbCxCcCbDwD"},
    {"the reader changes it, too", true, "bAbCwAcAbBwBcBcCbDbRwR"},
}};

/// Which of the four rules of changes_visible decides; 0 where nobody was asked.
enum Rule : std::uint32_t { none, older_than_all, own, later, among_ids };

Rule rule_of(const ReadView& view, TrxId id) {
  if (id < view.up_limit_id) return older_than_all;
  if (id == view.creator_id) return own;
  return id >= view.low_limit_id ? later : among_ids;
}
/// What the rule alone says; the last one says either.
void check(Rule rule, bool is_shown) {
  const bool is_wrong = (rule == later) ? is_shown : (rule != among_ids && !is_shown);
  if (is_wrong) __builtin_trap();
}

struct World {
  SimMachine m{machine::SimConfig{}};
  TrxSys<SimMachine> trx_sys{m, {}};
  Row<SimMachine> row{m, 0};
  Version* newest = nullptr;
  std::array<Trx<SimMachine>, kSessions.size()> trxs{};

  Trx<SimMachine>& of(char session) { return trxs[kSessions.find(session)]; }

  template <typename Call>
  void run(const Call& call) {
    m.spawn("session", call);
    m.run();
  }
  void change(Trx<SimMachine>& trx, std::uint64_t value, bool is_deleted) {
    run([&]() -> Task<> { newest = co_await row.change(m, trx.id, value, is_deleted); });
  }
  void look(Isolation isolation, Found& found) {
    Trx<SimMachine>& reader = of('R');
    run([&]() -> Task<> {
      if (isolation == Isolation::read_uncommitted) {
        found = co_await row.read_newest(m);
        co_return;
      }
      co_await trx_sys.open_view(m, reader);
      found = co_await row.read(m, *reader.view);
    });
  }
};

}  // namespace

/// The address of names, each ended by a line feed, all by a zero. Good until the next call.
ENGINEROOM_EXPORT("histories") const char* histories() {
  return exports::names_of(kHistories, [](const History& each) { return each.name; });
}

/// The reader reads once after `moment` events and once at the end; what the second read does is told, a line each, numbers between
/// tabs: "event" with what and who (as letters' codes), id and number of the transaction by then; "view" with low_limit_id,
/// up_limit_id, creator_id, low_limit_no and the ids, where there is a view; "version", newest first, with writer (as a code), its id, value,
/// whether it is deleted, rule and whether it is shown; "found" with whether the row is there, its value, and versions built;
/// "counter" with the counter.
/// `level`: 0 READ UNCOMMITTED, 1 READ COMMITTED, 2 REPEATABLE READ.
ENGINEROOM_EXPORT("run")
const char* run(std::uint32_t of_history, std::uint32_t level, std::uint32_t moment) {
  const History& history = kHistories[of_history];
  const auto isolation = static_cast<Isolation>(level);
  World world;
  SimMachine& m = world.m;
  text.clear();

  std::uint64_t value = 0;
  std::vector<char> writers;  // of the versions, oldest first
  if (history.is_loaded) {
    Trx<SimMachine> loader;
    world.run([&] { return world.trx_sys.become_read_write(m, loader); });
    world.change(loader, value += 10, false);
    world.run([&] { return world.trx_sys.commit(m, loader); });
    writers.push_back(kLoader);
  }
  world.run([&] { return world.trx_sys.begin(m, world.of('R'), false); });
  for (std::uint32_t at = 0; 2 * at <= history.events.size(); ++at) {
    if (at == moment) {
      Found first;
      world.look(isolation, first);
      if (isolation == Isolation::read_committed) {
        world.run([&] { return world.trx_sys.drop_view(m, world.of('R')); });
      }
    }
    if (2 * at == history.events.size()) break;
    const char what = history.events[2 * at];
    const char who = history.events[2 * at + 1];
    Trx<SimMachine>& trx = world.of(who);
    if (what == 'b') {
      world.run([&] { return world.trx_sys.become_read_write(m, trx); });
    } else if (what == 'c') {
      world.run([&] { return world.trx_sys.commit(m, trx); });
    } else {
      world.change(trx, value += 10, what == 'x');
      writers.push_back(who);
    }
    line("event", static_cast<int>(what), static_cast<int>(who), trx.id, trx.no);
  }

  Found found;
  world.look(isolation, found);
  const ReadView* view = isolation == Isolation::read_uncommitted ? nullptr : world.of('R').view;
  if (view != nullptr) {
    line("view", view->low_limit_id, view->up_limit_id, view->creator_id, view->low_limit_no);
    text.pop_back();
    for (const TrxId id : view->ids) (text += '\t') += std::to_string(id);
    text += '\n';
  }
  bool is_decided = false;
  std::uint64_t built = 0;
  std::size_t left = writers.size();
  for (const Version* version = world.newest; version != nullptr; version = version->older) {
    Rule rule = none;
    bool is_shown = false;
    if (view == nullptr) {
      is_shown = !is_decided;
    } else if (!is_decided) {
      rule = rule_of(*view, version->writer);
      is_shown = view->changes_visible(version->writer);
      check(rule, is_shown);
      if (!is_shown && !version->is_first) ++built;
    }
    is_decided = is_decided || is_shown;
    line("version", static_cast<int>(writers[--left]), version->writer, version->value,
         static_cast<int>(version->is_deleted), static_cast<std::uint32_t>(rule), static_cast<int>(is_shown));
  }
  if (built != found.steps) __builtin_trap();
  line("found", static_cast<int>(found.is_there), found.value, found.steps);
  line("counter", world.trx_sys.counter(m));
  return text.c_str();
}
