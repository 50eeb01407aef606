// --interactive: a conversation on standard input and output.
#pragma once

#include <vector>

#include "examples/run_spec_decoding/conversation.h"

namespace minitorch::run_spec_decoding {

// Reads messages and commands (commands.h) until /quit, the end of input, or Ctrl-C where a message is expected;
// streams the answers. Ctrl-C in an answer ends the answer. What a user typed wrong gets one line on stderr, and the
// conversation goes on. Adds a record for every answer. True: Ctrl-C ended it.
[[nodiscard]] bool converse(Conversation& conversation, std::vector<Record>& records);

}  // namespace minitorch::run_spec_decoding
