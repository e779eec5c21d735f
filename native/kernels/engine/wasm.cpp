// A whole engine under a reader's switches: sysbench's read-write transactions through row locks, transaction system and redo log,
// each in an old design or a new one, with or without a binary log and a buffer pool, on a simulated server of up to 176 CPUs.
//
// Leaves out  arguments out of range: the caller checks them; purge. The window is as long as a reader waits for: it ends behind some
//             number of events
#include <algorithm>
#include <cstddef>
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
using AllClients = Clients<SimMachine>;

constexpr std::uint64_t kPieceNs = 500'000;
constexpr std::uint64_t kLongestNs = 500'000'000;
// The warm-up lets each client have one transaction in the mean, the window five, and so many in all; or so many events. A window that
// has fewer by then goes on for so many more events.
constexpr std::uint64_t kTurns = 5;
constexpr std::uint64_t kFewest = 100;
constexpr std::uint64_t kWarmupEvents = 100'000;
constexpr std::uint64_t kEvents = 250'000;
constexpr std::uint64_t kMoreEvents = 350'000;

Demands demands;

/// Virtual time until so many transactions, or so many events, or the longest time.
std::uint64_t run_for(SimMachine& m, const AllClients& clients, std::uint64_t transactions,
                      std::uint64_t events) {
  const std::uint64_t last_event = m.events() + events;
  const std::uint64_t last_transaction = clients.transactions() + transactions;
  std::uint64_t ns = 0;
  while (ns < kLongestNs && m.events() < last_event && clients.transactions() < last_transaction) {
    m.run_on(kPieceNs);
    ns += kPieceNs;
  }
  return ns;
}

/// As own-engine-pool has it, but for the warm-up, which a reader would have to wait for.
PoolConfig pool_of(std::uint64_t rows, std::uint32_t percent, PoolLatches latches) {
  PoolConfig pool{.latches = latches, .lru_scan_depth = 64};
  pool.pages =
      pages_of(Table::sbtest, rows).size() * percent / 100 + 2 * pool.instances * pool.lru_scan_depth;
  pool.warm_transactions = 1'000;
  return pool;
}

}  // namespace

/// The address of names, each ended by a line feed, all by a zero. Good until the next call.
ENGINEROOM_EXPORT("redo_designs") const char* redo_designs() { return exports::names_of<redo_log::Design>(); }
ENGINEROOM_EXPORT("lock_designs") const char* lock_designs() { return exports::names_of<lock_sys::Design>(); }
ENGINEROOM_EXPORT("trx_latches") const char* trx_latches() {
  return exports::names_of<transactions::Latches>();
}
ENGINEROOM_EXPORT("binlogs") const char* binlogs() { return exports::names_of<Binlog>(); }
ENGINEROOM_EXPORT("pool_latches") const char* pool_latches() { return exports::names_of<PoolLatches>(); }
ENGINEROOM_EXPORT("distributions") const char* distributions() { return exports::names_of<Distribution>(); }
ENGINEROOM_EXPORT("statements") const char* statements() {
  return exports::names_of(statements_of(LoadKind::sysbench_read_write), names::of<Statement>);
}

/// What the statement at that place of statements() asks for; each needs it before the first run.
ENGINEROOM_EXPORT("demand")
void demand(std::uint32_t of_statement, std::uint32_t computing_ns, std::uint32_t mtrs_permille,
            std::uint32_t mtr_bytes) {
  const Statement statement = statements_of(LoadKind::sysbench_read_write)[of_statement];
  demands[std::string(names::of(statement))] = {
      .computing_ns = computing_ns, .mtrs_permille = mtrs_permille, .mtr_bytes = mtr_bytes};
}

/// A run; designs, latches and distribution by their places in the lists above. The buffer pool holds so many percent of the table's
/// pages; 0: there is none, and all pages are there. Lines of a name and a number between tabs: hash, events, warmup_ns, window_ns;
/// of the window transactions, is_short (1: fewer of them than it should have), deadlocks, lock_waits, commits, sync_groups, and
/// pool_misses; then a line per latch, event or file that was waited for there: "wait", its name, how often, and the sum in ns.
ENGINEROOM_EXPORT("run")
const char* run(std::uint32_t redo, std::uint32_t locks, std::uint32_t trx_sys, std::uint32_t sockets,
                std::uint32_t cores, std::uint32_t threads, std::uint32_t clients, std::uint32_t distribution,
                std::uint32_t binlog, std::uint32_t pool_percent, std::uint32_t latches_of_pool) {
  Parts parts;
  parts.engine.redo = exports::at<redo_log::Design>(redo);
  parts.locks = lock_sys::config_of(exports::at<lock_sys::Design>(locks));
  parts.trx_sys.latches = exports::at<transactions::Latches>(trx_sys);
  parts.log = small::log_config<redo_log::LogConfig>();
  LoadConfig load{.clients = clients, .distribution = exports::at<Distribution>(distribution)};
  parts.engine.binlog = exports::at<Binlog>(binlog);
  parts.engine.has_buffer_pool = pool_percent > 0;
  if (parts.engine.has_buffer_pool)
    parts.pool = pool_of(load.rows, pool_percent, exports::at<PoolLatches>(latches_of_pool));

  SimMachine m(small::machine_of(sockets, cores, threads));
  SimMachine::File file(m, "redo", machine::Bytes::counted);
  const auto new_binlog = [&m] {
    return std::make_unique<SimMachine::File>(m, "binlog", machine::Bytes::counted);
  };
  AllClients all(m, file, parts, load, demands, 1, new_binlog);
  all.spawn(m);
  const std::uint64_t warmup_ns = run_for(m, all, clients, kWarmupEvents);
  const machine::Totals before = m.totals();
  const Counts done_before = all.engine_counts();
  const BinlogCounts binlog_before = all.engine().binlog_counts();
  const PoolCounts pool_before = all.engine().pool_counts();
  const std::uint64_t transactions_before = all.transactions();
  std::uint64_t window_ns = run_for(m, all, std::max(kFewest, kTurns * clients), kEvents);
  if (const std::uint64_t seen = all.transactions() - transactions_before; seen < kFewest)
    window_ns += run_for(m, all, kFewest - seen, kMoreEvents);
  const std::uint64_t transactions = all.transactions() - transactions_before;
  const machine::Totals seen = m.totals().since(before);
  const Counts done = all.engine_counts();

  text.clear();
  line("hash", m.trace_hash());
  line("events", m.events());
  line("warmup_ns", warmup_ns);
  line("window_ns", window_ns);
  line("transactions", transactions);
  line("is_short", transactions < kFewest ? 1 : 0);
  line("deadlocks", done.deadlocks - done_before.deadlocks);
  line("lock_waits", done.lock_waits - done_before.lock_waits);
  line("commits", done.commits - done_before.commits);
  line("sync_groups", all.engine().binlog_counts().sync_groups - binlog_before.sync_groups);
  line("pool_misses", all.engine().pool_counts().misses - pool_before.misses);
  for (std::size_t site = 0; site < seen.waits.size(); ++site) {
    const machine::Histogram& ns = seen.waits[site].ns;
    if (ns.count() == 0) continue;
    text += "wait\t" + m.names()[static_cast<std::uint32_t>(site)] + "\t" + std::to_string(ns.count()) +
            "\t" + std::to_string(ns.total()) + "\n";
  }
  return text.c_str();
}
