// Converts our errors to gRPC's.
#pragma once

#include <grpcpp/grpcpp.h>

#include "base/result.h"

namespace beryl::server {

inline grpc::Status StatusOf(const Error& error) {
  switch (error.code) {
    case ErrorCode::kInvalid:
    case ErrorCode::kMisuse:
      return {grpc::StatusCode::INVALID_ARGUMENT, error.message};
    case ErrorCode::kNotFound:
      return {grpc::StatusCode::NOT_FOUND, error.message};
    case ErrorCode::kForbidden:
      return {grpc::StatusCode::PERMISSION_DENIED, error.message};
    case ErrorCode::kTooMuch:
      return {grpc::StatusCode::RESOURCE_EXHAUSTED, error.message};
    case ErrorCode::kNotNow:
      return {grpc::StatusCode::FAILED_PRECONDITION, error.message};
    case ErrorCode::kIo:
      break;
  }
  return {grpc::StatusCode::INTERNAL, error.message};
}

}  // namespace beryl::server
