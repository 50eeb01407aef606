// The exceptions this library throws. Kept free of fmt, so that any header may include it.
#pragma once

#include <stdexcept>
#include <string>

namespace minitorch {

// Base of every exception thrown by library code. The text reads `where: expected ..., got ...`.
class Error : public std::runtime_error {
 public:
  explicit Error(const std::string& message) : std::runtime_error(message) {}
};

// Shapes, strides or axes that do not fit together.
class ShapeError : public Error {
 public:
  using Error::Error;
};

// An element type that the operation does not take.
class DTypeError : public Error {
 public:
  using Error::Error;
};

// A device that is missing or refused the work.
class DeviceError : public Error {
 public:
  using Error::Error;
};

// A file that is missing, malformed or cannot be written. The text names the file.
class IoError : public Error {
 public:
  using Error::Error;
};

}  // namespace minitorch
