// The simulated machine for the browser: clients that fight for a latch and wait for the disk. The page on
// the machine uses it as the proof that a run in the browser is the run of the book: the same source,
// compiled natively, prints the same numbers (main below).
//
// Leaves out  arguments out of range: the caller checks them
#include <array>
#include <cstdint>

#include "machine/sim_machine.hpp"
#include "validation/closed_loop.hpp"

#if defined(__wasm__)
#define ENGINEROOM_EXPORT(name) extern "C" __attribute__((export_name(name)))
#else
#define ENGINEROOM_EXPORT(name) static
#endif

namespace {

namespace machine = engineroom::machine;
namespace validation = engineroom::validation;

std::array<std::uint64_t, 8> values;

}  // namespace

/// Returns the address of: trace hash, events, turns, response time's total and 99 % quantile in ns, time
/// spun and time for cache lines in us, fsyncs.
ENGINEROOM_EXPORT("run")
const std::uint64_t* run(std::uint32_t clients, std::uint32_t sockets, std::uint32_t cores_per_socket,
                         std::uint32_t work_ns, std::uint32_t hold_ns, std::uint32_t fsyncs,
                         std::uint32_t run_us, std::uint32_t seed, std::uint32_t random_schedule) {
  machine::SimMachine m({.sockets = sockets,
                         .cores_per_socket = cores_per_socket,
                         .disk_fsync = {.exponential_mean_ps = 100'000'000},
                         .seed = seed,
                         .random_schedule = random_schedule != 0});
  validation::ClosedLoopConfig loop_config{.clients = clients,
                                           .work_ns = work_ns,
                                           .hold_ns = hold_ns,
                                           .uses_latch = true,
                                           .fsyncs = fsyncs,
                                           .append_bytes = fsyncs > 0 ? 300U : 0U};
  validation::ClosedLoop<machine::SimMachine> loop(m, loop_config);
  validation::spawn_clients(m, loop);
  m.run_on(std::uint64_t{run_us} * 1000);
  machine::Histogram responses;
  for (const machine::Histogram& one : loop.response_ns) responses.add(one);
  machine::CoreTime all;
  for (machine::CoreTime& core : m.core_times()) {
    for (std::size_t i = 0; i < machine::kPurposes; ++i) all.ps[i] += core.ps[i];
  }
  values = {m.trace_hash(),
            m.events(),
            responses.count(),
            responses.total(),
            responses.quantile(990),
            all[machine::Purpose::spin] / 1'000'000,
            all[machine::Purpose::memory] / 1'000'000,
            loop.file.fsyncs()};
  return values.data();
}

#if !defined(__wasm__)
#include <cstdio>
#include <cstdlib>

/// Nine numbers a run as arguments; a line of eight numbers a run. For the test that compares compilers.
int main(int n, char** arguments) {
  for (int i = 1; i + 9 <= n; i += 9) {
    std::array<std::uint32_t, 9> a{};
    for (std::size_t k = 0; k < a.size(); ++k) {
      a[k] = static_cast<std::uint32_t>(std::strtoul(arguments[i + static_cast<int>(k)], nullptr, 10));
    }
    run(a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7], a[8]);
    for (const std::uint64_t value : values) std::printf("%llu ", static_cast<unsigned long long>(value));
    std::printf("\n");
  }
  return 0;
}
#endif
