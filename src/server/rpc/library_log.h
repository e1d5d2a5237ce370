// What gRPC and protobuf have to say. By themselves they print on stderr, which blocks, and quote
// what clients send.
#pragma once

#include <string>

namespace beryl::server {

// Gives the messages of both libraries to `log` from now on, a few a minute: a client can cause any
// number. `log` is called from any thread. Call before gRPC is used.
void TakeLibraryLogs(void (*log)(const std::string&));

}  // namespace beryl::server
