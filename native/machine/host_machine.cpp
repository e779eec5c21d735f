#include "machine/host_machine.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <ctime>
#include <system_error>

#if defined(__linux__)
#include <sched.h>
#include <sys/prctl.h>
#endif
#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace engineroom::machine {

namespace {

constexpr std::uint64_t kRecycled = std::uint64_t{16} << 20;  // where a file that is not kept begins again
constexpr std::uint64_t kSlice = 20'000'000;  // how long a thread sleeps until it looks whether the run stops

void pause() {
#if defined(__x86_64__)
  _mm_pause();
#elif defined(__aarch64__)
  asm volatile("isb");
#endif
}

/// Computing that no compiler leaves out: a chain of multiplications.
std::uint64_t compute(std::uint64_t iterations) {
  std::uint64_t x = iterations | 1;
  for (std::uint64_t i = 0; i < iterations; ++i) {
    x *= 0x9E3779B97F4A7C15U;
    asm volatile("" : "+r"(x));
  }
  return x;
}

/// Iterations of compute() in 1024 ns: the most of several tries, since others only slow it down.
std::uint64_t iterations_per_1024_ns() {
  static const std::uint64_t measured = [] {
    std::uint64_t most = 1;
    for (int i = 0; i < 20; ++i) {
      constexpr std::uint64_t kIterations = 100'000;
      const auto start = std::chrono::steady_clock::now();
      compute(kIterations);
      const auto ns =
          std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now() - start);
      most = std::max(most,
                      kIterations * 1024 / static_cast<std::uint64_t>(std::max<std::int64_t>(1, ns.count())));
    }
    return most;
  }();
  return measured;
}

