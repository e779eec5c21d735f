#include "redo_log/crash_runs.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "crash/crash.hpp"
#include "redo_log/groups.hpp"
#include "redo_log/log_5_6.hpp"
#include "redo_log/log_5_7.hpp"
#include "redo_log/log_8_0.hpp"
#include "redo_log/recovery.hpp"

namespace engineroom::redo_log {

namespace {

using crash::Bytes;
using machine::Random;
using machine::SimFile;
using machine::SimMachine;
using Judge = crash::Judge<CrashReport>;

constexpr std::uint64_t kCapacity = std::uint64_t{1} << 20;

LogConfig log_of(Random& random, Design design) {
  LogConfig config;
  config.buffer_bytes = (16 + random.next() % 48) * kBlockBytes;
  config.capacity_bytes = kCapacity;
  config.seals_blocks = true;
  config.buffer_pool_instances = 2;
  config.write_ahead_bytes = design == Design::log_5_6 ? 0 : random.next() % 2 == 0 ? 8192 : 1024;
  if (design == Design::log_5_7) config.buffer_bytes += config.write_ahead_bytes;
  config.writer_threads = design == Design::log_8_0;
  config.has_cpu_gate = random.next() % 2 == 0;
  config.recent_written_slots = 2048;
  config.recent_closed_slots = 4096;
  config.events = 4;
  config.user_spin_rounds = 30;
  config.log_thread_spin_rounds = 100;
  return config;
}

/// Clients that append and commit over a log, and what they know: their groups by LSN, the one each is appending, and
/// what was promised.
template <typename Log>
class Clients {
 public:
  using Report = CrashReport;

  Clients(SimMachine& m, Random& random, Design design)
      : design_(design), config_(log_of(random, design)), file_(m, "redo"), log_(m, file_, config_) {
    log_.flush_lists().keep(true);
    in_flight_.resize(1 + random.next() % 6);
    transactions_ = 10 + random.next() % 30;
    // A client that seldom commits and changes much fills the log buffer, and goes round it.
    const bool is_bulk = random.next() % 2 == 0;
    commit_percent_ = is_bulk ? 4 : 67;
    large_percent_ = is_bulk ? 80 : 12;
    clients_left_ = in_flight_.size();
  }

  void spawn(SimMachine& m) {
    log_.spawn_threads(m);
    for (std::uint32_t id = 0; id < in_flight_.size(); ++id) {
      m.spawn("client", [this, &m, id] { return client(m, id); });
    }
    if constexpr (requires { log_.poke_writer(m); }) {
      if (config_.writer_threads) m.spawn("poker", [this, &m] { return poker(m); });
    }
  }
  std::uint64_t steps() const { return 4 * in_flight_.size() * transactions_; }
  std::vector<const SimFile*> files() const { return {&file_}; }

  void look(SimMachine& m, Judge& judge) {
    if (log_.flushed_lsn(m) < promised_) {
      judge.fails(&CrashReport::disorders, "a commit is ahead of flushed_to_disk_lsn");
    }
    if constexpr (requires { log_.ready_lsn(m); }) {
      const Lsn lsns[] = {log_.flushed_lsn(m), log_.written_lsn(m), log_.ready_lsn(m), log_.current_lsn(m)};
      if (!std::ranges::is_sorted(lsns)) {
        judge.fails(&CrashReport::disorders, "flushed, written, ready, current are " +
                                                 std::to_string(lsns[0]) + ", " + std::to_string(lsns[1]) +
                                                 ", " + std::to_string(lsns[2]) + ", " +
                                                 std::to_string(lsns[3]));
      }
    }
  }

  void recover(std::vector<Bytes> files, Random& random, Judge& judge) {
    Bytes& file = files[0];
    // The header was there before the first commit.
    const Bytes header = new_file_header(kCapacity);
    if (file.size() < header.size()) file.resize(header.size());
    std::copy(header.begin(), header.end(), file.begin());
    const auto found = redo_log::recover(file);
    if (!found) return judge.fails(&CrashReport::wrong_groups, "the file header cannot be read");
    judge.report.recovered_groups += found->groups.size();
    if (found->end_lsn < promised_) {
      judge.fails(&CrashReport::lost_commits, "recovery ends at LSN " + std::to_string(found->end_lsn) +
                                                  " (" + std::string(name_of(found->stop)) +
                                                  "), promised was " + std::to_string(promised_));
    }
    for (const RecoveredGroup& group : found->groups) {
      if (!is_ours(group.start_lsn, found->bytes_of(group))) {
        return judge.fails(&CrashReport::wrong_groups,
                           "the group at LSN " + std::to_string(group.start_lsn) + " is nobody's");
      }
    }
    if (found->stop == Stop::corrupt_record) {
      return judge.fails(&CrashReport::wrong_groups,
                         "behind LSN " + std::to_string(found->end_lsn) + " is no record");
    }
    // A checkpoint is as far as the pages are: it may lie in the middle of a group, and in a block where none begins.
    const Sn recovered = sn_of(found->end_lsn) - kStartSn;
    const Lsn checkpoint = lsn_of(kStartSn + random.next() % (recovered + 1));
    const Bytes slot = checkpoint_block({.number = 1, .lsn = checkpoint});
    std::copy(slot.begin(), slot.end(), file.begin() + kCheckpointAt[1]);
    if (!is_the_rest(redo_log::recover(file), *found, checkpoint)) {
      judge.fails(&CrashReport::wrong_checkpoints,
                  "from the checkpoint at LSN " + std::to_string(checkpoint) +
                      " recovery does not find the groups up to " + std::to_string(found->end_lsn));
    }
  }

