#include "lock_sys/wait_graph.hpp"

#include <algorithm>

namespace engineroom::lock_sys {

std::vector<std::int32_t> outgoing_edges(std::vector<Snapped>& waiters) {
  const auto by_number = [](const Snapped& a, const Snapped& b) { return a.trx->number < b.trx->number; };
  std::sort(waiters.begin(), waiters.end(), by_number);
  std::vector<std::int32_t> outgoing;
  outgoing.reserve(waiters.size());
  for (const Snapped& waiter : waiters) {
    const auto found =
        std::lower_bound(waiters.begin(), waiters.end(), Snapped{.trx = waiter.waits_for}, by_number);
    const bool waits = found != waiters.end() && found->trx == waiter.waits_for;
    outgoing.push_back(waits ? static_cast<std::int32_t>(found - waiters.begin()) : kNobody);
  }
  return outgoing;
}

std::vector<std::uint64_t> initial_weights(std::span<const Snapped> waiters, std::uint64_t reservations) {
  constexpr std::uint64_t kMostInAll = 1'000'000'000;  // a sum fits into 32 bits
  const std::uint64_t n = waiters.size();
  const std::uint64_t boost = n == 0 ? 1 : std::min(n, kMostInAll / n);
  std::vector<std::uint64_t> weights;
  weights.reserve(waiters.size());
  for (const Snapped& waiter : waiters) {
    weights.push_back(waiter.reservation + 2 * n < reservations ? boost : 1);
  }
  return weights;
}

void add_up(std::span<const std::int32_t> outgoing, std::vector<std::uint64_t>& weights,
            std::vector<bool>& is_final) {
  std::vector<std::uint32_t> incoming(outgoing.size(), 0);
  for (const std::int32_t to : outgoing) {
    if (to != kNobody) ++incoming[static_cast<std::size_t>(to)];
  }
  is_final.assign(outgoing.size(), false);
  std::vector<std::size_t> ready;
  for (std::size_t i = 0; i < outgoing.size(); ++i) {
    if (incoming[i] == 0) ready.push_back(i);
  }
  while (!ready.empty()) {
    const std::size_t i = ready.back();
    ready.pop_back();
    is_final[i] = true;
    if (outgoing[i] == kNobody) continue;
    const auto to = static_cast<std::size_t>(outgoing[i]);
    weights[to] += weights[i];
    if (--incoming[to] == 0) ready.push_back(to);
  }
}

std::vector<std::vector<std::uint32_t>> cycles(std::span<const std::int32_t> outgoing) {
  std::vector<std::vector<std::uint32_t>> found;
  std::vector<std::uint32_t> walk(outgoing.size(), 0);  // on which walk each was seen; 0: on none yet
  std::uint32_t number = 0;
  for (std::size_t start = 0; start < outgoing.size(); ++start) {
    if (walk[start] != 0) continue;
    ++number;
    auto at = static_cast<std::int32_t>(start);
    while (at != kNobody && walk[static_cast<std::size_t>(at)] == 0) {
      walk[static_cast<std::size_t>(at)] = number;
      at = outgoing[static_cast<std::size_t>(at)];
    }
    if (at == kNobody || walk[static_cast<std::size_t>(at)] != number) continue;
    std::vector<std::uint32_t>& cycle = found.emplace_back();
    const std::int32_t first = at;
    do {
      cycle.push_back(static_cast<std::uint32_t>(at));
      at = outgoing[static_cast<std::size_t>(at)];
    } while (at != first);
  }
  return found;
}

std::size_t choose_victim(std::vector<std::uint32_t>& cycle, std::span<const Snapped> waiters) {
  const auto latest = std::max_element(cycle.begin(), cycle.end(), [&](std::uint32_t a, std::uint32_t b) {
    return waiters[a].reservation < waiters[b].reservation;
  });
  std::rotate(cycle.begin(), latest + 1, cycle.end());
  std::size_t victim = 0;
  for (std::size_t i = 1; i < cycle.size(); ++i) {
    const Trx& chosen = *waiters[cycle[victim]].trx;
    const Trx& trx = *waiters[cycle[i]].trx;
    if (chosen.is_urgent != trx.is_urgent) {
      if (chosen.is_urgent) victim = i;
      continue;
    }
    if (is_at_least_as_heavy(chosen, trx)) victim = i;
  }
  return victim;
}

void add_up_without(std::size_t victim, std::span<const std::uint32_t> cycle,
                    std::vector<std::uint64_t>& weights) {
  weights[cycle[victim]] = 0;
  std::uint64_t waiting = 0;
  for (std::size_t i = 1; i < cycle.size(); ++i) {
    std::uint64_t& weight = weights[cycle[(victim + i) % cycle.size()]];
    weight += waiting;
    waiting = weight;
  }
}

}  // namespace engineroom::lock_sys
