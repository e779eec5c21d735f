#include "machine/sim/lines.hpp"

#include <algorithm>

namespace engineroom::machine::sim {

Time CacheLines::distance(std::uint32_t from, std::uint32_t to) const {
  if (topology_.socket_of(from) != topology_.socket_of(to)) return config_.other_socket_ps;
  if (topology_.same_core(from).from == topology_.same_core(to).from) return config_.same_core_ps;
  return config_.same_socket_ps;
}

Time CacheLines::fetch(Line& line, std::uint32_t cpu, Time now) const {
  if (line.owner == kNone) {
    line.owner = static_cast<std::int32_t>(cpu);
    line.sharers.add(cpu);
    return config_.first_touch_ps;
  }
  const Time start = std::max(now, line.free_at);
  line.free_at = start + config_.read_occupancy_ps;
  line.sharers.add(cpu);
  return start - now + config_.load_ps + distance(static_cast<std::uint32_t>(line.owner), cpu);
}

Time CacheLines::fetch_alone(Line& line, std::uint32_t cpu, Time now) const {
  if (line.owner == kNone) {
    line.owner = static_cast<std::int32_t>(cpu);
    line.sharers.add(cpu);
    return config_.rmw_ps + config_.first_touch_ps;
  }
  // The line comes from its owner, and every other copy of it is given up: the farthest one decides.
  Time transfer = distance(static_cast<std::uint32_t>(line.owner), cpu);
  const auto [from, to] = topology_.same_socket(cpu);
  if (line.sharers.any_in(0, from) || line.sharers.any_in(to, topology_.cpus())) {
    transfer = config_.other_socket_ps;
  } else {
    const auto [core_from, core_to] = topology_.same_core(cpu);
    if (line.sharers.any_in(from, core_from) || line.sharers.any_in(core_to, to)) {
      transfer = std::max(transfer, config_.same_socket_ps);
    } else if (line.owner == static_cast<std::int32_t>(cpu)) {
      transfer = topology_.cpus_per_core() > 1 ? config_.same_core_ps : 0;
    }
  }
  const Time start = std::max(now, line.free_at);
  line.free_at = start + transfer + config_.rmw_ps;
  line.owner = static_cast<std::int32_t>(cpu);
  line.sharers.become(cpu);
  return line.free_at - now;
}

void CacheLines::read_aside(Line& line, std::uint32_t cpu, Time now) const {
  line.sharers.add(cpu);
  line.free_at = std::max(line.free_at, now) + config_.read_occupancy_ps;
}

}  // namespace engineroom::machine::sim
