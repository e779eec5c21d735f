#include "lock_sys/schedulers.hpp"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <utility>

#include "lock_sys/mistakes.hpp"
#include "machine/random.hpp"

namespace engineroom::lock_sys {

namespace {

using Places = std::vector<std::uint32_t>;

Places in_queue_order(std::size_t n) {
  Places all(n);
  std::iota(all.begin(), all.end(), 0U);
  return all;
}

/// Stable: equals stay in queue order.
template <typename Key>
Places largest_first(std::span<const Waiter> waiters, const Key& key) {
  Places all = in_queue_order(waiters.size());
  std::stable_sort(all.begin(), all.end(), [&](std::uint32_t a, std::uint32_t b) {
    return std::pair(waiters[a].is_urgent, key(waiters[a])) >
           std::pair(waiters[b].is_urgent, key(waiters[b]));
  });
  return all;
}

/// One waiter stands for itself and for those who wait for it.
std::uint64_t dependents(const Waiter& waiter) { return std::max<std::uint64_t>(1, waiter.weight); }

// log2(1 + k) in units of 2^-16, for the delay that k readers cause each other. Integers: the order is the same everywhere.
std::uint64_t delay_of(std::uint64_t k) {
  std::uint64_t whole = 0;
  while ((std::uint64_t{2} << whole) <= 1 + k) ++whole;
  std::uint64_t log = whole << 16;
  std::uint64_t x = ((1 + k) << 31) >> whole;  // in [1, 2), in units of 2^-31
  for (int bit = 15; bit >= 0; --bit) {
    x = (x * x) >> 31;
    if (x >> 32 == 0) continue;
    log |= std::uint64_t{1} << bit;
    x >>= 1;
  }
  return log;
}

/// All readers together, or as many of them as pay, against the heaviest writer.
Places largest_set_first(std::span<const Waiter> waiters, bool is_bounded) {
  const Places all = largest_first(waiters, dependents);
  Places readers;
  Places writers;
  for (const std::uint32_t i : all) (waiters[i].mode == Mode::s ? readers : writers).push_back(i);
  // Worth of the first k readers, as a fraction: what waits for them over how long they take.
  std::uint64_t worth = 0;
  std::uint64_t takes = std::uint64_t{1} << 16;
  std::size_t batch = 0;
  std::uint64_t sum = 0;
  for (std::size_t k = 1; k <= readers.size(); ++k) {
    sum += dependents(waiters[readers[k - 1]]);
    const std::uint64_t k_takes = is_bounded ? delay_of(k) : std::uint64_t{1} << 16;
    const bool is_better =
        static_cast<unsigned __int128>(sum) * takes >= static_cast<unsigned __int128>(worth) * k_takes;
    if (!is_better) continue;
    worth = sum;
    takes = k_takes;
    batch = k;
  }
  Places order;
  const bool writer_first =
      !writers.empty() && static_cast<unsigned __int128>(dependents(waiters[writers[0]])) * takes >
                              static_cast<unsigned __int128>(worth) << 16;
  if (writer_first) order = writers;
  order.insert(order.end(), readers.begin(), readers.begin() + static_cast<std::ptrdiff_t>(batch));
  if (!writer_first) order.insert(order.end(), writers.begin(), writers.end());
  return order;
}

struct Shuffle {
  machine::Random random;

  Places operator()(std::span<const Waiter> waiters) {
    Places all = in_queue_order(waiters.size());
    for (std::size_t left = all.size(); left > 1; --left) {
      std::swap(all[left - 1], all[static_cast<std::size_t>(machine::high_product(random.next(), left))]);
    }
    return all;
  }
};

}  // namespace

template <typename Rules>
std::vector<std::uint32_t> cats_order(std::span<const Waiter> waiters) {
  return largest_first(waiters, [](const Waiter& waiter) {
    return Rules::is_light(waiter.weight) ? std::uint64_t{0} : waiter.weight;
  });
}
template Places cats_order<Sound>(std::span<const Waiter>);
template Places cats_order<LightOnesSorted>(std::span<const Waiter>);

Scheduler scheduler_of(Policy policy, std::uint64_t seed) {
  switch (policy) {
    case Policy::fcfs_5_7:
    case Policy::equal_weights:
      return {policy,
              [](std::span<const Waiter> w) { return largest_first(w, [](const Waiter&) { return 0; }); }};
    case Policy::cats_8_0_3:
      return {policy, [](std::span<const Waiter> w) {
                return largest_first(w, [](const Waiter& waiter) { return waiter.age; });
              }};
    case Policy::cats_8_0_20:
      break;
    case Policy::vats:
      return {policy, [](std::span<const Waiter> w) {
                return largest_first(w, [](const Waiter& waiter) { return ~waiter.started; });
              }};
    case Policy::ldsf:
      return {policy, [](std::span<const Waiter> w) { return largest_set_first(w, false); }};
    case Policy::bldsf:
      return {policy, [](std::span<const Waiter> w) { return largest_set_first(w, true); }};
    case Policy::random:
      return {policy, Shuffle{machine::Random(seed)}};
  }
  return {Policy::cats_8_0_20, cats_order<Sound>};
}

Scheduler scheduler_of(Order order) { return {Policy::cats_8_0_20, std::move(order)}; }

}  // namespace engineroom::lock_sys
