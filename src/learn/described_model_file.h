// The part of an energy model's file that tells energy from descriptions.
#pragma once

#include "base/json_writer.h"
#include "learn/member_reader.h"
#include "types/described_model.h"

namespace beryl::learn {

void WriteDescribed(JsonWriter& json, const DescribedModel& described);
// What is wrong goes to `in`.
void ReadDescribed(json::Value value, MemberReader& in, DescribedModel& described);

}  // namespace beryl::learn
