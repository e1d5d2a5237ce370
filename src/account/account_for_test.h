// Accounting that must succeed, and access to its results, for tests.
#pragma once

#include <string_view>
#include <utility>

#include <gtest/gtest.h>

#include "account/account.h"
#include "account/reference_testing.h"

namespace beryl::account {

inline Footprint MustAccount(const PowerTrace& power, const OpTrace& ops,
                             const AccountOptions& options = {}) {
  auto footprint = Account(power, ops, options);
  EXPECT_TRUE(footprint) << (footprint ? "" : footprint.error().message);
  return footprint ? std::move(*footprint) : Footprint();
}

// The energy of an operation over all channels and steps.
inline double EnergyOf(const Footprint& footprint, const OpTrace& ops, std::string_view name) {
  double sum = 0;
  for (const EnergyShare& share : footprint.shares) {
    if (ops.strings.Text(ops.kinds[share.kind].op) == name) sum += share.energy.value;
  }
  return sum;
}

inline const ChannelAccount& AccountOf(const Footprint& footprint, std::string_view channel) {
  for (const ChannelAccount& account : footprint.channels) {
    if (account.channel == channel) return account;
  }
  ADD_FAILURE() << "no channel " << channel;
  return footprint.channels.front();
}

}  // namespace beryl::account
