// Strided lines as contiguous ones, and loops over those that the compiler turns into vectors.

// The compiler cannot know that `out` is an operand itself or apart from it.
#if defined(__GNUC__) && !defined(__clang__)
#define MT_INDEPENDENT _Pragma("GCC ivdep")
#else
#define MT_INDEPENDENT _Pragma("clang loop vectorize(assume_safety)")
#endif

// Elements 0 .. count-1 of x, `step` apart, as contiguous ones: in place or in `buffer`.
template <typename T>
MT_INLINE const T* contiguous(const T* x, std::int64_t step, std::int64_t count, T* buffer) {
  if (step == 1) return x;
  if (step == 0) {
    for (std::int64_t i = 0; i < count; ++i) buffer[i] = *x;
  } else {
    for (std::int64_t i = 0; i < count; ++i) buffer[i] = x[i * step];
  }
  return buffer;
}

template <typename T>
MT_INLINE void spread(const T* buffer, std::int64_t count, T* out, std::int64_t step) {
  for (std::int64_t i = 0; i < count; ++i) out[i * step] = buffer[i];
}
