// Setting a variable of the environment for a while.
#pragma once

#include <cstdlib>  // setenv
#include <optional>
#include <string>

namespace minitorch::test {

// Sets the variable, or takes it away where `value` is null; restores it at the end of scope.
class EnvironmentVariable {
 public:
  EnvironmentVariable(std::string name, const char* value) : name_(std::move(name)) {
    if (const char* former = std::getenv(name_.c_str()); former != nullptr) former_ = former;
    set(value);
  }
  ~EnvironmentVariable() { set(former_.has_value() ? former_->c_str() : nullptr); }
  EnvironmentVariable(const EnvironmentVariable&) = delete;
  EnvironmentVariable& operator=(const EnvironmentVariable&) = delete;

 private:
  void set(const char* value) const {
    value != nullptr ? ::setenv(name_.c_str(), value, 1) : ::unsetenv(name_.c_str());
  }

  std::string name_;
  std::optional<std::string> former_;
};

}  // namespace minitorch::test
