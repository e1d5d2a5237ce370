// From our answers to gRPC's.
#pragma once

#include <grpcpp/grpcpp.h>

#include "base/result.h"
#include "server/answer.h"

namespace beryl::server {

inline grpc::Status StatusOf(const Refused& refused) {
  switch (refused.kind) {
    case Refusal::kInvalid:
      return {grpc::StatusCode::INVALID_ARGUMENT, refused.message};
    case Refusal::kNotFound:
      return {grpc::StatusCode::NOT_FOUND, refused.message};
    case Refusal::kForbidden:
      return {grpc::StatusCode::PERMISSION_DENIED, refused.message};
    case Refusal::kTooMuch:
      return {grpc::StatusCode::RESOURCE_EXHAUSTED, refused.message};
    case Refusal::kNotNow:
      return {grpc::StatusCode::FAILED_PRECONDITION, refused.message};
    case Refusal::kBroken:
      break;
  }
  return {grpc::StatusCode::INTERNAL, refused.message};
}

inline grpc::Status StatusOf(const Error& error) {
  return {grpc::StatusCode::INTERNAL, error.message};
}

}  // namespace beryl::server
