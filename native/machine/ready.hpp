// What is there already, for a step that may have to wait in another design: awaiting it costs nothing.
#pragma once

#include <coroutine>

namespace engineroom::machine {

template <typename T = void>
struct Ready {
  T value;

  bool await_ready() const noexcept { return true; }
  void await_suspend(std::coroutine_handle<>) const noexcept {}
  T await_resume() const noexcept { return value; }
};

template <>
struct Ready<void> {
  bool await_ready() const noexcept { return true; }
  void await_suspend(std::coroutine_handle<>) const noexcept {}
  void await_resume() const noexcept {}
};

}  // namespace engineroom::machine
