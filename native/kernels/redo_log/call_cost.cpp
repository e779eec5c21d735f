#include "redo_log/call_cost.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <vector>

#include "machine/host_machine.hpp"
#include "redo_log/log_8_0.hpp"

namespace engineroom::redo_log {

double call_ns(std::uint64_t appends) {
  constexpr std::size_t kBytes = 65536;
  constexpr std::size_t kPiece = 512;
  constexpr std::uint64_t kInBuffer = 200;  // nobody writes them, so that more would not fit
  using Clock = std::chrono::steady_clock;
  const std::vector<std::byte> group(kBytes, std::byte{1});
  std::vector<std::byte> plain(kInBuffer * kBytes, std::byte{1});
  std::chrono::duration<double, std::nano> more{0};
  std::uint64_t calls = 0;
  for (std::uint64_t done = 0; done < appends;) {
    const std::uint64_t now = std::min(appends - done, kInBuffer);
    machine::HostMachine m;
    machine::HostMachine::File file(m, "log");
    const LogConfig config{.recent_written_slots = 1 << 17, .recent_closed_slots = 1 << 18};
    Log80<machine::HostMachine> log(m, file, config);
    const auto append_all = [&]() -> machine::Task<> {
      for (std::uint64_t i = 0; i < now; ++i) co_await log.append(m, group, false);
    };
    const std::uint64_t calls_before = machine::task_internal::calls();
    const auto start = Clock::now();
    append_all().result();
    const auto appended = Clock::now();
    calls += machine::task_internal::calls() - calls_before;
    for (std::uint64_t i = 0; i < now; ++i) {
      for (std::size_t at = 0; at < kBytes; at += kPiece) {
        m.copy(&plain[i * kBytes + at], &group[at], kPiece);
      }
    }
    more += (appended - start) - (Clock::now() - appended);
    done += now;
  }
  return std::max(0.0, more.count()) / static_cast<double>(calls);
}

}  // namespace engineroom::redo_log