void sleep_for(std::uint64_t ns) {
  timespec left{.tv_sec = static_cast<time_t>(ns / 1'000'000'000),
                .tv_nsec = static_cast<long>(ns % 1'000'000'000)};
  while (nanosleep(&left, &left) != 0 && errno == EINTR) {
  }
}

std::uint64_t thread_cpu_ps() {
  timespec used{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
  return (static_cast<std::uint64_t>(used.tv_sec) * 1'000'000'000 +
          static_cast<std::uint64_t>(used.tv_nsec)) *
         1000;
}

std::size_t core_now() {
#if defined(__linux__)
  return static_cast<std::size_t>(std::max(0, sched_getcpu()));
#else
  return 0;
#endif
}

CoreTime& of_core(std::vector<CoreTime>& times, std::size_t core) {
  if (times.size() <= core) times.resize(core + 1);
  return times[core];
}

}  // namespace

struct HostMachine::Context {
  Random random;
  Activities activities;
  std::uint32_t activity = 0;
  std::chrono::steady_clock::time_point since;

  static Context*& of_this_thread() {
    thread_local Context* context = nullptr;
    return context;
  }
  Parked* parked = nullptr;
  std::uint32_t number = 0;
  bool reads_cores = false;
  std::uint64_t most_intervals = 0;
  std::chrono::steady_clock::time_point run_start;
  std::uint64_t cpu_since_ps = 0;
  std::vector<CoreTime> used;
  std::vector<Interval> trace;
  std::uint64_t intervals_not_kept = 0;

  void begin() {
    since = std::chrono::steady_clock::now();
    if (reads_cores) cpu_since_ps = thread_cpu_ps();
  }
  /// Charges the time since the last call to what the thread does.
  void charge(State state, Site waits_for = {}) {
    const auto now = std::chrono::steady_clock::now();
    const auto ns = std::chrono::duration_cast<std::chrono::nanoseconds>(now - since).count();
    const std::uint64_t ps = static_cast<std::uint64_t>(ns) * 1000;
    if (reads_cores) {
      charge_core(state, ps, waits_for);
    } else {
      activities[activity].ps[static_cast<std::size_t>(state)] += ps;
    }
    since = now;
  }

 private:
  void charge_core(State state, std::uint64_t ps, Site waits_for) {
    const std::uint64_t cpu_now_ps = thread_cpu_ps();
    const std::uint64_t cpu_ps = std::min(ps, cpu_now_ps - cpu_since_ps);
    cpu_since_ps = cpu_now_ps;
    const std::size_t core = core_now();
    CoreTime& time = of_core(used, core);
    Activity& doing = activities[activity];
    const bool computes = state == State::work || state == State::spin;
    if (computes) {
      time[state == State::work ? Purpose::work : Purpose::spin] += cpu_ps;
      doing.ps[static_cast<std::size_t>(state)] += cpu_ps;
      doing.ps[static_cast<std::size_t>(State::runnable)] += ps - cpu_ps;
    } else {
      time[Purpose::switching] += cpu_ps;
      if (state == State::io) time[Purpose::io_wait] += ps - cpu_ps;
      doing.ps[static_cast<std::size_t>(state)] += ps;
    }
    if (ps == 0) return;
    if (trace.size() >= most_intervals) {
      ++intervals_not_kept;
      return;
    }
    const auto at = std::chrono::duration_cast<std::chrono::nanoseconds>(since - run_start).count();
    const auto start_ps = static_cast<std::uint64_t>(std::max<std::int64_t>(0, at)) * 1000;
    trace.push_back({start_ps, start_ps + ps, number, computes ? static_cast<std::int32_t>(core) : -1,
                     static_cast<std::uint32_t>(state),
                     waits_for.id != 0 ? waits_for.id : activities.nodes()[activity].site});
  }
};

class HostMachine::Timed {
 public:
  Timed(const HostMachine& m, State state, Site waits_for = {})
      : context_(m.config_.profile ? Context::of_this_thread() : nullptr),
        state_(state),
        waits_for_(waits_for) {
    if (context_ != nullptr) context_->charge(State::work);
  }
  Timed(const Timed&) = delete;
  Timed& operator=(const Timed&) = delete;
  ~Timed() {
    if (context_ != nullptr) context_->charge(state_, waits_for_);
  }

 private:
  Context* context_;
  State state_;
  Site waits_for_;
};

HostFile::HostFile(HostMachine& m, std::string_view name)
    : site_(m.site(name)), keeps_contents_(m.config().keeps_contents) {
  if (m.config().folder.empty()) {
    // All of it now: memory that grows in a run is touched for the first time there, which takes long.
    if (!keeps_contents_) contents_.resize(2 * kRecycled);
    return;
  }
  path_ = m.config().folder + "/" + std::string(name);
  fd_ = open(path_.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (fd_ < 0) throw std::system_error(errno, std::generic_category(), "cannot create " + path_);
}

HostFile::~HostFile() {
  if (fd_ < 0) return;
  close(fd_);
  unlink(path_.c_str());
}

void HostFile::write(std::uint64_t offset, std::span<const std::byte> bytes) {
  writes_.fetch_add(1, std::memory_order_relaxed);
  written_bytes_.fetch_add(bytes.size(), std::memory_order_relaxed);
  if (fd_ < 0) {
    const std::lock_guard lock(guard_);
    // Copied all the same: what a write costs is part of a run.
    if (!keeps_contents_) offset %= kRecycled;
    if (contents_.size() < offset + bytes.size()) contents_.resize(offset + bytes.size());
    std::copy(bytes.begin(), bytes.end(), contents_.begin() + static_cast<std::ptrdiff_t>(offset));
    return;
  }
  while (!bytes.empty()) {
    const ssize_t n = ::pwrite(fd_, bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) throw std::system_error(errno, std::generic_category(), "cannot write " + path_);
    bytes = bytes.subspan(static_cast<std::size_t>(n));
    offset += static_cast<std::uint64_t>(n);
  }
}

void HostFile::sync(std::uint64_t fsync_ns) {
  if (fd_ < 0) {
    const std::lock_guard one_at_a_time(device_);
    sleep_for(fsync_ns);
  } else if (fdatasync(fd_) != 0) {
    throw std::system_error(errno, std::generic_category(), "cannot sync " + path_);
  }
  fsyncs_.fetch_add(1, std::memory_order_relaxed);
}

std::vector<std::byte> HostFile::contents() const {
  const std::lock_guard lock(guard_);
  if (fd_ < 0) return contents_;
  struct stat status {};
  if (fstat(fd_, &status) != 0)
    throw std::system_error(errno, std::generic_category(), "cannot read " + path_);
  std::vector<std::byte> bytes(static_cast<std::size_t>(status.st_size));
  std::size_t at = 0;
  while (at < bytes.size()) {
    const ssize_t n = ::pread(fd_, bytes.data() + at, bytes.size() - at, static_cast<off_t>(at));
    if (n <= 0) throw std::system_error(errno, std::generic_category(), "cannot read " + path_);
    at += static_cast<std::size_t>(n);
  }
  return bytes;
}

HostMachine::HostMachine(const HostConfig& config)
    : config_(config),
      cpus_(std::max(1U, std::thread::hardware_concurrency())),
      start_(std::chrono::steady_clock::now()) {
  iterations_per_1024_ns();  // before anything is timed
}

HostMachine::~HostMachine() {
  stop();
  threads_.clear();
}

void HostMachine::spawn(std::string name, std::function<Task<>()> body) {
  const std::lock_guard lock(guard_);
  if (running_) {
    start(std::move(name), std::move(body), started_++);
  } else {
    to_start_.push_back({std::move(name), std::move(body)});
  }
}

void HostMachine::start(std::string name, std::function<Task<>()> body, std::uint64_t number) {
  ++live_;
  thread_names_.push_back(name);
  Parked& parked = parked_.emplace_back();
  threads_.emplace_back([this, &parked, name = std::move(name), body = std::move(body), number] {
#if defined(__linux__)
    prctl(PR_SET_TIMERSLACK, 1UL, 0UL, 0UL, 0UL);  // an emulated disk must not be 50 us late
#endif
    Context context;
    context.parked = &parked;
    context.number = static_cast<std::uint32_t>(number);
    context.reads_cores = config_.profile && config_.core_times;
    context.most_intervals = config_.trace_intervals;
    context.run_start = start_;
    context.random = Random(config_.seed, number);
    context.activity = context.activities.child(0, site(name).id);
    context.begin();
    Context::of_this_thread() = &context;
    std::exception_ptr failure;
    try {
      Task<> task = body();
      task.result();
    } catch (...) {
      failure = std::current_exception();
    }
    if (config_.profile) context.charge(State::work);
    Context::of_this_thread() = nullptr;
    const std::lock_guard lock(guard_);
    if (failure && !failure_) {
      failure_ = failure;
      stopping_.store(true);
    }
    if (config_.profile) merge(context);
    --live_;
    ended_.notify_one();
  });
}

void HostMachine::merge(const Context& context) {
  const std::vector<Activity>& nodes = context.activities.nodes();
  std::vector<std::uint32_t> merged(nodes.size());
  for (std::size_t i = 1; i < nodes.size(); ++i) {
    merged[i] = activities_.child(merged[nodes[i].parent], nodes[i].site);
    for (std::size_t s = 0; s < kStates; ++s) activities_[merged[i]].ps[s] += nodes[i].ps[s];
  }
  for (std::size_t core = 0; core < context.used.size(); ++core) {
    CoreTime& time = of_core(used_, core);
    for (std::size_t p = 0; p < kPurposes; ++p) time.ps[p] += context.used[core].ps[p];
  }
  trace_.insert(trace_.end(), context.trace.begin(), context.trace.end());
  intervals_not_kept_ += context.intervals_not_kept;
}

/// A thread that was preempted, or went to another core, between two looks seems to be on a core with
/// another.
void HostMachine::sort_trace() {
  std::sort(trace_.begin(), trace_.end(),
            [](const Interval& a, const Interval& b) { return a.start_ps < b.start_ps; });
  std::vector<std::uint64_t> ends;
  for (Interval& each : trace_) {
    if (each.core < 0) continue;
    const auto core = static_cast<std::size_t>(each.core);
    if (ends.size() <= core) ends.resize(core + 1);
    if (each.start_ps < ends[core]) {
      each.core = -1;
    } else {
      ends[core] = each.end_ps;
    }
  }
}

std::vector<CoreTime> HostMachine::core_times() const {
  if (!config_.core_times) return {};
  std::vector<CoreTime> times = used_;
  if (times.size() < cpus_) times.resize(cpus_);
  for (CoreTime& time : times) {
    std::uint64_t busy = 0;
    for (const Purpose purpose : {Purpose::work, Purpose::spin, Purpose::switching}) busy += time[purpose];
    const std::uint64_t unused = elapsed_ps_ > busy ? elapsed_ps_ - busy : 0;
    time[Purpose::io_wait] = std::min(time[Purpose::io_wait], unused);
    time[Purpose::idle] = unused - time[Purpose::io_wait];
  }
  return times;
}

void HostMachine::begin() {
  const std::lock_guard lock(guard_);
  running_ = true;
  start_ = std::chrono::steady_clock::now();
  for (Waiting& waiting : to_start_) start(std::move(waiting.name), std::move(waiting.body), started_++);
  to_start_.clear();
}

void HostMachine::run() {
  begin();
  join_all();
}

void HostMachine::run_for(std::uint64_t ns) {
  begin();
  // It sleeps until then: a look from time to time would take a core from the threads that run.
  const std::jthread stopper(
      [this, end = start_ + std::chrono::nanoseconds(ns)](const std::stop_token& given_up) {
        std::mutex own;
        std::condition_variable_any never;
        std::unique_lock lock(own);
        never.wait_until(lock, given_up, end, [] { return false; });
        stop();
      });
  join_all();
}

void HostMachine::stop() {
  {
    const std::lock_guard lock(guard_);
    stopping_.store(true);
  }
  ended_.notify_one();
}

void HostMachine::wake_all_parked() {
  for (const Parked& parked : parked_) {
    if (Atomic* const word = parked.word.load()) wake_parked(*word, kForEver);
  }
}

void HostMachine::join_all() {
  std::exception_ptr refused;
  for (;;) {
    {
      std::unique_lock lock(guard_);
      const auto has_ended = [this] { return live_ == 0; };
      const auto has_to_look = [this] { return live_ == 0 || stopping(); };
      if (stopping()) {
        // Again until they have ended: one may be about to park, having looked before.
        wake_all_parked();
        ended_.wait_for(lock, std::chrono::milliseconds(1), has_ended);
      } else if (poll_) {
        ended_.wait_for(lock, std::chrono::milliseconds(50), has_to_look);
      } else {
        ended_.wait(lock, has_to_look);
      }
      if (live_ == 0) break;
      if (stopping()) continue;
    }
    try {
      poll_(now());
    } catch (...) {
      refused = std::current_exception();
      stop();
    }
  }
  std::exception_ptr failure;
  {
    const std::lock_guard lock(guard_);
    running_ = false;
    failure = std::exchange(failure_, nullptr);
  }
  threads_.clear();
  parked_.clear();
  elapsed_ps_ = now() * 1000;
  sort_trace();
  if (refused) std::rethrow_exception(refused);
  if (failure) std::rethrow_exception(failure);
}

void HostMachine::work(std::uint64_t ns) { compute(ns * iterations_per_1024_ns() / 1024); }

HostMachine::Done<SpinResult> HostMachine::spin_until(Ref ref, Until until, Spin spin) {
  const Timed timed(*this, State::spin);
  SpinResult result{};
  for (;;) {
    result.holds = until.holds(ref.word->load());
    if (result.holds || result.rounds == spin.rounds) break;
    if ((result.rounds & 63) == 63 && stopping()) break;
    ++result.rounds;
    const std::uint64_t times = spin.draws_up_to > 0 ? random() % (spin.draws_up_to + 1) : 1;
    for (std::uint64_t i = 0; i < times * spin.pauses; ++i) pause();
  }
  return {result};
}

HostMachine::Done<ParkResult> HostMachine::park(Ref ref, std::uint64_t expected, Site site,
                                                std::uint64_t timeout_ns, Patience patience) {
  const Timed timed(*this, State::parked, site);
  const std::uint64_t start = now();
  if (ref.word->load() != expected) return {ParkResult::changed};
  const bool heeds_stop = patience == Patience::until_stop;
  Context* const context = Context::of_this_thread();
  if (context != nullptr) context->parked->word.store(ref.word);
  if (!heeds_stop || !stopping()) {
    // No timer without a timeout: setting one is dear. Nobody wakes a thread that is not of the machine when the run stops.
    park_on(*ref.word, expected, context != nullptr ? timeout_ns : std::min(timeout_ns, kSlice));
  }
  if (context != nullptr) context->parked->word.store(nullptr, std::memory_order_relaxed);
  if (ref.word->load() != expected) return {ParkResult::woken};
  if (heeds_stop && stopping()) return {ParkResult::stopping};
  // Whoever was woken for no reason looks at the word again, as after a futex.
  return {timeout_ns != kForEver && now() - start >= timeout_ns ? ParkResult::timed_out : ParkResult::woken};
}

HostMachine::DoneVoid HostMachine::sleep(std::uint64_t ns) {
  const Timed timed(*this, State::sleeping);
  while (ns > 0 && !stopping()) {
    const std::uint64_t piece = std::min(ns, kSlice);
    sleep_for(piece);
    ns -= piece;
  }
  return {};
}

HostMachine::DoneVoid HostMachine::touch(Lines& lines, std::size_t first, std::size_t count, Access access) {
  for (Lines::Line& line : std::span(lines.lines_).subspan(first, count)) {
    const std::uint64_t seen = line.first_word.load(std::memory_order_relaxed);
    if (access == Access::write) line.first_word.store(seen + 1, std::memory_order_relaxed);
  }
  return {};
}

HostMachine::DoneVoid HostMachine::fsync(File& file) {
  const Timed timed(*this, State::io, file.site());
  file.sync(config_.fsync_ns);
  return {};
}

std::uint64_t HostMachine::random() {
  Context* const context = Context::of_this_thread();
  if (context != nullptr) return context->random.next();
  thread_local Random outside(config_.seed, ~std::uint64_t{0});
  return outside.next();
}

std::uint64_t HostMachine::cpu_ns() const {
  timespec used{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
  const std::uint64_t ns =
      static_cast<std::uint64_t>(used.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(used.tv_nsec);
  return ns - std::min(ns, elsewhere_ns_.load());
}

Site HostMachine::site(std::string_view name) {
  const std::lock_guard lock(guard_);
  return {names_.intern(name)};
}

void HostMachine::waited(Site site, const Wait& wait) {
  const std::lock_guard lock(guard_);
  if (waits_.size() <= site.id) waits_.resize(site.id + 1);
  WaitStats& stats = waits_[site.id];
  stats.spin_rounds += wait.spin_rounds;
  stats.parks += wait.parks;
  stats.ns.add(wait.ns);
}

void HostMachine::enter_profiled(Site site) {
  Context& context = *Context::of_this_thread();
  context.charge(State::work);
  context.activity = context.activities.child(context.activity, site.id);
}

void HostMachine::leave_profiled() {
  Context& context = *Context::of_this_thread();
  context.charge(State::work);
  context.activity = context.activities[context.activity].parent;
}

}  // namespace engineroom::machine
