#include "machine/sim/lines.hpp"

#include <algorithm>

namespace engineroom::machine::sim {

Time CacheLines::from_nearest(const Line& line, std::uint32_t cpu) const {
  if (line.sharers.meets(topology_.core_set(cpu))) return config_.same_core_ps;
  return line.sharers.meets(topology_.socket_set(cpu)) ? config_.same_socket_ps : config_.other_socket_ps;
}

Time CacheLines::from_farthest(const Line& line, std::uint32_t cpu) const {
  if (line.sharers.is_within(topology_.core_set(cpu))) return config_.same_core_ps;
  return line.sharers.is_within(topology_.socket_set(cpu)) ? config_.same_socket_ps : config_.other_socket_ps;
}

/// Of the CPU that has the line alone, or will: from when its own request brings it there until the next one comes.
void CacheLines::end_stay(Line& line, Time start, Time way) const {
  if (!stay()) return;
  const std::uint32_t owner = line.sharers.only_one();
  if (owner == CpuSet::kMost) return;
  if (line.stays == nullptr) line.stays = std::make_unique<Stays>();
  line.stays->add(owner, line.free_at - config_.rmw_ps,
                  start + way * static_cast<Time>(config_.line_stay_permille) / 1000);
}

Time CacheLines::fetch(Line& line, std::uint32_t cpu, Time now) const {
  if (line.sharers.none()) {
    line.sharers.add(cpu);
    return std::max<Time>(0, config_.first_touch_ps - config_.load_ps);
  }
  const Time start = std::max(now, line.free_at);
  const Time way = from_nearest(line, cpu);
  end_stay(line, start, way);
  line.free_at = start + config_.read_occupancy_ps;
  line.sharers.add(cpu);
  return start + way - now;
}

Time CacheLines::fetch_alone(Line& line, std::uint32_t cpu, Time now) const {
  if (line.sharers.none()) {
    line.sharers.add(cpu);
    return config_.first_touch_ps;
  }
  const Time start = std::max(now, line.free_at);
  const Time way = from_farthest(line, cpu);
  end_stay(line, start, way);
  line.free_at = start + way + config_.rmw_ps;
  line.sharers.become(cpu);
  return start + way - now;
}

}  // namespace engineroom::machine::sim
