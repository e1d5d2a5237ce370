#include <algorithm>

#include "base/matchers_for_test.h"
#include "views/views.h"

namespace beryl::views {
namespace {

PowerLook MakeLook() {
  PowerLook look;
  look.machine = "testbox";
  look.duration = Seconds{1};
  look.elapsed = Seconds{12};
  look.devices = {{"CPU:0", Origin::kMeasured, "rapl-powercap", Watts{30}, Watts{12}, Joules{300}},
                  {"GPU:0", Origin::kMeasured, "nvml", Watts{10}, std::nullopt, Joules{100}}};
  look.processes = {{7, "python3", 3, 1.5, Watts{12}, Joules{120}, true},
                    {8, "be\x1b[31mryl", 1, 0.01, std::nullopt, std::nullopt, false}};
  look.power = Watts{40};
  look.energy = Joules{400};
  return look;
}

TEST(PowerLookView, APageHasDevicesAndProcesses) {
  const std::string page = Write(MakeLook(), Format::kTable, {});
  EXPECT_THAT(page, HasSubstr("40.0 W; 400 J in 12.0 s\n"));
  EXPECT_THAT(page, HasSubstr("all processes"));
  EXPECT_THAT(page, HasSubstr("CPU:0"));
  EXPECT_THAT(page, HasSubstr("150.0%"));
  EXPECT_THAT(page, HasSubstr("12.0 W"));
  EXPECT_THAT(page, Not(HasSubstr("\x1b[31m"))) << "a name from outside is no command";
}

TEST(PowerLookView, OfTheMachineThereAreNoProcesses) {
  PowerLook look = MakeLook();
  look.processes.erase(look.processes.begin());
  const std::string page = Write(look, Format::kTable, {});
  EXPECT_THAT(page, HasSubstr("; the machine; mean of"));
  EXPECT_THAT(page, Not(HasSubstr("all processes")));
  EXPECT_THAT(page, Not(HasSubstr("this program")));
}

TEST(PowerLookView, OfWatchedProcessesItSaysTheirPart) {
  PowerLook look = MakeLook();
  look.pids = {7};
  look.ours = Watts{12};
  look.origin = Origin::kEstimated;
  EXPECT_THAT(Write(look, Format::kSummary, {}),
              HasSubstr("12.0 s: an estimate: 40.0 W, 12.0 W of it ours; 400 J, - of it ours; "
                        "CPU:0 30.0 W; GPU:0 10.0 W"));
}

TEST(PowerLookView, AsManyProcessesAsWereAskedFor) {
  ViewOptions options;
  options.top = 1;
  EXPECT_THAT(Write(MakeLook(), Format::kTable, options), HasSubstr("and  1 more\n"));
  EXPECT_THAT(Write(MakeLook(), Format::kJson, options), Not(HasSubstr("\"pid\":8")));
}

PowerLook ManyProcesses(size_t notes) {
  PowerLook look = MakeLook();
  look.processes.resize(200, look.processes.front());
  look.notes.resize(notes, Note(NoteKind::kNoModules));  // of two lines
  return look;
}

TEST(PowerLookView, AScreenIsFullOfProcesses) {
  ViewOptions options;
  for (const size_t notes : {0, 1, 6}) {
    for (const int rows : {20, 24, 40, 60}) {
      options.rows = rows;
      const std::string page = Write(ManyProcesses(notes), Format::kTable, options);
      EXPECT_EQ(std::count(page.begin(), page.end(), '\n'), rows) << notes;
      EXPECT_THAT(page, HasSubstr("python3"));
    }
  }
  options.rows = 1;
  EXPECT_THAT(Write(ManyProcesses(0), Format::kTable, options), HasSubstr("python3"));
  options.rows = 24;
  EXPECT_THAT(Write(MakeLook(), Format::kTable, options), Not(HasSubstr(" more\n")));
}

TEST(PowerLookView, NotesLeaveASmallScreenToTheProcesses) {
  ViewOptions options;
  options.flag = "--";
  options.rows = 24;
  const std::string small = Write(ManyProcesses(6), Format::kTable, options);
  EXPECT_THAT(small, HasSubstr("note: no modules"));
  EXPECT_THAT(small, HasSubstr("\n5 more notes: beryl top --once has all\n"));
  options.rows = 40;
  EXPECT_THAT(Write(ManyProcesses(6), Format::kTable, options), Not(HasSubstr("more notes")));
}

TEST(PowerLookView, UnknownIsNull) {
  const std::string json = Write(MakeLook(), Format::kJson, {});
  EXPECT_THAT(json, HasSubstr(R"("power_w":40,"ours_w":null)"));
  EXPECT_THAT(json, HasSubstr(R"("owner":"recorder","threads":1,"cpus":0.01,"power_w":null)"));
  EXPECT_THAT(Write(MakeLook(), Format::kCsv, {}),
              HasSubstr("device,GPU:0,,,,10,,100,measured,nvml"));
}

}  // namespace
}  // namespace beryl::views
