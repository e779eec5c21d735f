// A whole engine under a reader's switches: sysbench's read-write transactions through row locks, transaction system and redo log,
// each in an old design or a new one, on a simulated server of up to 176 CPUs.
//
// Leaves out  arguments out of range: the caller checks them. The window is as long as a reader waits for: it ends behind some
//             number of events
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "engine/clients.hpp"
#include "engine/load.hpp"
#include "machine/sim_machine.hpp"
#include "wasm/small/server.hpp"

#define ENGINEROOM_EXPORT(name) extern "C" __attribute__((export_name(name)))

namespace {

using namespace engineroom;
using namespace engineroom::engine;
using machine::SimMachine;
using SmallClients = Clients<SimMachine, OfLoad, false>;

constexpr std::uint64_t kPieceNs = 500'000;
constexpr std::uint64_t kLongestNs = 500'000'000;
// The warm-up lets each client have one transaction in the mean, the window five, and so many in all; or so many events.
constexpr std::uint64_t kTurns = 5;
constexpr std::uint64_t kFewest = 100;
constexpr std::uint64_t kWarmupEvents = 100'000;
constexpr std::uint64_t kEvents = 250'000;

Demands demands;
std::string text;

template <typename Table>
const char* names_in(const Table& table) {
  text.clear();
  for (const auto& each : table.all) {
    text += each.text;
    text += '\n';
  }
  return text.c_str();
}

/// Virtual time until so many transactions, or so many events, or the longest time.
std::uint64_t run_for(SimMachine& m, const SmallClients& clients, std::uint64_t transactions,
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

void line(const char* name, std::uint64_t value) { text += name + ("\t" + std::to_string(value)) + "\n"; }

}  // namespace

/// The address of names, each ended by a line feed, all by a zero. Good until the next call.
ENGINEROOM_EXPORT("redo_designs") const char* redo_designs() {
  return names_in(names::table_of<redo_log::Design>);
}
ENGINEROOM_EXPORT("lock_designs") const char* lock_designs() {
  return names_in(names::table_of<lock_sys::Design>);
}
ENGINEROOM_EXPORT("trx_latches") const char* trx_latches() {
  return names_in(names::table_of<transactions::Latches>);
}
ENGINEROOM_EXPORT("distributions") const char* distributions() {
  return names_in(names::table_of<Distribution>);
}
ENGINEROOM_EXPORT("statements") const char* statements() {
  text.clear();
  for (const Statement each : statements_of(LoadKind::sysbench_read_write)) {
    text += names::of(each);
    text += '\n';
  }
  return text.c_str();
}

/// What the statement at that place of statements() asks for; each needs it before the first run.
ENGINEROOM_EXPORT("demand")
void demand(std::uint32_t of_statement, std::uint32_t computing_ns, std::uint32_t mtrs_permille,
            std::uint32_t mtr_bytes) {
  const Statement statement = statements_of(LoadKind::sysbench_read_write)[of_statement];
  demands[std::string(names::of(statement))] = {
      .computing_ns = computing_ns, .mtrs_permille = mtrs_permille, .mtr_bytes = mtr_bytes};
}

/// A run; designs and distribution by their places in the lists above. Lines of a name and a number between tabs: hash, events,
/// warmup_ns, window_ns; of the window transactions, deadlocks and lock_waits; then a line per latch, event or file that was
/// waited for there: "wait", its name, how often, and the sum in ns.
ENGINEROOM_EXPORT("run")
const char* run(std::uint32_t redo, std::uint32_t locks, std::uint32_t trx_sys, std::uint32_t sockets,
                std::uint32_t cores, std::uint32_t threads, std::uint32_t clients,
                std::uint32_t distribution) {
  Parts parts;
  parts.engine.redo = names::table_of<redo_log::Design>.all[redo].value;
  parts.locks = lock_sys::config_of(names::table_of<lock_sys::Design>.all[locks].value);
  parts.trx_sys.latches = names::table_of<transactions::Latches>.all[trx_sys].value;
  parts.log = small::log_config<redo_log::LogConfig>();
  LoadConfig load;
  load.clients = clients;
  load.distribution = names::table_of<Distribution>.all[distribution].value;

  SimMachine m(small::machine_of(sockets, cores, threads));
  SimMachine::File file(m, "redo", machine::Bytes::counted);
  SmallClients all(m, file, parts, load, demands);
  all.spawn(m);
  const std::uint64_t warmup_ns = run_for(m, all, clients, kWarmupEvents);
  const machine::Totals before = m.totals();
  const Counts done_before = all.engine_counts();
  const std::uint64_t transactions_before = all.transactions();
  const std::uint64_t window_ns = run_for(m, all, std::max(kFewest, kTurns * clients), kEvents);
  const machine::Totals seen = m.totals().since(before);
  const Counts done = all.engine_counts();

  text.clear();
  line("hash", m.trace_hash());
  line("events", m.events());
  line("warmup_ns", warmup_ns);
  line("window_ns", window_ns);
  line("transactions", all.transactions() - transactions_before);
  line("deadlocks", done.deadlocks - done_before.deadlocks);
  line("lock_waits", done.lock_waits - done_before.lock_waits);
  for (std::size_t site = 0; site < seen.waits.size(); ++site) {
    const machine::Histogram& ns = seen.waits[site].ns;
    if (ns.count() == 0) continue;
    text += "wait\t" + m.names()[static_cast<std::uint32_t>(site)] + "\t" + std::to_string(ns.count()) +
            "\t" + std::to_string(ns.total()) + "\n";
  }
  return text.c_str();
}
