// Small tools of the kernel bodies; work for threads is a static split of a range into contiguous parts.

// Hints that memory near `p` will be read; `p` may point anywhere.
MT_INLINE void prefetch(const void* p) { __builtin_prefetch(p); }

MT_INLINE std::int64_t smaller(std::int64_t a, std::int64_t b) { return a < b ? a : b; }
MT_INLINE std::int64_t larger(std::int64_t a, std::int64_t b) { return a > b ? a : b; }

// Runs body(begin, end) over [0, size), on all threads when `parallel`, else on the calling one. Results never depend
// on it. From how much work on it pays is each kernel's kParallel... (kernels/README.md).
template <typename Body>
void split_range(const Context& context, bool parallel, std::int64_t size, const Body& body) {
  if (size <= 0) return;
  if (!parallel || size == 1) return body(std::int64_t{0}, size);
  struct Call {
    const Body* body;
    std::int64_t size;
  } call{&body, size};
  run_workers(context, &call, [](void* argument, int worker, int count) {
    const auto* shared = static_cast<const Call*>(argument);
    const Range part = part_of(shared->size, worker, count);
    if (part.begin < part.end) (*shared->body)(part.begin, part.end);
  });
}
