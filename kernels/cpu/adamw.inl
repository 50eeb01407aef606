// adamw: one pass over the four arrays.

void adamw(const Context& context, const AdamWArgs& args) {
  constexpr std::int64_t kParallel = 16 * 1024;
  const F32x16 grad_scale = broadcast(args.grad_scale);
  const F32x16 beta1 = broadcast(args.beta1);
  const F32x16 beta2 = broadcast(args.beta2);
  const F32x16 rest1 = broadcast(1.0f - args.beta1);
  const F32x16 rest2 = broadcast(1.0f - args.beta2);
  const F32x16 decay = broadcast(args.lr * args.weight_decay);
  const F32x16 step = broadcast(args.lr / args.correction1);
  const F32x16 unbias = broadcast(1.0f / args.correction2);
  const F32x16 eps = broadcast(args.eps);
  split_range(context, args.count >= kParallel, args.count, [&](std::int64_t begin, std::int64_t end) {
    for_lanes(end - begin, [&](std::int64_t c, std::int64_t lanes) MT_LANES {
      const std::int64_t i = begin + c;
      const F32x16 g = mul(load_lanes(args.grad + i, lanes), grad_scale);
      const F32x16 m = fma(beta1, load_lanes(args.m + i, lanes), mul(rest1, g));
      const F32x16 v = fma(beta2, load_lanes(args.v + i, lanes), mul(mul(rest2, g), g));
      const F32x16 p = load_lanes(args.parameter + i, lanes);
      const F32x16 change = div(mul(step, m), add(sqrt(mul(v, unbias)), eps));
      store_lanes(args.m + i, m, lanes);
      store_lanes(args.v + i, v, lanes);
      store_lanes(args.parameter + i, sub(p, fma(decay, p, change)), lanes);
    });
  });
}
