#include "flows/list_profiles.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "base/text.h"
#include "flows/near_names.h"
#include "learn/profiles.h"

namespace beryl::flows {
namespace {

// Letters and digits in lower case, so that "RTX 4090" is a part of rtx-4090.
std::string Plain(std::string_view text) {
  std::string plain;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (std::isalnum(byte) != 0) plain += static_cast<char>(std::tolower(byte));
  }
  return plain;
}

std::optional<double> IfFinite(double value) {
  return std::isfinite(value) ? std::optional(value) : std::nullopt;
}

bool Matches(const ProfileList::Row& row, const std::string& pattern) {
  const std::string part = Plain(pattern);
  std::vector<std::string> texts = row.aliases;
  texts.insert(texts.end(), {row.name, row.machine});
  return std::any_of(texts.begin(), texts.end(), [&](const std::string& text) {
    return Plain(text).find(part) != std::string::npos;
  });
}

}  // namespace

Result<ProfileList> ListProfiles(const std::string& pattern) {
  ProfileList list;
  list.provenance = MakeProvenance({});
  const std::vector<std::string> names = learn::ProfileNames();
  for (const std::string& name : names) {
    const auto profile = learn::FindProfile(name);
    if (!profile) continue;
    ProfileList::Row row;
    row.name = name;
    row.aliases = learn::AliasesOf(name);
    row.machine = profile->trained_on.machine;
    row.memory = IfFinite(profile->trained_on.memory);
    if (const Datasheet* sheet = profile->datasheet()) {
      for (const Dtype dtype : {Dtype::kFloat32, Dtype::kFloat16, Dtype::kBfloat16}) {
        const auto flops = IfFinite(sheet->matmul_flops[static_cast<size_t>(dtype)]);
        if (flops) row.matmul_flops = std::max(row.matmul_flops.value_or(*flops), *flops);
      }
      row.bandwidth = IfFinite(sheet->bandwidth);
      row.board_power = IfKnown<Watts>(sheet->board_power.value);
    } else {
      row.calibrated = true;
      row.measured_with = fmt::format("{}, {} attention", DtypeName(profile->trained_on.dtype),
                                      AttentionName(profile->trained_on.attention));
    }
    if (Matches(row, pattern)) list.rows.push_back(std::move(row));
  }
  if (list.rows.empty()) {
    return InvalidError(
        fmt::format("no profile matches '{}'{}", Printable(pattern), NearNames(pattern, names)));
  }
  return list;
}

}  // namespace beryl::flows
