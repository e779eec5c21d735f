#include "read_views/any_load.hpp"

namespace engineroom::read_views {

namespace {

using machine::SimMachine;

class Simulated final : public sessions::SessionsOf<SimMachine, ViewLoad<SimMachine>> {
 public:
  Simulated(SimMachine& m, const transactions::TrxSysConfig& trx_sys, const LoadConfig& load)
      : SessionsOf(made_), m_(m), made_(m, trx_sys, load) {}

  sessions::EngineCounts engine_counts() const override {
    const transactions::TrxSysCounters& counters = made_.trx_sys().counters();
    return {{"writes", made_.writes()},
            {"response_ns", made_.response_ns()},
            {"views_made", counters.views_made},
            {"views_reused", counters.views_reused},
            {"views_walked", counters.views_walked},
            {"clones", counters.clones},
            {"purged", made_.purged()},
            {"mutex", counters.mutex},
            {"serialisation", counters.serialisation},
            {"shards", counters.shards}};
  }
  sessions::EngineCounts states() const override {
    return {{"views_in_list", made_.trx_sys().views_in_list()},
            {"views_closed", made_.closed_views(m_)},
            {"history_length", made_.history_length()}};
  }

 private:
  SimMachine& m_;
  ViewLoad<SimMachine> made_;
};

}  // namespace

std::unique_ptr<sessions::AnySessions<SimMachine>> any_load(SimMachine& m,
                                                            const transactions::TrxSysConfig& trx_sys,
                                                            const LoadConfig& load) {
  return std::make_unique<Simulated>(m, trx_sys, load);
}

}  // namespace engineroom::read_views