  void end(SimMachine&, Judge& judge) {
    // 5.6 and 5.7 hand a mutex over to keep the order; 8.0 bounds the disorder by the window.
    const bool is_old = design_ == Design::log_5_6 || design_ == Design::log_5_7;
    const Lsn window = is_old ? 0 : config_.recent_closed_slots;
    log_.flush_lists().added([&](const std::vector<Lsn>& added) {
      const auto disorder = std::ranges::adjacent_find(
          added, [&](Lsn before, Lsn behind) { return behind + window <= before; });
      if (disorder == added.end()) return;
      judge.fails(&CrashReport::disorders, "LSN " + std::to_string(disorder[1]) +
                                               " enters the flush list behind " +
                                               std::to_string(disorder[0]));
    });
    judge.report.commits += commits_;
    judge.report.fsyncs += file_.fsyncs();
    judge.report.log_waits += log_.counters().log_waits;
  }

 private:
  Task<> client(SimMachine& m, std::uint32_t id) {
    for (std::uint64_t sequence = 0; sequence < transactions_ && !m.stopping(); ++sequence) {
      m.work(m.random() % 3000);
      const std::size_t most = m.random() % 100 < large_percent_ ? 1500 : 150;
      in_flight_[id] = make_group(id, sequence, 1 + m.random() % most);
      const Appended appended = co_await log_.append(m, in_flight_[id], m.random() % 2 == 0);
      if (!appended.done) break;
      appended_.emplace(appended.start_lsn, std::exchange(in_flight_[id], {}));
      if (m.random() % 100 >= commit_percent_) continue;
      const bool is_durable = co_await log_.write_up_to(m, appended.end_lsn, true);
      if (is_durable) {
        promised_ = std::max(promised_, appended.end_lsn);
        ++commits_;
      }
    }
    if (--clients_left_ == 0) m.stop();
  }

  Task<> poker(SimMachine& m) {
    while (!m.stopping()) {
      co_await m.sleep(20'000);
      co_await log_.poke_writer(m);
    }
  }

  /// Whether a start at the checkpoint finds what the start at the first LSN found, from the checkpoint's block on.
  static bool is_the_rest(const std::optional<Recovered>& again, const Recovered& found, Lsn checkpoint) {
    if (!again) return false;
    const auto rest = std::ranges::find_if(
        found.groups, [&](const RecoveredGroup& group) { return group.start_lsn >= block_of(checkpoint); });
    const auto is_same = [&](const RecoveredGroup& one, const RecoveredGroup& other) {
      return one.start_lsn == other.start_lsn && one.end_lsn == other.end_lsn &&
             std::ranges::equal(found.bytes_of(one), again->bytes_of(other));
    };
    const bool has_same_end = rest == found.groups.end() || again->end_lsn == found.end_lsn;
    return has_same_end &&
           std::ranges::equal(rest, found.groups.end(), again->groups.begin(), again->groups.end(), is_same);
  }

  bool is_ours(Lsn start_lsn, std::span<const std::byte> bytes) const {
    const auto owner = appended_.find(start_lsn);
    if (owner != appended_.end()) return std::ranges::equal(owner->second, bytes);
    return std::ranges::any_of(in_flight_, [&](const Bytes& b) { return std::ranges::equal(b, bytes); });
  }

  Design design_;
  LogConfig config_;
  SimFile file_;
  Log log_;
  std::map<Lsn, Bytes> appended_;
  std::vector<Bytes> in_flight_;
  std::uint64_t transactions_ = 0;
  std::uint64_t commit_percent_ = 100;
  std::uint64_t large_percent_ = 0;
  Lsn promised_ = 0;
  std::uint64_t commits_ = 0;
  std::uint64_t clients_left_ = 0;
};

template <typename Rules>
CrashReport runs_over(Design design, const crash::Config& config) {
  const auto run_with = [&]<typename Log>() {
    return crash::crash_runs<CrashReport>(
        config, [&](SimMachine& m, Random& random) { return Clients<Log>(m, random, design); });
  };
  if (design == Design::log_5_6) return run_with.template operator()<Log56<SimMachine, Rules>>();
  if (design == Design::log_5_7) return run_with.template operator()<Log57<SimMachine, Rules>>();
  return run_with.template operator()<Log80<SimMachine, Rules>>();
}

}  // namespace

CrashReport crash_runs(Design design, Mistake mistake, const crash::Config& config) {
  if (!is_possible(design, mistake)) {
    refuse("the log of " + std::string(names::of(design)) + " cannot make the mistake " +
           std::string(names::of(mistake)) + ": choose another");
  }
  if (mistake == Mistake::none) return runs_over<Sound>(design, config);
  Broken::mistake = mistake;
  return runs_over<Broken>(design, config);
}

}  // namespace engineroom::redo_log
