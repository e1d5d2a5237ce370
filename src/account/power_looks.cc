#include "account/power_looks.h"

#include <algorithm>
#include <cmath>

#include "types/unknown.h"

namespace beryl::account {
namespace {

// Without use for so many looks, a process is forgotten.
constexpr uint64_t kForgetAfter = 600;
constexpr Seconds kLongestHeld{10};

std::optional<Watts> Over(const std::optional<Joules>& energy, Seconds time) {
  return energy && time > Seconds{} ? std::optional(*energy / time) : std::nullopt;
}

std::optional<Joules> EnergyOf(const ProcessEnergy& process) {
  std::optional<Joules> sum;
  for (const double joules : process.energy_j) AddKnown(sum, IfKnown<Joules>(joules));
  return sum;
}

// The sum, if all are known.
template <typename Quantity>
std::optional<Quantity> SumOf(const std::vector<PowerLook::Device>& devices,
                              std::optional<Quantity> PowerLook::Device::*part) {
  std::optional<Quantity> sum;
  for (const PowerLook::Device& device : devices) {
    if (!(device.*part)) return std::nullopt;
    AddKnown(sum, device.*part);
  }
  return sum;
}

// CPU times of a stretch begin before its power.
Seconds PowerTimeOf(const Measurement& stretch) {
  Seconds known;
  for (const DeviceEnergy& device : stretch.devices) known = std::max(known, device.known_time);
  return known > Seconds{} ? known : stretch.duration;
}

}  // namespace

void PowerLooks::Hold(Seconds now, PowerLook::Device& device) {
  Held& held = held_[device.device];
  if (device.power) {
    held = {device.power, device.ours, now};
  } else if (now - held.since <= kLongestHeld) {
    device.power = held.power;
    device.ours = held.ours;
  }
}

PowerLook PowerLooks::Next(const Measurement& stretch, Nanos time) {
  ++looks_;
  PowerLook look;
  look.time = time;
  look.duration = PowerTimeOf(stretch);
  if (!start_) start_ = time - ToNanos(look.duration);
  look.elapsed = ToSeconds(time - *start_);
  look.origin = stretch.total.origin;
  for (const DeviceEnergy& part : stretch.devices) {
    PowerLook::Device device;
    device.device = part.device;
    device.origin = part.origin;
    device.source = part.source;
    device.power = part.mean_power;
    device.ours = Over(part.split.ours, part.known_time);
    Hold(look.elapsed, device);
    if (part.energy) of_devices_[part.device] += *part.energy;
    const auto known = of_devices_.find(part.device);
    if (known != of_devices_.end()) device.energy = known->second;
    look.devices.push_back(std::move(device));
  }
  look.power = SumOf(look.devices, &PowerLook::Device::power);
  look.ours = SumOf(look.devices, &PowerLook::Device::ours);
  AddKnown(energy_, stretch.total.energy);
  AddKnown(ours_, stretch.total.ours);
  look.energy = energy_;
  look.our_energy = ours_;
  for (const ProcessEnergy& part : stretch.processes) {
    if (!(part.cpu_time > Seconds{})) continue;
    PowerLook::Process process;
    process.pid = part.pid;
    process.name = part.name;
    process.threads = part.threads;
    process.is_ours = part.owner == TaskOwner::kWatched;
    if (stretch.duration > Seconds{}) process.cpus = part.cpu_time / stretch.duration;
    const std::optional<Joules> energy = EnergyOf(part);
    process.power = Over(energy, look.duration);
    Used& used = of_processes_[part.pid];
    if (used.name != part.name) used = {part.name, {}, 0};
    used.seen = looks_;
    if (energy) {
      used.energy += *energy;
      process.energy = used.energy;
    }
    look.processes.push_back(std::move(process));
  }
  std::erase_if(of_processes_,
                [&](const auto& known) { return looks_ - known.second.seen > kForgetAfter; });
  std::stable_sort(look.processes.begin(), look.processes.end(), [](const auto& a, const auto& b) {
    const double first = a.power ? a.power->value : -1;
    const double second = b.power ? b.power->value : -1;
    return first != second ? first > second : a.cpus > b.cpus;
  });
  return look;
}

}  // namespace beryl::account
