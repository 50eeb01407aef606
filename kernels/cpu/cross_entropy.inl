// cross_entropy and its backward.

void cross_entropy(const Context& context, const CrossEntropyArgs& args) {
  split_range(context, args.rows * args.cols >= kRowsParallel, args.rows,
              [&args](std::int64_t begin, std::int64_t end) {
                for (std::int64_t m = begin; m < end; ++m) {
                  const float* logits = args.logits + m * args.logits_stride;
                  const float most = max_of(logits, args.cols);
                  const float* next = logits + args.logits_stride;
                  const float log_sum = __builtin_logf(exp_and_sum(logits, nullptr, args.cols, most, next));
                  const std::int32_t target = args.targets[m];
                  args.loss[m] = target < 0 ? 0.0f : log_sum + (most - logits[target]);
                  args.log_sum[m] = log_sum + most;
                }
              });
}

void cross_entropy_backward_row(const CrossEntropyBackwardArgs& args, std::int64_t m) {
  const float* logits = args.logits + m * args.logits_stride;
  float* dlogits = args.dlogits + m * args.dlogits_stride;
  const std::int32_t target = args.targets[m];
  if (target < 0) {
    for_lanes(args.cols, [&](std::int64_t c, std::int64_t lanes) MT_LANES { store_lanes(dlogits + c, zero(), lanes); });
    return;
  }
  const F32x16 log_sum = broadcast(args.log_sum[m]);
  const F32x16 scale = broadcast(args.scale[m]);
  for_lanes(args.cols, [&](std::int64_t c, std::int64_t lanes) MT_LANES {
    store_lanes(dlogits + c, mul(exp(sub(load_lanes(logits + c, lanes), log_sum)), scale), lanes);
  });
  dlogits[target] -= args.scale[m];
}

void cross_entropy_backward(const Context& context, const CrossEntropyBackwardArgs& args) {
  split_range(context, args.rows * args.cols >= kRowsParallel, args.rows,
              [&args](std::int64_t begin, std::int64_t end) {
                for (std::int64_t m = begin; m < end; ++m) cross_entropy_backward_row(args, m);
              });
}
