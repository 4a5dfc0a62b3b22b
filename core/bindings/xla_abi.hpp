// What a handler of XLA's foreign function interface is called with: the part of its C binary interface that steps
// need, declared here because jaxlib, which brings the headers, is not there when the package is built.
//
// The interface has number 0.minor; every struct begins with its size, and fields are only added behind others. The
// declarations below are those of 0.1 to 0.3 (jaxlib 0.4.34 to 0.10), compared with the installed jaxlib's header by
// tests/interop/test_xla_abi.py. A handler is asked for its version when it is registered, and refused there by a
// runtime that no longer serves it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace symplectree::xla {

inline constexpr int kMajor = 0, kOldestMinor = 1, kNewestMinor = 3;

enum ExtensionType : int { kMetadataExtension = 1 };
enum DataType : int { kS64 = 5, kF64 = 12 };
enum ArgumentType : int { kBuffer = 1 };
enum AttributeType : int { kScalar = 3 };
enum Stage : int { kExecute = 3 };
enum ErrorCode : int { kInvalidArgument = 3, kFailedPrecondition = 9, kInternal = 13 };

struct Error;    // XLA's own, behind pointers
struct Context;  // likewise

struct Extension {
  std::size_t struct_size;
  ExtensionType type;
  Extension* next;
};

struct Version {
  std::size_t struct_size;
  Extension* extensions;
  int major, minor;
};

struct ErrorArguments {
  std::size_t struct_size;
  Extension* extensions;
  const char* message;
  ErrorCode code;
};

// The runtime's functions, as far as they are called.
struct Api {
  std::size_t struct_size;
  Extension* extensions;
  Version version;
  const void* internal;
  Error* (*create_error)(ErrorArguments*);
};

struct Buffer {
  std::size_t struct_size;
  Extension* extensions;
  DataType type;
  void* data;
  std::int64_t rank;
  std::int64_t* shape;
};

struct Text {
  const char* start;
  std::size_t length;
};

struct Scalar {
  DataType type;
  void* value;
};

// Arguments, or results.
struct Buffers {
  std::size_t struct_size;
  Extension* extensions;
  std::int64_t count;
  ArgumentType* types;
  void** items;
};

struct Attributes {
  std::size_t struct_size;
  Extension* extensions;
  std::int64_t count;
  AttributeType* types;
  Text** names;
  void** items;
};

struct Call {
  std::size_t struct_size;
  Extension* extensions;
  const Api* api;
  Context* context;
  Stage stage;
  Buffers arguments, results;
  Attributes attributes;
};

// What a handler says of itself when it is registered.
struct Metadata {
  std::size_t struct_size;
  Version version;
  std::uint32_t traits;
};

struct MetadataExtension {
  Extension base;
  Metadata* metadata;
};

using Handler = Error* (*)(Call*);

// Answers the question for the version, and says whether it was asked. A runtime takes versions up to its own, which
// the oldest ones do not tell.
inline bool answer_metadata(const Call& call) {
  for (Extension* e = call.extensions; e; e = e->next) {
    if (e->type != kMetadataExtension) continue;
    Metadata& answer = *reinterpret_cast<MetadataExtension*>(e)->metadata;
    answer.version.major = kMajor;
    answer.version.minor = call.api ? std::min(call.api->version.minor, kNewestMinor) : kOldestMinor;
    answer.traits = 0;
    return true;
  }
  return false;
}

}  // namespace symplectree::xla
