#include "server/rpc/authenticator.h"

#include <string_view>
#include <utility>

namespace beryl::server {

Authenticator::Authenticator(uint32_t uid, std::string token,
                             std::function<uint64_t(const std::string&)> connection_of)
    : uid_(uid), token_(std::move(token)), connection_of_(std::move(connection_of)) {}

Result<Caller> Authenticator::CallerOf(const grpc::CallbackServerContext& context) const {
  if (!token_.empty()) {
    const auto& metadata = context.client_metadata();
    const auto header = metadata.find("authorization");
    if (header == metadata.end() ||
        !CarriesToken(std::string_view(header->second.data(), header->second.size()), token_)) {
      return Error{ErrorCode::kForbidden,
                   "the token is missing or wrong; send 'authorization: Bearer TOKEN'"};
    }
  }
  if (!connection_of_) return Caller{uid_, 0};
  const uint64_t connection = connection_of_(context.peer());
  if (connection == 0) return Error{ErrorCode::kNotNow, "the connection is closed"};
  return Caller{uid_, connection};
}

}  // namespace beryl::server
