// The coroutine of every kernel on the machine: starts at once, hands control to its caller at its end.
//
// Models      a function call of the server that may block
// Leaves out  cancellation other than by destroying the outermost task, which destroys all it waits for
// Cost        a frame from a thread-local free list; no allocation once the lists are filled
#pragma once

#include <array>
#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <new>
#include <optional>
#include <utility>

#if defined(__cpp_exceptions)
#include <exception>
#endif

namespace engineroom::machine {

/// Free lists of coroutine frames, one list for each size in steps of a cache line.
class FramePool {
 public:
  FramePool() = default;
  FramePool(const FramePool&) = delete;
  FramePool& operator=(const FramePool&) = delete;
  ~FramePool() {
    for (Free*& list : lists_) {
      while (list != nullptr) ::operator delete(std::exchange(list, list->next));
    }
  }

  std::uint64_t calls = 0;

  void* take(std::size_t bytes) {
    ++calls;
    const std::size_t size_class = class_of(bytes);
    if (size_class >= kClasses) return ::operator new(bytes);
    Free*& list = lists_[size_class];
    if (list == nullptr) return ::operator new(size_class* kStep);
    return std::exchange(list, list->next);
  }
  void give(void* frame, std::size_t bytes) {
    const std::size_t size_class = class_of(bytes);
    if (size_class >= kClasses) return ::operator delete(frame);
    lists_[size_class] = ::new (frame) Free{lists_[size_class]};
  }

  static FramePool& of_this_thread() {
#if defined(__wasm__)
    static FramePool pool;  // one thread, and nobody who would run the end of a thread
#else
    thread_local FramePool pool;
#endif
    return pool;
  }

 private:
  struct Free {
    Free* next;
  };
  static constexpr std::size_t kStep = 64;
  static constexpr std::size_t kClasses = 33;  // frames up to 2 KiB
  static std::size_t class_of(std::size_t bytes) { return (bytes + kStep - 1) / kStep; }

  std::array<Free*, kClasses> lists_{};
};

namespace task_internal {

/// Calls of tasks by this thread, so that the simulated machine can charge for them. Beside the frames: a look at what is a
/// thread's own costs a call of the loader.
inline std::uint64_t& calls() { return FramePool::of_this_thread().calls; }

/// The coroutine, which waits and so is not at its end. One that says it is has a frame that the compiler laid out wrongly
/// (concept.hpp): nothing that it goes on to do would be right, whatever the build, so the process ends here.
inline std::coroutine_handle<> suspended(std::coroutine_handle<> self) {
  if (self.done()) [[unlikely]] {
#if !defined(__wasm__)
    std::fputs(
        "engineroom: a coroutine that waits says it is done: its frame is laid out wrongly. Await into a "
        "variable, not inside a condition (native/machine/concept.hpp).\n",
        stderr);
#endif
    std::abort();
  }
  return self;
}

/// What the promises of all tasks share.
struct PromiseBase {
  struct Final {
    bool await_ready() const noexcept { return false; }
    template <typename Promise>
    std::coroutine_handle<> await_suspend(std::coroutine_handle<Promise> self) const noexcept {
      return self.promise().caller ? self.promise().caller : std::noop_coroutine();
    }
    void await_resume() const noexcept {}
  };

#if defined(__wasm__)
  // The body up to its first suspension is else compiled twice, which a browser has to load. Whoever awaits
  // starts it, so that nothing happens in another order.
  std::suspend_always initial_suspend() const noexcept { return {}; }
#else
  std::suspend_never initial_suspend() const noexcept { return {}; }
#endif
  Final final_suspend() const noexcept { return {}; }

#if defined(__cpp_exceptions)
  void unhandled_exception() noexcept { failure = std::current_exception(); }
  void rethrow() const {
    if (failure) std::rethrow_exception(failure);
  }
  std::exception_ptr failure;
#else
  [[noreturn]] void unhandled_exception() const noexcept { std::abort(); }
  void rethrow() const {}
#endif

#if defined(ENGINEROOM_SANITIZED)
  // No free lists: a frame that is used again would hide a use after its end.
  PromiseBase() { ++calls(); }
#else
  static void* operator new(std::size_t bytes) { return FramePool::of_this_thread().take(bytes); }
  static void operator delete(void* frame, std::size_t bytes) {
    FramePool::of_this_thread().give(frame, bytes);
  }
#endif

  std::coroutine_handle<> caller;
};

template <typename T>
struct Promise : PromiseBase {
  std::coroutine_handle<Promise> get_return_object() {
    return std::coroutine_handle<Promise>::from_promise(*this);
  }
  template <typename U>
  void return_value(U&& result) {
    value.emplace(std::forward<U>(result));
  }
  T take() { return std::move(*value); }
  std::optional<T> value;
};

template <>
struct Promise<void> : PromiseBase {
  std::coroutine_handle<Promise> get_return_object() {
    return std::coroutine_handle<Promise>::from_promise(*this);
  }
  void return_void() const noexcept {}
  void take() const noexcept {}
};

}  // namespace task_internal

/// A call that may block. `co_await` it once, or let the machine run it as a thread. It owns its frame.
template <typename T = void>
class [[nodiscard]] Task {
 public:
  using promise_type = task_internal::Promise<T>;

  Task() = default;
  Task(std::coroutine_handle<promise_type> self) : self_(self) {}  // NOLINT: the compiler converts
  Task(Task&& other) noexcept : self_(std::exchange(other.self_, nullptr)) {}
  Task& operator=(Task&& other) noexcept {
    if (this != &other) {
      if (self_) self_.destroy();
      self_ = std::exchange(other.self_, nullptr);
    }
    return *this;
  }
  ~Task() {
    if (self_) self_.destroy();
  }

  explicit operator bool() const { return static_cast<bool>(self_); }
  bool done() const { return self_.done(); }
  /// For a machine that has just made a thread's task.
  void start() {
#if defined(__wasm__)
    self_.resume();
#endif
  }
  /// Control goes to `caller` when this ends.
  void set_caller(std::coroutine_handle<> caller) { self_.promise().caller = caller; }
  /// The result, or the exception that ended the task.
  T result() {
    self_.promise().rethrow();
    return self_.promise().take();
  }

  bool await_ready() {
    start();
    return self_.done();
  }
  void await_suspend(std::coroutine_handle<> caller) noexcept { set_caller(caller); }
  T await_resume() { return result(); }

 private:
  std::coroutine_handle<promise_type> self_;
};

}  // namespace engineroom::machine
