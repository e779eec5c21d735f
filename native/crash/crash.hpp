// Crashes of a simulated server at any event: does what recovery finds agree with what was promised?
//
// Models      power loss under load: what was flushed is there, each sector of each file written since is there or
//             not; or a kill of the process, behind which all that was written is there
// Leaves out  sectors that are torn themselves, which InnoDB does not survive either
// Cost        a run of some hundred commits is about a millisecond; each crash is a recovery
//
// Costs and scheduling are random by seed and timeouts never come, so that the runs also find lost wake-ups. What
// is tested is any kernel that promises to keep something: it brings its load, its files and its judgement.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "crash/config.hpp"
#include "machine/sim_machine.hpp"

namespace engineroom::crash {

using machine::Random;
using machine::SimFile;
using machine::SimMachine;

/// A file as a crash left it.
using Bytes = std::vector<std::byte>;

/// What every report counts, beside what its engine finds.
template <typename R>
concept Report = std::default_initializable<R> && requires(R report) {
  { report.runs } -> std::same_as<std::uint64_t&>;
  { report.crashes } -> std::same_as<std::uint64_t&>;
  { report.hangs } -> std::same_as<std::uint64_t&>;  // runs that did not come to their end
  { report.first_failure } -> std::same_as<std::string&>;
};

/// Counts what is wrong, and keeps what was seen first.
template <Report R>
class Judge {
 public:
  Judge(R& report, std::uint64_t seed) : report(report), seed_(seed) {}

  void fails(std::uint64_t R::*count, const std::string& what) {
    ++(report.*count);
    if (report.first_failure.empty()) report.first_failure = "seed " + std::to_string(seed_) + ": " + what;
  }

  R& report;

 private:
  std::uint64_t seed_;
};

/// A kernel and its load, made for one run.
template <typename E>
concept DurableEngine = Report<typename E::Report> &&
    requires(E engine, SimMachine& m, Random& random, Judge<typename E::Report>& judge,
             std::vector<Bytes> files) {
  /// Its threads and its clients; who ends last stops the machine.
  engine.spawn(m);
  /// About so many steps are left of a run: what happens up to where another thread could come between.
  { engine.steps() } -> std::convertible_to<std::uint64_t>;
  /// All that survives a crash.
  { engine.files() } -> std::convertible_to<std::vector<const SimFile*>>;
  /// What must hold at any event.
  engine.look(m, judge);
  /// What these files, as a crash left them, say against what was promised.
  engine.recover(std::move(files), random, judge);
  /// What must hold behind the run, and what it counted.
  engine.end(m, judge);
};

constexpr std::uint64_t kLimitNs = 3'000'000'000;  // a run takes some milliseconds

inline machine::SimConfig wild_machine(Random& random, std::uint64_t seed) {
  return {.cores_per_socket = static_cast<std::uint32_t>(1 + random.next() % 4),
          .disk_fsync = {.quantiles_ps = {1'000'000, 30'000'000, 400'000'000}},
          .seed = seed,
          .random_schedule = true,
          .no_timeouts = true};
}

template <DurableEngine E>
void crash_now(E& engine, bool is_kill, Random& random, Judge<typename E::Report>& judge) {
  std::vector<Bytes> left;
  for (const SimFile* file : engine.files()) {
    left.push_back(is_kill ? file->contents() : file->after_crash(random.next()));
  }
  ++judge.report.crashes;
  engine.recover(std::move(left), random, judge);
}

/// One run with about `config.crashes_per_run` crashes. `make(m, random)` gives the engine.
template <typename Make>
void crash_run(std::uint64_t seed, const Config& config, const Make& make, auto& report) {
  const std::uint64_t crashes = config.crashes_per_run;
  Random random(seed * 0x9E3779B97F4A7C15U + 1);
  SimMachine m(wild_machine(random, seed));
  auto engine = make(m, random);
  engine.spawn(m);
  using R = std::remove_reference_t<decltype(report)>;
  static_assert(DurableEngine<decltype(engine)> && std::same_as<R, typename decltype(engine)::Report>);
  ++report.runs;
  Judge<R> judge(report, seed);
  const std::uint64_t between = 1 + engine.steps() / crashes;
  std::uint64_t next = random.next() % (2 * between);
  std::uint64_t events = 0;
  const std::uint64_t most = report.crashes + 3 * crashes;
  while (m.step()) {
    if (++events < next) continue;
    next = events + 1 + random.next() % (2 * between);
    engine.look(m, judge);
    if (report.crashes < most) crash_now(engine, config.is_kill, random, judge);
    if (m.now() > kLimitNs) {
      judge.fails(&R::hangs, "no end after 3 s: " + m.who_waits());
      break;
    }
  }
  if (m.live_threads() > 0 && m.now() <= kLimitNs) {
    judge.fails(&R::hangs, "nothing can happen any more: " + m.who_waits());
  }
  engine.look(m, judge);
  crash_now(engine, config.is_kill, random, judge);
  engine.end(m, judge);
}

/// `config.runs` runs, each with its own engine from `make`.
template <Report R, typename Make>
R crash_runs(const Config& config, const Make& make) {
  options::check(config);
  R report;
  for (std::uint64_t i = 0; i < config.runs; ++i) {
    crash_run(config.seed + i, config, make, report);
  }
  return report;
}

}  // namespace engineroom::crash
