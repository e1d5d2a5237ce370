#include "server/rpc/messages.h"

namespace beryl::server {
namespace {

using monitor::v1::Batch;

void Fill(const LiveDevice& device, monitor::v1::DeviceEnergy& message) {
  message.set_device(device.device);
  message.set_origin(std::string(OriginName(device.origin)));
  message.set_source(device.source);
  if (device.energy) message.set_energy_j(device.energy->value);
  if (device.ours) message.set_ours_j(device.ours->value);
}

void Fill(const LiveChannel& live, monitor::v1::Channel& message) {
  const PowerChannel& channel = live.channel;
  message.set_name(channel.name);
  message.set_scope(std::string(ScopeName(channel.scope)));
  message.set_source(channel.meter.source);
  message.set_origin(std::string(OriginName(channel.meter.origin)));
  message.set_within(live.within);
  message.set_resolution(channel.meter.per_count);
  message.set_counter(channel.kind == ChannelKind::kEnergyCounter);
  if (channel.meter.update_period_us) message.set_update_us(*channel.meter.update_period_us);
  if (live.power) message.set_power_w(live.power->value);
  if (live.energy) message.set_energy_j(live.energy->value);
}

}  // namespace

void Fill(const SessionSummary& summary, monitor::v1::Session& message) {
  message.set_session(summary.id);
  message.set_name(summary.name);
  message.mutable_pids()->Add(summary.pids.begin(), summary.pids.end());
  message.set_uid(summary.uid);
  message.set_running(summary.running);
  message.set_start_ns(static_cast<uint64_t>(summary.start.value));
  message.set_end_ns(static_cast<uint64_t>(summary.end.value));
  message.set_period_ns(static_cast<uint64_t>(summary.period.value));
  message.set_bytes(summary.bytes);
  message.set_ended_because(summary.ended_because);
  message.set_service(summary.published ? "smaragdine" : "monitor");
  message.set_open_windows(static_cast<uint32_t>(summary.open_windows));
  for (const LiveDevice& device : summary.devices) Fill(device, *message.add_devices());
}

void Fill(const LiveWindow& window, monitor::v1::Window& message) {
  message.set_name(window.name);
  message.set_start_ns(static_cast<uint64_t>(window.start.value));
  message.set_end_ns(static_cast<uint64_t>(window.end.value));
  for (const LiveDevice& device : window.devices) Fill(device, *message.add_devices());
  if (window.energy) message.set_energy_j(window.energy->value);
  if (window.ours) message.set_ours_j(window.ours->value);
}

void Fill(const LiveBatch& batch, Batch& message) {
  message.set_time_ns(static_cast<uint64_t>(batch.time.value));
  message.set_lost_batches(batch.lost_batches);
  message.set_missed_ticks(batch.missed_ticks);
  message.set_lost_readings(batch.lost_readings);
  message.set_last(batch.last);
  for (const LiveDevice& device : batch.devices) Fill(device, *message.add_devices());
  for (size_t i = 0; i < batch.channels.size(); ++i) {
    monitor::v1::Channel& channel = *message.add_channels();
    Fill(batch.channels[i], channel);
    if (i >= batch.readings.channels.size()) continue;
    const PowerChannel& readings = batch.readings.channels[i];
    for (const Nanos time : readings.times) channel.add_times_ns(time.value);
    channel.mutable_values()->Add(readings.values.begin(), readings.values.end());
  }
}

}  // namespace beryl::server
