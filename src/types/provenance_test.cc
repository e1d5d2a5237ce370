#include "types/provenance.h"

#include "base/matchers_for_test.h"
#include "version.h"

namespace beryl {
namespace {

TEST(ProvenanceTest, SaysWhatItIsAskedToAndWhoMadeIt) {
  const Provenance made = MakeProvenance({"a.json", "", "b.csv", "a.json"}, "x");
  EXPECT_EQ(ToolText(made), "beryl " + std::string(kVersion));
  EXPECT_EQ(made.build_type, kBuildType);
  EXPECT_THAT(made.sources, ElementsAre("a.json", "b.csv"));
  EXPECT_EQ(made.profile, "x");
  EXPECT_FALSE(made.machine.empty());
  EXPECT_EQ(made.when.size(), std::string("2026-11-18T01:32:48Z").size());
}

TEST(ProvenanceTest, ALineLeavesOutWhatIsNotKnown) {
  Provenance stamp{"beryl",
                   "0.1.0",
                   "Release",
                   "box, 2 CPUs",
                   {"a.json", "b.csv"},
                   "x",
                   std::nullopt,
                   "2026-11-18T01:32:48Z"};
  EXPECT_EQ(StampText(stamp),
            "beryl 0.1.0; box, 2 CPUs; from a.json, b.csv; profile x; 2026-11-18T01:32:48Z");
  stamp.sources.clear();
  stamp.profile.clear();
  EXPECT_EQ(StampText(stamp), "beryl 0.1.0; box, 2 CPUs; 2026-11-18T01:32:48Z");
  stamp.window = {Nanos{2'500'000'000}, Nanos{4'000'000'000}, Nanos{1'000'000'000}, "2-5"};
  EXPECT_EQ(StampText(stamp),
            "beryl 0.1.0; box, 2 CPUs; only steps 2-5, 1.5 s to 3 s of the run; "
            "2026-11-18T01:32:48Z");
  EXPECT_EQ(StampText({}), "");
}

TEST(ProvenanceTest, JsonHasAllOfItAndNullForNoProfile) {
  JsonWriter json;
  json.BeginObject();
  WriteProvenance(json, {"beryl", "0.1.0", "Release", "box", {"a"}, "", std::nullopt, "then"});
  json.End();
  EXPECT_EQ(json.Take(),
            R"({"provenance":{"tool":"beryl","version":"0.1.0","build_type":"Release",)"
            R"("machine":"box","sources":["a"],"profile":null,"when":"then"}})");
}

}  // namespace
}  // namespace beryl
