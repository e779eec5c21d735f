#include "lock_sys/any_load.hpp"

#include <ctime>

#include "machine/host_machine.hpp"

namespace engineroom::lock_sys {

namespace {

using machine::HostMachine;
using machine::SimMachine;

template <template <typename, typename> typename Latches>
class Over final : public sessions::SessionsOf<SimMachine, LockLoad<SimMachine, Latches>> {
 public:
  Over(SimMachine& m, const LockConfig& locks, const LoadConfig& load)
      : sessions::SessionsOf<SimMachine, LockLoad<SimMachine, Latches>>(made_), made_(m, locks, load) {}

  sessions::EngineCounts engine_counts() const override {
    const Latched latched = made_.latched();
    return {{"global_latches", latched.global},
            {"page_latches", latched.pages},
            {"table_latches", latched.tables},
            {"waits", made_.lock_counts().waits}};
  }

 private:
  LockLoad<SimMachine, Latches> made_;
};

std::uint64_t cpu_ns() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(now.tv_nsec);
}

template <template <typename, typename> typename Latches>
ThreadsSeen seen_on(const LockConfig& config, const LoadConfig& load, std::uint64_t run_ns) {
  HostMachine m;
  LockLoad<HostMachine, Latches> sessions(m, config, load);
  sessions.spawn(m);
  const std::uint64_t cpu_before_ns = cpu_ns();
  m.run_for(run_ns);
  return {.row_locks = sessions.transactions() * load.rows,
          .transactions = sessions.transactions(),
          .elapsed_ns = m.now(),  // since its threads began
          .cpu_ns = cpu_ns() - cpu_before_ns,
          .latched = sessions.latched()};
}

}  // namespace

std::unique_ptr<sessions::AnySessions<SimMachine>> any_load(SimMachine& m, const LockConfig& locks,
                                                            const LoadConfig& load) {
  if (locks.latching == Latching::one_mutex) return std::make_unique<Over<OneMutex>>(m, locks, load);
  return std::make_unique<Over<Shards>>(m, locks, load);
}

ThreadsSeen on_threads(const LockConfig& config, std::uint32_t threads, std::uint32_t rows,
                       std::uint64_t run_ns) {
  const LoadConfig load{.clients = threads, .rows = rows, .row_ns = 0, .own_tables = true};
  if (config.latching == Latching::one_mutex) return seen_on<OneMutex>(config, load, run_ns);
  return seen_on<Shards>(config, load, run_ns);
}

}  // namespace engineroom::lock_sys
