// Vector forms of pointwise functions, over exp. Each is within 4 units in the last place of its result, the gelus of
// their argument (they cancel where it is negative). The functors in kernels/pointwise_functors.h say what is meant.

MT_INLINE F32x16 negative(F32x16 x) { return sub(zero(), x); }
MT_INLINE F32x16 magnitude(F32x16 x) { return as_float(bit_and(as_bits(x), broadcast_u32(0x7FFFFFFFu))); }
// x >= 0 with the sign of `sign`.
MT_INLINE F32x16 with_sign(F32x16 x, F32x16 sign) {
  return as_float(add(as_bits(x), bit_and(as_bits(sign), broadcast_u32(0x80000000u))));
}

// 1 / (1 + e^-x), by e^-|x|, which never overflows.
MT_INLINE F32x16 sigmoid(F32x16 x) {
  const F32x16 one = broadcast(1.0f);
  const F32x16 e = exp(min(x, negative(x)));
  return div(select_negative(x, e, one), add(one, e));
}

// Below 0.625 x + x^3 q(x^2), q the minimax polynomial of (tanh(x) / x - 1) / x^2 (Remez exchange, error 4e-9), above
// 1 - 2 / (e^2x + 1).
MT_INLINE F32x16 tanh(F32x16 x) {
  const F32x16 a = magnitude(x);
  const F32x16 square = mul(a, a);
  F32x16 q = broadcast(-0x1.75e95ep-8f);
  q = fma(q, square, broadcast(0x1.522886p-6f));
  q = fma(q, square, broadcast(-0x1.b83cb2p-5f));
  q = fma(q, square, broadcast(0x1.11072ap-3f));
  q = fma(q, square, broadcast(-0x1.555532p-2f));
  const F32x16 one = broadcast(1.0f);
  const F32x16 large = sub(one, div(broadcast(2.0f), add(exp(add(a, a)), one)));
  const F32x16 small = fma(mul(a, square), q, a);
  return with_sign(select_negative(sub(a, broadcast(0.625f)), small, large), x);
}

// Below 0.92 x q(x^2), above 1 - e^-r(x), which is 1 from 4 on; q and r are minimax polynomials (2e-8 and 2e-9).
MT_INLINE F32x16 erf(F32x16 x) {
  const F32x16 a = magnitude(x);
  const F32x16 square = mul(a, a);
  F32x16 q = broadcast(-0x1.3a1302p-11f);
  q = fma(q, square, broadcast(0x1.473a7cp-8f));
  q = fma(q, square, broadcast(-0x1.b68b2p-6f));
  q = fma(q, square, broadcast(0x1.ce1a68p-4f));
  q = fma(q, square, broadcast(-0x1.8126e6p-2f));
  q = fma(q, square, broadcast(0x1.20dd74p+0f));
  const F32x16 b = min(broadcast(4.0f), a);  // a NaN passes
  F32x16 r = broadcast(-0x1.98d4a6p-13f);
  r = fma(r, b, broadcast(0x1.8da17cp-9f));
  r = fma(r, b, broadcast(-0x1.6b8e82p-6f));
  r = fma(r, b, broadcast(0x1.a9653ap-4f));
  r = fma(r, b, broadcast(0x1.4647b6p-1f));
  r = fma(r, b, broadcast(0x1.20ac3p+0f));
  r = fma(r, b, broadcast(0x1.b22664p-13f));
  const F32x16 large = sub(broadcast(1.0f), exp(negative(r)));
  return with_sign(select_negative(sub(a, broadcast(0.92f)), mul(a, q), large), x);
}

// The vector form of a functor, where there is one. Others are left to the compiler, element by element.
MT_INLINE F32x16 vector_form(functors::Sqrt, F32x16 x) { return sqrt(x); }
MT_INLINE F32x16 vector_form(functors::Rsqrt, F32x16 x) { return div(broadcast(1.0f), sqrt(x)); }
MT_INLINE F32x16 vector_form(functors::Exp, F32x16 x) { return exp(x); }
MT_INLINE F32x16 vector_form(functors::Tanh, F32x16 x) { return tanh(x); }
MT_INLINE F32x16 vector_form(functors::Erf, F32x16 x) { return erf(x); }
MT_INLINE F32x16 vector_form(functors::Sigmoid, F32x16 x) { return sigmoid(x); }
MT_INLINE F32x16 vector_form(functors::Silu, F32x16 x) { return mul(x, sigmoid(x)); }
MT_INLINE F32x16 vector_form(functors::Gelu, F32x16 x) {
  const F32x16 half = broadcast(0.5f);
  return mul(x, fma(half, erf(mul(x, broadcast(0x1.6a09e6p-1f))), half));
}
MT_INLINE F32x16 vector_form(functors::GeluTanh, F32x16 x) {
  const F32x16 inner = fma(mul(broadcast(0.044715f), x), x, broadcast(1.0f));
  return mul(x, sigmoid(mul(mul(broadcast(0x1.988454p+0f), x), inner)));
}

template <typename Functor>
concept HasVectorForm = requires(F32x16 x) {
  vector_form(Functor{}, x);
};
