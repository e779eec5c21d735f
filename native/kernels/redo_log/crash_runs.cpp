#include "redo_log/crash_runs.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <vector>

#include "machine/sim_machine.hpp"
#include "redo_log/groups.hpp"
#include "redo_log/log_5_6.hpp"
#include "redo_log/log_5_7.hpp"
#include "redo_log/log_8_0.hpp"
#include "redo_log/recovery.hpp"

namespace engineroom::redo_log {

namespace {

using machine::SimConfig;
using machine::SimMachine;
using Bytes = std::vector<std::byte>;

constexpr std::uint64_t kCapacity = std::uint64_t{1} << 20;
constexpr std::uint64_t kLimitNs = 3'000'000'000;  // a run takes some milliseconds

/// What the clients know: their groups by LSN, the one each is appending, and what was promised.
struct Known {
  std::map<Lsn, Bytes> appended;
  std::vector<Bytes> in_flight;
  Lsn promised = 0;
  std::uint64_t commits = 0;
  std::uint64_t clients_left = 0;
};

template <typename Log>
Task<> client(SimMachine& m, Log& log, Known& known, std::uint32_t id, std::uint64_t transactions) {
  for (std::uint64_t sequence = 0; sequence < transactions && !m.stopping(); ++sequence) {
    m.work(m.random() % 3000);
    const std::size_t most = m.random() % 8 == 0 ? 1500 : 150;
    known.in_flight[id] = make_group(id, sequence, 1 + m.random() % most);
    const Appended appended = co_await log.append(m, known.in_flight[id], m.random() % 2 == 0);
    if (!appended.done) break;
    known.appended.emplace(appended.start_lsn, std::exchange(known.in_flight[id], {}));
    if (m.random() % 3 == 0) continue;
    const bool is_durable = co_await log.write_up_to(m, appended.end_lsn, true);
    if (is_durable) {
      known.promised = std::max(known.promised, appended.end_lsn);
      ++known.commits;
    }
  }
  if (--known.clients_left == 0) m.stop();
}

template <typename Log>
Task<> poker(SimMachine& m, Log& log) {
  while (!m.stopping()) {
    co_await m.sleep(20'000);
    co_await log.poke_writer(m);
  }
}

SimConfig machine_of(machine::Random& random, std::uint64_t seed) {
  SimConfig config;
  config.cores_per_socket = static_cast<std::uint32_t>(1 + random.next() % 4);
  config.disk_fsync.quantiles_ps = {1'000'000, 30'000'000, 400'000'000};
  config.seed = seed;
  config.random_schedule = true;
  config.no_timeouts = true;
  return config;
}

LogConfig log_of(machine::Random& random, Design design, Mistake mistake) {
  LogConfig config;
  config.buffer_bytes = (16 + random.next() % 48) * kBlockBytes;
  config.capacity_bytes = kCapacity;
  config.write_ahead_bytes = design == Design::log_5_6 ? 0 : random.next() % 2 == 0 ? 8192 : 1024;
  if (design == Design::log_5_7) config.buffer_bytes += config.write_ahead_bytes;
  config.writer_threads = design == Design::log_8_0;
  config.has_cpu_gate = random.next() % 2 == 0;
  config.recent_written_slots = 2048;
  config.recent_closed_slots = 4096;
  config.events = 4;
  config.user_spin_rounds = 30;
  config.log_thread_spin_rounds = 100;
  config.mistake = mistake;
  return config;
}

class Judge {
 public:
  Judge(CrashReport& report, std::uint64_t seed) : report_(report), seed_(seed) {}

  void fails(std::uint64_t& count, const std::string& what) {
    ++count;
    if (report_.first_failure.empty()) report_.first_failure = "seed " + std::to_string(seed_) + ": " + what;
  }

  void crash(Bytes file, const Known& known, machine::Random& random) {
    ++report_.crashes;
    // The header was there before the first commit.
    const Bytes header = new_file_header(kCapacity);
    if (file.size() < header.size()) file.resize(header.size());
    std::copy(header.begin(), header.end(), file.begin());
    const auto found = recover(file);
    if (!found) return fails(report_.wrong_groups, "the file header cannot be read");
    report_.recovered_groups += found->groups.size();
    if (found->end_lsn < known.promised) {
      fails(report_.lost_commits, "recovery ends at LSN " + std::to_string(found->end_lsn) + " (" +
                                      std::string(name_of(found->stop)) + "), promised was " +
                                      std::to_string(known.promised));
    }
    for (const RecoveredGroup& group : found->groups) {
      const auto bytes = found->bytes_of(group);
      const auto owner = known.appended.find(group.start_lsn);
      const bool is_right = owner != known.appended.end()
                                ? std::ranges::equal(owner->second, bytes)
                                : std::ranges::any_of(known.in_flight, [&](const Bytes& b) {
                                    return std::ranges::equal(b, bytes);
                                  });
      if (!is_right) {
        return fails(report_.wrong_groups,
                     "the group at LSN " + std::to_string(group.start_lsn) + " is nobody's");
      }
    }
    if (found->stop == Stop::corrupt_record) {
      return fails(report_.wrong_groups, "behind LSN " + std::to_string(found->end_lsn) + " is no record");
    }
    if (found->groups.empty()) return;
    const Lsn checkpoint = found->groups[random.next() % found->groups.size()].end_lsn;
    const Bytes slot = checkpoint_block({.number = 1, .lsn = checkpoint});
    std::copy(slot.begin(), slot.end(), file.begin() + kCheckpointAt[1]);
    const auto again = recover(file);
    if (!again || (again->end_lsn != found->end_lsn && checkpoint < found->end_lsn)) {
      fails(report_.wrong_checkpoints, "from the checkpoint at LSN " + std::to_string(checkpoint) +
                                           " recovery ends at " + std::to_string(again ? again->end_lsn : 0) +
                                           " instead of " + std::to_string(found->end_lsn));
    }
  }

  template <typename Log>
  void order(SimMachine& m, Log& log, const Known& known) {
    if (log.flushed_lsn(m) < known.promised)
      fails(report_.disorders, "a commit is ahead of flushed_to_disk_lsn");
    if constexpr (requires { log.ready_lsn(m); }) {
      const Lsn lsns[] = {log.flushed_lsn(m), log.written_lsn(m), log.ready_lsn(m), log.current_lsn(m)};
      if (!std::ranges::is_sorted(lsns)) {
        fails(report_.disorders, "flushed, written, ready, current are " + std::to_string(lsns[0]) + ", " +
                                     std::to_string(lsns[1]) + ", " + std::to_string(lsns[2]) + ", " +
                                     std::to_string(lsns[3]));
      }
    }
  }

 private:
  CrashReport& report_;
  std::uint64_t seed_;
};

template <typename Log>
void run_once(Design design, Mistake mistake, std::uint64_t seed, std::uint64_t crashes,
              CrashReport& report) {
  machine::Random random(seed * 0x9E3779B97F4A7C15U + 1);
  SimMachine m(machine_of(random, seed));
  const LogConfig config = log_of(random, design, mistake);
  SimMachine::File file(m, "redo");
  Log log(m, file, config);
  log.flush_list().keep(true);
  log.spawn_threads(m);
  Known known;
  const auto clients = static_cast<std::uint32_t>(1 + random.next() % 6);
  const std::uint64_t transactions = 10 + random.next() % 30;
  known.in_flight.resize(clients);
  known.clients_left = clients;
  for (std::uint32_t id = 0; id < clients; ++id) {
    m.spawn("client", [&, id] { return client(m, log, known, id, transactions); });
  }
  if constexpr (requires { log.poke_writer(m); }) {
    if (config.writer_threads) m.spawn("poker", [&] { return poker(m, log); });
  }
  ++report.runs;
  Judge judge(report, seed);
  // A step is what happens up to where another thread could come between: some a transaction.
  const std::uint64_t between = 1 + 4 * clients * transactions / crashes;
  std::uint64_t next = random.next() % (2 * between);
  std::uint64_t events = 0;
  const std::uint64_t most = report.crashes + 3 * crashes;
  while (m.step()) {
    if (++events < next) continue;
    next = events + 1 + random.next() % (2 * between);
    judge.order(m, log, known);
    if (report.crashes < most) judge.crash(file.after_crash(random.next()), known, random);
    if (m.now() > kLimitNs) {
      judge.fails(report.hangs, "no end after 3 s: " + m.who_waits());
      break;
    }
  }
  if (m.live_threads() > 0 && m.now() <= kLimitNs) {
    judge.fails(report.hangs, "nothing can happen any more: " + m.who_waits());
  }
  judge.order(m, log, known);
  judge.crash(file.after_crash(random.next()), known, random);
  const std::vector<Lsn>& added = log.flush_list().added();
  // 5.6 and 5.7 hand a mutex over to keep the order; 8.0 bounds the disorder by the window.
  const Lsn window =
      config.writer_threads || design == Design::log_8_0_no_writer_threads ? config.recent_closed_slots : 0;
  for (std::size_t i = 1; i < added.size(); ++i) {
    if (added[i] + window <= added[i - 1]) {
      judge.fails(report.disorders, "LSN " + std::to_string(added[i]) + " enters the flush list behind " +
                                        std::to_string(added[i - 1]));
      break;
    }
  }
  report.commits += known.commits;
  report.fsyncs += file.fsyncs();
}

}  // namespace

std::string_view name_of(Design design) {
  constexpr std::array<std::string_view, 4> kNames{"5.6", "5.7", "8.0", "8.0, writer threads off"};
  return kNames[static_cast<std::size_t>(design)];
}

CrashReport crash_runs(Design design, Mistake mistake, std::uint64_t seed, std::uint64_t runs,
                       std::uint64_t crashes_per_run) {
  if (runs == 0 || crashes_per_run == 0) refuse("runs and crashes_per_run must be at least 1");
  CrashReport report;
  for (std::uint64_t i = 0; i < runs; ++i) {
    switch (design) {
      case Design::log_5_6:
        run_once<Log56<SimMachine>>(design, mistake, seed + i, crashes_per_run, report);
        break;
      case Design::log_5_7:
        run_once<Log57<SimMachine>>(design, mistake, seed + i, crashes_per_run, report);
        break;
      default:
        run_once<Log80<SimMachine>>(design, mistake, seed + i, crashes_per_run, report);
    }
  }
  return report;
}

}  // namespace engineroom::redo_log
