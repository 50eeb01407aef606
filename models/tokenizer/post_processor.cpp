// Filling in templates.
#include "models/tokenizer/post_processor.h"

#include <utility>

namespace minitorch::models {

std::vector<std::int32_t> PostProcessor::apply(std::vector<std::int32_t> ids, bool add_special_tokens) const {
  for (const PostTemplate& post_template : templates_) {
    std::vector<std::int32_t> result;
    result.reserve(ids.size() + post_template.items.size());
    for (const PostTemplate::Item& item : post_template.items) {
      if (item.is_text) {
        result.insert(result.end(), ids.begin(), ids.end());
      } else if (add_special_tokens) {
        result.push_back(item.id);
      }
    }
    ids = std::move(result);
  }
  return ids;
}

std::vector<std::int32_t> PostProcessor::added_ids() const {
  std::vector<std::int32_t> ids;
  for (const PostTemplate& post_template : templates_) {
    for (const PostTemplate::Item& item : post_template.items) {
      if (!item.is_text) ids.push_back(item.id);
    }
  }
  return ids;
}

}  // namespace minitorch::models
