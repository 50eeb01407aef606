// run_spec_decoding: decodes a prompt speculatively and plainly, streams both texts, and compares texts and times.
//   run_spec_decoding
//   run_spec_decoding --target MODEL --draft SMALLER_MODEL --prompt "What is 12 * 7 + 5?"
#include "examples/common/program.h"
#include "examples/run_spec_decoding/options.h"
#include "examples/run_spec_decoding/run.h"

int main(int argc, char** argv) {
  using namespace minitorch;
  return run_program("run_spec_decoding",
                     [&] { return run_spec_decoding::run(run_spec_decoding::parse_options(argc, argv)); });
}
