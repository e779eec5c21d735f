// How a kernel that can use several threads gets them: the caller passes a function that runs its work.
// Natively that is run_on_threads; a kernel that is given none runs on the thread that called it.
#pragma once

#include <cstddef>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace engineroom {

/// Calls work(0) ... work(n - 1), each once, at the same time or one after the other, and returns when all
/// have ended. work(0) runs on the calling thread.
using Workers = std::function<void(std::size_t n, const std::function<void(std::size_t)>& work)>;

/// A thread for each piece of work but the first. The first exception is thrown again when all have ended.
inline void run_on_threads(std::size_t n, const std::function<void(std::size_t)>& work) {
  std::exception_ptr failure;
  std::mutex guard;
  const auto run = [&](std::size_t i) {
    try {
      work(i);
    } catch (...) {
      const std::lock_guard lock(guard);
      if (!failure) failure = std::current_exception();
    }
  };
  {
    std::vector<std::jthread> threads;
    for (std::size_t i = 1; i < n; ++i) threads.emplace_back(run, i);
    run(0);
  }
  if (failure) std::rethrow_exception(failure);
}

}  // namespace engineroom
