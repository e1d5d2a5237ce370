// The members of an energy model's file that predict from descriptions.
#pragma once

#include "learn/members.h"
#include "types/described_model.h"

namespace beryl::learn {

void Read(MemberReader& in, json::Value value, const std::string& path, DescribedModel& into);
void Write(MemberWriter& out, const DescribedModel& described);

}  // namespace beryl::learn
