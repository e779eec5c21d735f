#include "machine/sim/lines.hpp"

#include <algorithm>

namespace engineroom::machine::sim {

Time CacheLines::from_nearest(const Line& line, std::uint32_t cpu) const {
  const auto [core_from, core_to] = topology_.same_core(cpu);
  if (line.sharers.any_in(core_from, core_to)) return config_.same_core_ps;
  const auto [from, to] = topology_.same_socket(cpu);
  return line.sharers.any_in(from, to) ? config_.same_socket_ps : config_.other_socket_ps;
}

Time CacheLines::from_farthest(const Line& line, std::uint32_t cpu) const {
  const auto [from, to] = topology_.same_socket(cpu);
  if (line.sharers.any_in(0, from) || line.sharers.any_in(to, topology_.cpus()))
    return config_.other_socket_ps;
  const auto [core_from, core_to] = topology_.same_core(cpu);
  if (line.sharers.any_in(from, core_from) || line.sharers.any_in(core_to, to)) return config_.same_socket_ps;
  return config_.same_core_ps;
}

Time CacheLines::fetch(Line& line, std::uint32_t cpu, Time now) const {
  if (line.sharers.none()) {
    line.sharers.add(cpu);
    return config_.first_touch_ps;
  }
  const Time start = std::max(now, line.free_at);
  line.free_at = start + config_.read_occupancy_ps;
  const Time way = from_nearest(line, cpu);
  line.sharers.add(cpu);
  return start - now + config_.load_ps + way;
}

Time CacheLines::fetch_alone(Line& line, std::uint32_t cpu, Time now) const {
  if (line.sharers.none()) {
    line.sharers.add(cpu);
    return config_.rmw_ps + config_.first_touch_ps;
  }
  const Time start = std::max(now, line.free_at);
  line.free_at = start + from_farthest(line, cpu) + config_.rmw_ps;
  line.sharers.become(cpu);
  return line.free_at - now;
}

}  // namespace engineroom::machine::sim
