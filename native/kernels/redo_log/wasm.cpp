// The redo log's knobs: clients over one of the logs on a simulated machine.
//
// Leaves out  arguments out of range: the caller checks them
#include <array>
#include <cstdint>

#include "machine/sim_machine.hpp"
#include "redo_log/engine.hpp"
#include "wasm/exports.hpp"

namespace {

using namespace engineroom;
using machine::Purpose;
using machine::SimMachine;

constexpr std::size_t kValues = 11;
std::array<std::uint64_t, kValues> values;

using Times = std::array<std::uint64_t, 6>;
/// The time of all cores: work, memory, spin, switching, I/O wait, idle.
Times core_times(SimMachine& m) {
  constexpr Purpose kShown[] = {Purpose::work,      Purpose::memory,  Purpose::spin,
                                Purpose::switching, Purpose::io_wait, Purpose::idle};
  Times all{};
  for (machine::CoreTime& core : m.core_times()) {
    for (std::size_t i = 0; i < all.size(); ++i) all[i] += core[kShown[i]];
  }
  return all;
}

}  // namespace

/// The address of the designs' names, each ended by a line feed, all by a zero.
ENGINEROOM_EXPORT("designs") const char* designs() { return exports::names_of<redo_log::Design>(); }

/// The address of: trace hash, events, transactions, fsyncs, written bytes, and the time of all cores in us,
/// as above. `of_design`: its place in designs().
ENGINEROOM_EXPORT("run")
const std::uint64_t* run(std::uint32_t of_design, std::uint32_t clients, std::uint32_t cores,
                         std::uint32_t fsync_us, std::uint32_t has_gate, std::uint32_t warmup_us,
                         std::uint32_t run_us) {
  const redo_log::Design design = exports::at<redo_log::Design>(of_design);
  SimMachine m(
      {.cores_per_socket = cores, .disk_fsync = {.quantiles_ps = {machine::Time{fsync_us} * 1'000'000}}});
  SimMachine::File file(m, "redo", machine::Bytes::counted);
  redo_log::LogConfig log{.has_cpu_gate = has_gate != 0};
  // Small, so that a run is made of its events and not of clearing memory.
  log.buffer_bytes = std::size_t{1} << 20;
  log.recent_written_slots = std::uint64_t{1} << 14;
  log.recent_closed_slots = std::uint64_t{1} << 15;
  log.cpu_sample_ns = 5'000'000;  // the runs are short
  const redo_log::LoadConfig transactions{.clients = clients,
                                          .statements = 4,
                                          .away_ns = 150'000,
                                          .statement_ns = 250'000,
                                          .mtrs_per_statement = 3,
                                          .mtr_bytes = 150,
                                          .commit_mtrs = 2,
                                          .dirty_percent = 30};
  const auto measure = [&](auto& made) {
    auto& sessions = made.sessions;
    sessions.spawn(m);
    m.run_on(std::uint64_t{warmup_us} * 1000);
    const std::uint64_t before[] = {sessions.counts().transactions, file.fsyncs(), file.written_bytes()};
    const Times times_before = core_times(m);
    m.run_on(std::uint64_t{run_us} * 1000);
    values = {0, 0, sessions.counts().transactions - before[0], file.fsyncs() - before[1],
              file.written_bytes() - before[2]};
    const Times times = core_times(m);
    for (std::size_t i = 0; i < times.size(); ++i) values[5 + i] = (times[i] - times_before[i]) / 1'000'000;
  };
  // The log of 5.6 is no knob's value, and a page need not load it.
  if (design == redo_log::Design::log_5_7) {
    redo_log::Load<SimMachine, redo_log::Log57<SimMachine>> made(m, file, log, transactions);
    measure(made);
  } else {
    log.writer_threads = design == redo_log::Design::log_8_0;
    redo_log::Load<SimMachine, redo_log::Log80<SimMachine>> made(m, file, log, transactions);
    measure(made);
  }
  values[0] = m.trace_hash();
  values[1] = m.events();
  return values.data();
}
