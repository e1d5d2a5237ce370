#include "importers/xplane_plane.h"

#include <algorithm>
#include <array>
#include <utility>

namespace beryl::importers {
namespace {

constexpr std::string_view kProgramsPlane = "/host:metadata";

StatRole RoleOf(std::string_view name) {
  struct Named {
    std::string_view name;
    StatRole role;
  };
  constexpr std::array<Named, 11> kRoles = {{{"hlo_op", StatRole::kHloOp},
                                             {"hlo_module", StatRole::kHloModule},
                                             {"tf_op", StatRole::kTfOp},
                                             {"tf_op_name", StatRole::kTfOp},
                                             {"eager_op", StatRole::kEagerOp},
                                             {"is_func", StatRole::kIsFunction},
                                             {"program_id", StatRole::kProgram},
                                             {"correlation_id", StatRole::kCorrelation},
                                             {"group_id", StatRole::kGroup},
                                             {"step_num", StatRole::kStepNumber},
                                             {"profile_start_time", StatRole::kStartTime}}};
  for (const Named& known : kRoles) {
    if (known.name == name) return known.role;
  }
  return StatRole::kNone;
}

}  // namespace

void PlaneReader::Read() {
  plane_.name.clear();
  plane_.offset = wire_.offset();
  while (wire_.Next()) {
    switch (wire_.field()) {
      case 2:
        plane_.name = wire_.Text(kLongestXPlaneName);
        break;
      case 3:
        Within([&] { ReadLine(); });
        break;
      case 4:
        Within([&] { ReadEventName(); });
        break;
      case 5:
        Within([&] { ReadStatName(); });
        break;
      case 6:
        Within([&] { ReadStat(plane_.plane_stats); });
        break;
      default:
        break;
    }
  }
}

void PlaneReader::ReadLine() {
  RawLine line;
  line.first_event = plane_.events.size();
  StringId name = 0;
  StringId display = 0;
  while (wire_.Next()) {
    switch (wire_.field()) {
      case 1:
        line.line.thread = wire_.Signed();
        break;
      case 2:
        name = plane_.texts.Intern(wire_.Text(kLongestXPlaneName));
        break;
      case 3:
        line.timestamp_ns = wire_.Signed();
        break;
      case 4: {
        const uint64_t offset = wire_.offset();
        Within([&] { ReadEvent(offset); });
        break;
      }
      case 11:
        display = plane_.texts.Intern(wire_.Text(kLongestXPlaneName));
        break;
      default:
        break;
    }
  }
  line.line.name = plane_.texts.Text(display != 0 ? display : name);
  line.line.events = plane_.events.size() - line.first_event;
  line.line.relative = line.timestamp_ns < kYear2000.value;
  plane_.lines.push_back(std::move(line));
}

void PlaneReader::ReadEvent(uint64_t offset) {
  RawEvent event;
  event.offset = offset;
  event.first_stat = plane_.stats.size();
  while (wire_.Next()) {
    switch (wire_.field()) {
      case 1:
        event.metadata = wire_.Signed();
        break;
      case 2:
        event.offset_ps = wire_.Signed();
        break;
      case 3:
        event.duration_ps = wire_.Signed();
        break;
      case 4:
        Within([&] { ReadStat(plane_.stats); });
        break;
      case 5:
        event.has_time = false;
        break;
      default:
        break;
    }
  }
  if (wire_.truncated()) {
    plane_.stats.resize(event.first_stat);
  } else {
    plane_.events.push_back(event);
  }
}

void PlaneReader::ReadStat(std::vector<Stat>& stats) {
  Stat stat;
  while (wire_.Next()) {
    switch (wire_.field()) {
      case 1:
        stat.id = static_cast<uint32_t>(std::min<uint64_t>(wire_.Unsigned(), UINT32_MAX));
        break;
      case 3:
      case 4:
        stat.value = wire_.Unsigned();
        break;
      case 5:
        stat.form = Stat::Form::kText;
        stat.value = plane_.texts.Intern(wire_.Text(kLongestXPlaneName));
        break;
      case 6:
        if (plane_.name == kProgramsPlane && wire_.Enter()) {
          programs_.Read(wire_, program_name_);
          wire_.Leave();
        }
        break;
      case 7:
        stat.form = Stat::Form::kReference;
        stat.value = wire_.Unsigned();
        break;
      default:
        break;
    }
  }
  stats.push_back(stat);
}

void PlaneReader::ReadEventName() {
  ReadEntry([&](int64_t id) {
    EventName read;
    read.known = true;
    read.first_stat = plane_.name_stats.size();
    while (wire_.Next()) {
      if (wire_.field() == 1) {
        id = wire_.Signed();
      } else if (wire_.field() == 2) {
        program_name_ = wire_.Text(kLongestXPlaneName);
        read.full.text = plane_.texts.Intern(program_name_);
      } else if (wire_.field() == 4) {
        read.display.text = plane_.texts.Intern(wire_.Text(kLongestXPlaneName));
      } else if (wire_.field() == 5 && wire_.Enter()) {
        ReadStat(plane_.name_stats);
        wire_.Leave();
      }
    }
    read.stats = plane_.name_stats.size() - read.first_stat;
    // Half a name is none.
    if (!wire_.truncated()) plane_.event_names[id] = read;
  });
}

void PlaneReader::ReadStatName() {
  ReadEntry([&](int64_t id) {
    while (wire_.Next()) {
      if (wire_.field() == 1) {
        id = wire_.Signed();
      } else if (wire_.field() == 2) {
        const std::string_view name = wire_.Text(kLongestXPlaneName);
        const StatRole role = RoleOf(name);
        // Half a name is none.
        if (wire_.truncated()) continue;
        plane_.stat_names[id] = {{plane_.texts.Intern(name), 0}, role, true};
      }
    }
  });
}

}  // namespace beryl::importers
