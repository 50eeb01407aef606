// The array of all architectures: adding one is a line here, where names and switches are all that differs.
#include <array>
#include <string>

#include "minitorch/base/check.h"
#include "models/decoder_spec.h"

namespace minitorch::models {
namespace {

constexpr std::array kSpecs{
    // Qwen2, Qwen2.5 and the DeepSeek-R1 distillates made from them: biases on q, k and v always, on nothing else.
    DecoderSpec{.architecture = "Qwen2ForCausalLM",
                .model_type = "qwen2",
                .qkv_bias_default = true,
                .honours_sliding_window = true,
                .names = {}},
    // Llama 2, 3, 3.1 and what shares their class.
    DecoderSpec{.architecture = "LlamaForCausalLM", .model_type = "llama", .honours_attention_bias = true, .names = {}},
};

}  // namespace

std::span<const DecoderSpec> decoder_specs() { return kSpecs; }

const DecoderSpec& find_decoder_spec(std::string_view architecture) {
  std::string known;
  for (const DecoderSpec& spec : kSpecs) {
    if (spec.architecture == architecture) return spec;
    known += known.empty() ? "" : ", ";
    known += spec.architecture;
  }
  fail("architecture: expected one of {}, got \"{}\"", known, architecture);
}

}  // namespace minitorch::models
