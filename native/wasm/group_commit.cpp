// The knobs of group commit: clients that commit with both logs on a simulated machine of 16 cores, over the redo log of 5.7.
//
// Leaves out  arguments out of range: the caller checks them
#include <array>
#include <cstdint>
#include <memory>

#include "group_commit/load.hpp"
#include "machine/sim_machine.hpp"

#define ENGINEROOM_EXPORT(name) extern "C" __attribute__((export_name(name)))

namespace {

using namespace engineroom;
using namespace engineroom::group_commit;
using machine::SimMachine;

constexpr const auto& kDesigns = names::table_of<Design>;
std::array<std::uint64_t, 9> values;

}  // namespace

/// The address of the designs' names, each ended by a line feed, all by a zero.
ENGINEROOM_EXPORT("designs")
const char* designs() {
  static std::array<char, 64> text{};
  std::size_t at = 0;
  for (const auto& [name, design] : kDesigns.all) {
    for (const char letter : name) text[at++] = letter;
    text[at++] = '\n';
  }
  return text.data();
}

/// The address of: trace hash, events, transactions, fsyncs of the redo log and of the binlog, groups in FLUSH and in SYNC, the
/// median and the 99th percentile of a transaction's time in ns. `of_design`: its place in designs().
ENGINEROOM_EXPORT("run")
const std::uint64_t* run(std::uint32_t of_design, std::uint32_t clients, std::uint32_t fsync_us,
                         std::uint32_t delay_us, std::uint32_t flush, std::uint32_t sync,
                         std::uint32_t warmup_us, std::uint32_t run_us) {
  machine::SimConfig config;
  config.cores_per_socket = 16;
  config.disk_fsync.quantiles_ps = {machine::Time{fsync_us} * 1'000'000};
  SimMachine m(config);
  SimMachine::File redo(m, "redo", machine::Bytes::counted);
  redo_log::LogConfig log;
  log.writer_threads = false;
  // Small, so that a run is made of its events and not of clearing memory.
  log.buffer_bytes = std::size_t{1} << 20;
  CommitConfig commit;
  commit.flush_log_at_trx_commit = flush;
  commit.sync_binlog = sync;
  commit.delay_us = delay_us;
  const LoadConfig load{.clients = clients,
                        .away_ns = 150'000,
                        .statement_ns = 80'000,
                        .mtrs_per_statement = 3,
                        .mtr_bytes = 150,
                        .dirty_percent = 30};
  using Made = Load<SimMachine, redo_log::Log57<SimMachine>>;
  Made made(
      m, kDesigns.all[of_design].value, commit, log, redo,
      [&m] { return std::make_unique<SimMachine::File>(m, "binlog", machine::Bytes::counted); }, load);
  made.sessions.spawn(m);
  m.run_on(std::uint64_t{warmup_us} * 1000);
  const sessions::Counts before = made.sessions.counts();
  const auto count = [&] {
    const StageCounters& stages = made.engine.counters();
    return std::array<std::uint64_t, 4>{redo.fsyncs(), made.engine.binlog().counted().fsyncs,
                                        stages.flush_groups, stages.sync_groups};
  };
  const auto counted = count();
  m.run_on(std::uint64_t{run_us} * 1000);
  const sessions::Counts after = made.sessions.counts();
  const machine::Histogram latency = after.latency_ns.since(before.latency_ns);
  values = {m.trace_hash(), m.events(), after.transactions - before.transactions};
  const auto now = count();
  for (std::size_t i = 0; i < now.size(); ++i) values[3 + i] = now[i] - counted[i];
  values[7] = latency.quantile(500);
  values[8] = latency.quantile(990);
  return values.data();
}
