// Post-processors: tokens that are put around a text.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace minitorch::models {

// One template: added ids, and places where the text's own ids stand.
struct PostTemplate {
  struct Item {
    bool is_text = false;
    std::int32_t id = 0;  // added when special tokens are asked for
  };
  std::vector<Item> items;
};

class PostProcessor {
 public:
  // Several templates are applied one after the other. None at all leaves the ids as they are.
  void add(PostTemplate post_template) { templates_.push_back(std::move(post_template)); }

  [[nodiscard]] std::vector<std::int32_t> apply(std::vector<std::int32_t> ids, bool add_special_tokens) const;
  // Every id that may be added.
  [[nodiscard]] std::vector<std::int32_t> added_ids() const;

 private:
  std::vector<PostTemplate> templates_;
};

}  // namespace minitorch::models
