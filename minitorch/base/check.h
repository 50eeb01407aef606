// MT_CHECK: argument checks that throw with a formatted message.
#pragma once

#include <fmt/format.h>

#include <utility>

#include "minitorch/base/error.h"

namespace minitorch {

// Throws `ErrorType` with the formatted text. Out of line of the check, so that the hot path stays small.
template <typename ErrorType = Error, typename... Args>
[[noreturn, gnu::cold, gnu::noinline]] void fail(fmt::format_string<Args...> format, Args&&... args) {
  throw ErrorType(fmt::format(format, std::forward<Args>(args)...));
}

}  // namespace minitorch

// MT_CHECK(cond, "op: expected ..., got {}", value) throws minitorch::Error when `cond` is false.
#define MT_CHECK(cond, ...) MT_CHECK_AS(::minitorch::Error, cond, __VA_ARGS__)

// The same with a chosen exception type: MT_CHECK_AS(ShapeError, cond, "...").
#define MT_CHECK_AS(error_type, cond, ...)        \
  do {                                            \
    if (!(cond)) [[unlikely]]                     \
      ::minitorch::fail<error_type>(__VA_ARGS__); \
  } while (false)

// Checks inside kernels and hot loops: present in debug builds only.
#ifdef NDEBUG
#define MT_DCHECK(cond) ((void)0)
#else
#include <cassert>  // assert
#define MT_DCHECK(cond) assert(cond)
#endif
