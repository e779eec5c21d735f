// The order in which waiters get a row, in a whole engine: transactions of sysbench or TPC-C under one policy, piece by piece, so that
// a page can show how far it is.
//
// The engine is the one of the chapter's figures: sharded lock system and transaction system, the redo log of 8.0, 176 CPUs.
//
// Leaves out  arguments out of range: the caller checks them. Warm-up and window end behind some number of events where they would take
//             long
#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <string>

#include "engine/clients.hpp"
#include "engine/load.hpp"
#include "machine/sim_machine.hpp"
#include "wasm/exports.hpp"
#include "wasm/small/server.hpp"

namespace {

using namespace engineroom;
using namespace engineroom::engine;
using exports::line;
using exports::text;
using machine::SimMachine;

constexpr std::uint64_t kPieceNs = 500'000;
constexpr std::uint64_t kWarmupNs = 100'000'000;
constexpr std::uint64_t kWindowNs = 200'000'000;
constexpr std::uint64_t kWarmupEvents = 600'000;
constexpr std::uint64_t kWindowEvents = 1'200'000;

/// A stretch of virtual time that ends behind so many ns or events.
struct Stretch {
  std::uint64_t most_ns;
  std::uint64_t most_events;
  std::uint64_t ns = 0;
  std::uint64_t events = 0;

  bool has_ended() const { return ns >= most_ns || events >= most_events; }
  void run_on(SimMachine& m) {
    const std::uint64_t before = m.events();
    m.run_on(kPieceNs);
    ns += kPieceNs;
    events += m.events() - before;
  }
  /// How much of it is over, in thousandths.
  std::uint64_t permille() const {
    return std::min<std::uint64_t>(1000, std::max(1000 * ns / most_ns, 1000 * events / most_events));
  }
};

struct Run {
  SimMachine m;
  SimMachine::File file;
  Clients<SimMachine, OfLoad, false> clients;
  Stretch warmup{kWarmupNs, kWarmupEvents};
  Stretch window{kWindowNs, kWindowEvents};
  Counts done_before{};
  std::uint64_t transactions_before = 0;

  Run(const machine::SimConfig& machine, const Parts& parts, const LoadConfig& load, const Demands& demands,
      std::uint64_t seed)
      : m(machine), file(m, "redo", machine::Bytes::counted), clients(m, file, parts, load, demands, seed) {
    clients.spawn(m);
  }
  void run_on() {
    Stretch& now = warmup.has_ended() ? window : warmup;
    now.run_on(m);
    if (&now == &window || !warmup.has_ended()) return;
    done_before = clients.engine_counts();
    transactions_before = clients.transactions();
  }
};

std::array<Demands, names::table_of<LoadKind>.all.size()> demands_of;
std::unique_ptr<Run> under_way;

}  // namespace

/// The address of names, each ended by a line feed, all by a zero. Good until the next call.
ENGINEROOM_EXPORT("policies") const char* policies() { return exports::names_of<lock_sys::Policy>(); }
ENGINEROOM_EXPORT("distributions") const char* distributions() { return exports::names_of<Distribution>(); }
ENGINEROOM_EXPORT("kinds") const char* kinds() { return exports::names_of<LoadKind>(); }
/// Of a load, by its place in kinds().
ENGINEROOM_EXPORT("statements") const char* statements(std::uint32_t kind) {
  return exports::names_of(statements_of(exports::at<LoadKind>(kind)), names::of<Statement>);
}

/// What the statement at that place of statements(kind) asks for; each needs it before the first run of its load.
ENGINEROOM_EXPORT("demand")
void demand(std::uint32_t kind, std::uint32_t of_statement, std::uint32_t computing_ns,
            std::uint32_t mtrs_permille, std::uint32_t mtr_bytes) {
  const Statement statement = statements_of(exports::at<LoadKind>(kind))[of_statement];
  demands_of[kind][std::string(names::of(statement))] = {
      .computing_ns = computing_ns, .mtrs_permille = mtrs_permille, .mtr_bytes = mtr_bytes};
}

/// Begins a run, and gives up the one before; policy, kind and distribution by their places in the lists above. Rows and distribution
/// are sysbench's, warehouses are TPC-C's.
ENGINEROOM_EXPORT("start")
void start(std::uint32_t policy, std::uint32_t kind, std::uint32_t distribution, std::uint32_t rows,
           std::uint32_t warehouses, std::uint32_t away_ns, std::uint32_t clients, std::uint32_t print_us,
           std::uint32_t seed) {
  Parts parts;
  parts.engine.redo = redo_log::Design::log_8_0;
  parts.locks = lock_sys::config_of(lock_sys::Design::mysql_9_7);
  parts.locks.policy = exports::at<lock_sys::Policy>(policy);
  parts.locks.print_ns = std::uint64_t{1000} * print_us;
  parts.trx_sys.latches = transactions::Latches::sharded;
  parts.log = small::log_config<redo_log::LogConfig>();
  LoadConfig load{.kind = exports::at<LoadKind>(kind),
                  .clients = clients,
                  .away_ns = away_ns,
                  .rows = rows,
                  .distribution = exports::at<Distribution>(distribution),
                  .warehouses = warehouses};
  machine::SimConfig machine = small::machine_of(4, 22, 2);
  machine.seed = seed;
  under_way.reset();
  under_way = std::make_unique<Run>(machine, parts, load, demands_of[kind], seed);
}

/// At least so many events further, or to its end. How much of the run is over, in thousandths: 1000 at the end.
ENGINEROOM_EXPORT("advance") std::uint32_t advance(std::uint32_t events) {
  Run& run = *under_way;
  const std::uint64_t last = run.m.events() + events;
  while (run.m.events() < last && !run.window.has_ended()) run.run_on();
  if (run.window.has_ended()) return 1000;
  const std::uint64_t over = kWarmupNs * run.warmup.permille() + kWindowNs * run.window.permille();
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(999, over / (kWarmupNs + kWindowNs)));
}

/// Of the run so far, a line each of a name and a number between a tab: hash, events, warmup_ns, window_ns; of the window
/// transactions, deadlocks, lock_waits.
ENGINEROOM_EXPORT("seen") const char* seen() {
  const Run& run = *under_way;
  const Counts done = run.clients.engine_counts();
  text.clear();
  line("hash", run.m.trace_hash());
  line("events", run.m.events());
  line("warmup_ns", run.warmup.ns);
  line("window_ns", run.window.ns);
  line("transactions", run.clients.transactions() - run.transactions_before);
  line("deadlocks", done.deadlocks - run.done_before.deadlocks);
  line("lock_waits", done.lock_waits - run.done_before.lock_waits);
  return text.c_str();
}
