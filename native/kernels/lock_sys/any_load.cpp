#include "lock_sys/any_load.hpp"

namespace engineroom::lock_sys {

namespace {

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

}  // namespace

std::unique_ptr<sessions::AnySessions<SimMachine>> any_load(SimMachine& m, const LockConfig& locks,
                                                            const LoadConfig& load) {
  if (locks.latching == Latching::one_mutex) return std::make_unique<Over<OneMutex>>(m, locks, load);
  return std::make_unique<Over<Shards>>(m, locks, load);
}

}  // namespace engineroom::lock_sys
