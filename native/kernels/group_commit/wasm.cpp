// Group commit in the browser: clients that commit with both logs on a simulated machine of 16 cores, over the redo log of 5.7;
// what comes of many, and what happens to a few, step by step. One module for both, since they are the same code.
//
// Leaves out  arguments out of range: the caller checks them
#include <array>
#include <cstdint>
#include <memory>

#include "group_commit/load.hpp"
#include "group_commit/recorder.hpp"
#include "machine/sim_machine.hpp"
#include "wasm/exports.hpp"

namespace {

using namespace engineroom;
using namespace engineroom::group_commit;
using machine::SimMachine;

std::array<std::uint64_t, 9> values;
std::vector<std::uint64_t> happenings;

/// A run that has not begun.
class Run {
 public:
  Run(std::uint32_t of_design, const CommitConfig& commit, std::uint32_t fsync_us, const LoadConfig& load,
      std::uint64_t seed, std::vector<Happened>* noted)
      : m_(machine_of(fsync_us, seed)),
        redo_(m_, "redo", machine::Bytes::counted),
        made_(
            m_, exports::at<Design>(of_design), commit, log_config(), redo_,
            [this] { return std::make_unique<SimMachine::File>(m_, "binlog", machine::Bytes::counted); },
            load, Recorder<SimMachine>(&m_, noted)) {
    made_.sessions.spawn(m_);
  }
  SimMachine& m() { return m_; }
  const SimMachine::File& redo() const { return redo_; }
  Load<SimMachine, redo_log::Log57<SimMachine>, Recorder<SimMachine>>& made() { return made_; }

 private:
  static machine::SimConfig machine_of(std::uint32_t fsync_us, std::uint64_t seed) {
    return {.cores_per_socket = 16,
            .disk_fsync = {.quantiles_ps = {machine::Time{fsync_us} * 1'000'000}},
            .seed = seed};
  }
  static redo_log::LogConfig log_config() {
    redo_log::LogConfig log{.writer_threads = false};
    // Small, so that a run is made of its events and not of clearing memory.
    log.buffer_bytes = std::size_t{1} << 20;
    return log;
  }

  SimMachine m_;
  SimMachine::File redo_;
  Load<SimMachine, redo_log::Log57<SimMachine>, Recorder<SimMachine>> made_;
};

LoadConfig load_of(std::uint32_t clients) {
  return {.clients = clients,
          .away_ns = 150'000,
          .statement_ns = 80'000,
          .mtrs_per_statement = 3,
          .mtr_bytes = 150,
          .dirty_percent = 30};
}

}  // namespace

/// The address of the designs' names, each ended by a line feed, all by a zero.
ENGINEROOM_EXPORT("designs") const char* designs() { return exports::names_of<Design>(); }

/// The address of: trace hash, events, transactions, fsyncs of the redo log and of the binlog, groups in FLUSH and in SYNC, the
/// median and the 99th percentile of a transaction's time in ns. `of_design`: its place in designs().
ENGINEROOM_EXPORT("run")
const std::uint64_t* run(std::uint32_t of_design, std::uint32_t clients, std::uint32_t fsync_us,
                         std::uint32_t delay_us, std::uint32_t flush, std::uint32_t sync,
                         std::uint32_t warmup_us, std::uint32_t run_us) {
  CommitConfig commit{.sync_binlog = sync, .flush_log_at_trx_commit = flush, .delay_us = delay_us};
  Run all(of_design, commit, fsync_us, load_of(clients), 1, nullptr);
  SimMachine& m = all.m();
  const SimMachine::File& redo = all.redo();
  auto& made = all.made();
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

/// What happens in the first `run_us` when each commit is durable in both logs. The address of: how many there are, and of each
/// the time in ns, the place in Happening, the place in Stage (for leads, ends, follows, delays) or Step, and a bit for each
/// transaction, counted from 1 on; of 63 at most.
ENGINEROOM_EXPORT("trace")
const std::uint64_t* trace(std::uint32_t of_design, std::uint32_t clients, std::uint32_t fsync_us,
                           std::uint32_t delay_us, std::uint32_t transactions, std::uint32_t seed,
                           std::uint32_t run_us) {
  CommitConfig commit{.delay_us = delay_us};
  LoadConfig load = load_of(clients);
  load.transactions = transactions;
  std::vector<Happened> noted;
  Run all(of_design, commit, fsync_us, load, seed, &noted);
  all.m().run_on(std::uint64_t{run_us} * 1000);
  happenings = {noted.size()};
  for (const Happened& one : noted) {
    std::uint64_t who = 0;
    for (const std::uint64_t xid : one.xids) who |= std::uint64_t{1} << (xid & 63);
    happenings.insert(happenings.end(), {one.ns, static_cast<std::uint64_t>(one.what), one.which, who});
  }
  return happenings.data();
}
