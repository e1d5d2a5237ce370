// Converts our nouns to messages of api/monitor.proto. Unknown values are left out.
#pragma once

#include "monitor.pb.h"
#include "server/batch_queue.h"
#include "server/session.h"

namespace beryl::server {

void Fill(const SessionSummary& summary, monitor::v1::Session& message);
void Fill(const LiveWindow& window, monitor::v1::Window& message);
void Fill(const LiveBatch& batch, monitor::v1::Batch& message);

}  // namespace beryl::server
