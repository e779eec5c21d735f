#include "machine/sim/observations.hpp"

namespace engineroom::machine::sim {

void Observations::waited(Site site, const Wait& wait) {
  if (waits_.size() <= site.id) waits_.resize(site.id + 1);
  WaitStats& stats = waits_[site.id];
  stats.spin_rounds += wait.spin_rounds;
  stats.parks += wait.parks;
  stats.ns.add(wait.ns);
}

void Observations::keep_in_trace(const Thread& t, State state, Time start, Time end, std::int32_t core) {
  if (trace_.size() >= most_intervals_) {
    ++intervals_not_kept_;
    return;
  }
  const bool is_named = state == State::parked || state == State::io;
  trace_.push_back({static_cast<std::uint64_t>(start), static_cast<std::uint64_t>(end), t.id, core,
                    static_cast<std::uint32_t>(state),
                    is_named ? t.site.id : activities_.nodes()[t.activity].site});
}

}  // namespace engineroom::machine::sim
