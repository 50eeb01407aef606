// Walks over a row in vectors, the last one partly filled.

// Lambdas given to for_lanes, so that they know a full vector from the last one.
#define MT_LANES __attribute__((always_inline))

// Calls body(column, lanes) for pieces of 16 columns and a last one of fewer.
template <typename Body>
MT_INLINE void for_lanes(std::int64_t count, const Body& body) {
  std::int64_t c = 0;
  for (; c + 16 <= count; c += 16) body(c, std::int64_t{16});
  if (c < count) body(c, count - c);
}
// One of those pieces. Inlined with 16 lanes known, the partial form falls away.
MT_INLINE F32x16 load_lanes(const float* p, std::int64_t lanes) {
  return lanes == 16 ? load(p) : load_partial(p, lanes);
}
MT_INLINE void store_lanes(float* p, F32x16 x, std::int64_t lanes) {
  lanes == 16 ? store(p, x) : store_partial(p, x, lanes);
}

constexpr std::int64_t kRowsParallel = 16 * 1024;  // elements from which rows are shared between threads
