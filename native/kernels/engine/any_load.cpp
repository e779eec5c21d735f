#include "engine/any_load.hpp"

#include "engine/clients.hpp"

namespace engineroom::engine {

namespace {

using machine::SimMachine;
using sessions::EngineCounts;

template <typename Drawn>
class Simulated final : public sessions::SessionsOf<SimMachine, Clients<SimMachine, Drawn>> {
 public:
  /// `drawn`: the demands of a load, or a mix.
  template <typename Given>
  Simulated(SimMachine& m, SimMachine::File& redo, const Parts& parts, const LoadConfig& load,
            const Given& drawn, std::uint64_t seed)
      : sessions::SessionsOf<SimMachine, Clients<SimMachine, Drawn>>(clients_),
        redo_(redo),
        clients_(m, redo, parts, load, drawn, seed,
                 [&m] { return std::make_unique<SimMachine::File>(m, "binlog", machine::Bytes::counted); }) {}

  EngineCounts engine_counts() const override {
    const Counts done = clients_.engine_counts();
    const lock_sys::Latched latched = clients_.latched();
    const lock_sys::LockCounts locked = clients_.engine().lock_counts();
    const transactions::TrxSysCounters& ids = clients_.engine().trx_sys_counters();
    const PurgeCounts purge = clients_.engine().purge_counts();
    const BinlogCounts binlog = clients_.engine().binlog_counts();
    const PoolCounts pool = clients_.engine().pool_counts();
    EngineCounts counts = sessions::file_counts(redo_);
    counts.insert(counts.end(), {{"begun", done.begun},
                                 {"commits", done.commits},
                                 {"rolled_back", done.rolled_back},
                                 {"new_orders", done.new_orders},
                                 {"deadlocks", done.deadlocks},
                                 {"timeouts", done.timeouts},
                                 {"changes", done.changes},
                                 {"undone", done.undone},
                                 {"dirtied", clients_.engine().dirtied()},
                                 {"lock_waits", done.lock_waits},
                                 {"lock_wait_ns", done.lock_wait_ns},
                                 {"false_positives", locked.false_positives},
                                 {"rounds", locked.rounds},
                                 {"trx_mutex", ids.mutex},
                                 {"trx_serialisation", ids.serialisation},
                                 {"trx_shards", ids.shards},
                                 {"lock_global", latched.global},
                                 {"lock_pages", latched.pages},
                                 {"lock_tables", latched.tables},
                                 {"purge_committed", purge.committed},
                                 {"purge_removed", purge.removed},
                                 {"purge_rows", purge.rows},
                                 {"purge_batches", purge.batches},
                                 {"purge_latches", purge.latches},
                                 {"binlog_fsyncs", binlog.fsyncs},
                                 {"binlog_writes", binlog.writes},
                                 {"binlog_bytes", binlog.written_bytes},
                                 {"flush_groups", binlog.flush_groups},
                                 {"sync_groups", binlog.sync_groups},
                                 {"commit_groups", binlog.commit_groups},
                                 {"pool_gets", pool.gets},
                                 {"pool_misses", pool.misses},
                                 {"pool_reads", pool.reads},
                                 {"pool_writes", pool.writes},
                                 {"pool_user_writes", pool.user_writes},
                                 {"pool_evicted", pool.evicted},
                                 {"pool_made_young", pool.made_young},
                                 {"pool_free_waits", pool.free_waits}});
    return counts;
  }
  EngineCounts states() const override {
    const PurgeCounts purge = clients_.engine().purge_counts();
    return {{"most_waiting", clients_.engine().lock_counts().most_waiting},
            {"history_length", purge.committed - purge.removed}};
  }

 private:
  const SimMachine::File& redo_;
  Clients<SimMachine, Drawn> clients_;
};

}  // namespace

AnyLoad any_load(SimMachine& m, SimMachine::File& redo, const Parts& parts, const LoadConfig& load,
                 const Demands& demands, std::uint64_t seed) {
  return std::make_unique<Simulated<OfLoad>>(m, redo, parts, load, demands, seed);
}
AnyLoad any_load(SimMachine& m, SimMachine::File& redo, const Parts& parts, const LoadConfig& load,
                 const Mix& mix, std::uint64_t seed) {
  return std::make_unique<Simulated<Mix>>(m, redo, parts, load, mix, seed);
}

}  // namespace engineroom::engine
