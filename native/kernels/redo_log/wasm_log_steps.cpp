// The redo log of 8.0 step by step: clients reserve, copy, leave gaps and link; the log threads follow.
//
// What is shown is a run of the chapter's log on the simulated machine, looked at after every event. Reservations are
// told apart by the lengths, which differ by client.
//
// Leaves out  arguments out of range: the caller checks them
#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "machine/sim_machine.hpp"
#include "redo_log/log_8_0.hpp"
#include "wasm/exports.hpp"

namespace {

using namespace engineroom;
using machine::SimMachine;
using machine::Task;
using redo_log::Lsn;

constexpr std::uint32_t kClients = 4;
constexpr std::uint32_t kTurns = 2;
constexpr std::size_t kBytes[kClients] = {60, 90, 40, 120};
constexpr std::size_t kMostRanges = kClients * kTurns;
enum Outcome : std::uint32_t { copying, linked, ready, written, flushed, told };

struct Range {
  std::uint32_t client = 0;
  Lsn start = 0;
  Lsn end = 0;
  std::uint32_t outcome = copying;
};
/// All that is drawn.
struct Picture {
  std::uint64_t now_ns = 0;
  Lsn reserved = 0;
  Lsn ready = 0;
  Lsn written = 0;
  Lsn flushed = 0;
  std::vector<Range> ranges;
  std::uint32_t told = 0;  // a bit a range

  bool shows_the_same(const Picture& other) const {
    return reserved == other.reserved && ready == other.ready && written == other.written &&
           flushed == other.flushed && told == other.told &&
           std::ranges::equal(ranges, other.ranges, {}, &Range::outcome, &Range::outcome);
  }
};

struct Clients {
  SimMachine& m;
  redo_log::Log80<SimMachine>& log;
  std::vector<std::byte> bytes;
  std::uint32_t late;  // this client is away between reservation and copy
  SimMachine::Word ended{};
  std::vector<Lsn> durable{};

  Task<> run(std::uint32_t client) {
    for (std::uint32_t turn = 0; turn < kTurns; ++turn) {
      m.work(machine::exponential(m.random(), 3'000));
      co_await m.yield();
      const redo_log::Appended appended =
          co_await log.append_late(m, std::span(bytes).first(kBytes[client]), client == late ? 60'000 : 0);
      const bool is_durable = co_await log.write_up_to(m, appended.end_lsn, true);
      if (is_durable) durable.push_back(appended.end_lsn);
    }
    const std::uint64_t before = co_await m.add(ended, 1);
    if (before + 1 == kClients) m.stop();
  }
};

std::array<std::uint32_t, 7 + 4 * kMostRanges> values;

}  // namespace

/// The address of: number of pictures, the one shown, its time in ns; bytes from the start of the log to:
/// the end of what is reserved, the tail of recent_written, write_lsn, flushed_to_disk_lsn; then client,
/// start, end and outcome of each range, client 99 behind the last.
ENGINEROOM_EXPORT("run")
const std::uint32_t* run(std::uint32_t seed, std::uint32_t late, std::uint32_t writer_threads,
                         std::uint32_t step) {
  SimMachine m({.cores_per_socket = 4,
                .timer_slack_ps = 1'000'000,
                .disk_fsync = {.quantiles_ps = {30'000'000}},
                .seed = seed});
  SimMachine::File file(m, "redo", machine::Bytes::counted);
  redo_log::LogConfig log_config{.buffer_bytes = 16 * redo_log::kBlockBytes,
                                 .writer_threads = writer_threads != 0,
                                 .recent_written_slots = 4096,
                                 .recent_closed_slots = 8192,
                                 .events = 16};
  redo_log::Log80<SimMachine> log(m, file, log_config);
  Clients clients{.m = m, .log = log, .bytes = std::vector<std::byte>(256), .late = late};
  log.spawn_threads(m);
  for (std::uint32_t i = 0; i < kClients; ++i) {
    m.spawn("client", [&clients, i] { return clients.run(i); });
  }
  const Lsn first = log.current_lsn(m);
  std::vector<Picture> pictures;
  Picture seen;
  do {
    seen.now_ns = m.now();
    const Lsn reserved = log.current_lsn(m);
    if (reserved > std::max(seen.reserved, first)) {
      const Lsn from = std::max(seen.reserved, first);
      const std::uint64_t bytes = redo_log::sn_of(reserved) - redo_log::sn_of(from);
      for (std::uint32_t i = 0; i < kClients; ++i) {
        if (kBytes[i] == bytes) seen.ranges.push_back({i, from, reserved});
      }
    }
    seen.reserved = reserved;
    seen.ready = log.ready_lsn(m);
    seen.written = log.written_lsn(m);
    seen.flushed = log.flushed_lsn(m);
    for (std::size_t i = 0; i < seen.ranges.size(); ++i) {
      Range& range = seen.ranges[i];
      const bool is_told = std::ranges::find(clients.durable, range.end) != clients.durable.end();
      if (is_told) seen.told |= 1U << i;
      range.outcome = is_told                                     ? told
                      : seen.flushed >= range.end                 ? flushed
                      : seen.written >= range.end                 ? written
                      : seen.ready >= range.end                   ? ready
                      : log.link_at(m, range.start) > range.start ? linked
                                                                  : copying;
    }
    if (pictures.empty() || !seen.shows_the_same(pictures.back())) pictures.push_back(seen);
  } while (!m.stopping() && m.step());
  m.stop();
  m.run();
  const std::uint32_t at = std::min(step, static_cast<std::uint32_t>(pictures.size()) - 1);
  const Picture& shown = pictures[at];
  const auto offset = [first](Lsn lsn) { return static_cast<std::uint32_t>(lsn - first); };
  values.fill(99);
  values[0] = static_cast<std::uint32_t>(pictures.size());
  values[1] = at;
  values[2] = static_cast<std::uint32_t>(shown.now_ns);
  values[3] = offset(shown.reserved);
  values[4] = offset(shown.ready);
  values[5] = offset(shown.written);
  values[6] = offset(shown.flushed);
  std::size_t next = 7;
  for (const Range& range : shown.ranges) {
    values[next++] = range.client;
    values[next++] = offset(range.start);
    values[next++] = offset(range.end);
    values[next++] = range.outcome;
  }
  return values.data();
}
