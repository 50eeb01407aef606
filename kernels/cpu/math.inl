// exp: a fixed sequence of operations, the same in every table.

// e^x within 1 ulp: x = n ln2 + r with |r| <= ln2 / 2, e^r = 1 + r + r^2 q(r), times 2^n in two steps so that results
// below 2^-126 lose bits only once. exp(-inf) = 0, exp(+inf) = inf, a NaN stays one. q is the polynomial of degree 4
// that minimises the relative error of e^r (Remez exchange; 3e-9).
MT_INLINE F32x16 exp(F32x16 x) {
  // Where n leaves the table of powers the result is 0 or infinity anyway. The operand order lets a NaN pass.
  x = min(broadcast(89.0f), max(broadcast(-104.0f), x));
  const F32x16 magic = broadcast(0x1.8p23f);  // adding it rounds to an integer, which its low bits then hold
  const F32x16 shifted = fma(x, broadcast(0x1.715476p0f), magic);  // log2(e)
  const F32x16 n = sub(shifted, magic);
  F32x16 r = fma(n, broadcast(-0x1.63p-1f), x);  // ln2 in two parts: n times the first is exact
  r = fma(n, broadcast(0x1.bd0106p-13f), r);
  F32x16 q = broadcast(0x1.6a2352p-10f);
  q = fma(q, r, broadcast(0x1.123a6cp-7f));
  q = fma(q, r, broadcast(0x1.5558f4p-5f));
  q = fma(q, r, broadcast(0x1.55549p-3f));
  q = fma(q, r, broadcast(0x1.fffffcp-2f));
  const F32x16 power = add(fma(mul(r, r), q, r), broadcast(1.0f));
  const U32x16 exponent = sub(as_bits(shifted), as_bits(magic));
  const U32x16 half = shift_right_signed<1>(exponent);
  const U32x16 bias = broadcast_u32(127);
  const F32x16 scale1 = as_float(shift_left<23>(add(half, bias)));
  const F32x16 scale2 = as_float(shift_left<23>(add(sub(exponent, half), bias)));
  return mul(mul(power, scale1), scale2);
}
