#include "redo_log/any_load.hpp"

namespace engineroom::redo_log {

namespace {

using machine::HostMachine;
using machine::SimMachine;

template <Machine M, typename Log>
class Over final : public sessions::SessionsOf<M, sessions::Sessions<M, RedoEngine<M, Log>>> {
 public:
  Over(M& m, typename M::File& file, const LogConfig& log, const LoadConfig& load)
      : sessions::SessionsOf<M, sessions::Sessions<M, RedoEngine<M, Log>>>(made_.sessions),
        file_(file),
        made_(m, file, log, load) {}

  sessions::EngineCounts engine_counts() const override {
    sessions::EngineCounts counts = sessions::file_counts(file_);
    counts.emplace_back("log_waits", made_.engine.log().counters().log_waits.load());
    return counts;
  }

 private:
  const typename M::File& file_;
  Load<M, Log> made_;
};

}  // namespace

template <Machine M>
std::unique_ptr<sessions::AnySessions<M>> any_load(Design design, M& m, typename M::File& file,
                                                   const LogConfig& log, const LoadConfig& load) {
  std::unique_ptr<sessions::AnySessions<M>> made;
  with_type<M>(design, [&]<typename Log>() {
    made = std::make_unique<Over<M, Log>>(m, file, completed(design, log), load);
  });
  return made;
}

template std::unique_ptr<sessions::AnySessions<SimMachine>> any_load(Design, SimMachine&, SimMachine::File&,
                                                                     const LogConfig&, const LoadConfig&);
template std::unique_ptr<sessions::AnySessions<HostMachine>> any_load(Design, HostMachine&,
                                                                      HostMachine::File&, const LogConfig&,
                                                                      const LoadConfig&);

}  // namespace engineroom::redo_log
