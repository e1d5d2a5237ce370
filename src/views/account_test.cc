#include <map>

#include "base/json.h"
#include "base/matchers_for_test.h"
#include "views/report_testing.h"
#include "views/views.h"

namespace beryl::views {
namespace {

using Members = std::map<std::string, std::string>;

// The members of an object, each as the text of its value.
Members MembersOf(json::Value value) {
  Members members;
  EXPECT_TRUE(value.ForEachMember([&](json::Key key, json::Value member) {
    members[std::string(key.Text())] = std::string(member.Raw(1 << 20));
  }));
  return members;
}

Members Parse(std::string text) {
  Members members;
  const auto walked = json::WalkObject(text, "test", [&](json::Key key, json::Value value) {
    members[std::string(key.Text())] = std::string(value.Raw(1 << 20));
  });
  EXPECT_TRUE(walked) << (walked ? "" : walked.error().message);
  return members;
}

std::vector<Members> ElementsOf(const std::string& array) {
  std::vector<Members> elements;
  std::string text = "{\"array\":" + array + "}";
  EXPECT_TRUE(json::WalkObject(text, "test", [&](json::Key, json::Value value) {
    EXPECT_TRUE(
        value.ForEachElement([&](json::Value element) { elements.push_back(MembersOf(element)); }));
  }));
  return elements;
}

std::vector<std::string> KeysOf(const Members& members) {
  std::vector<std::string> keys;
  for (const auto& [key, value] : members) keys.push_back(key);
  return keys;
}

TEST(JsonTest, HasTheKeysOfTheContract) {
  const Members report = Parse(Write(MakeReport(), Format::kJson, {}));
  EXPECT_EQ(report.at("schema"), "\"beryl.account/1\"");
  EXPECT_THAT(KeysOf(report), IsSupersetOf({"schema", "provenance", "context", "closure",
                                            "operations", "summary", "tree", "import"}));
  for (const Members& closure : ElementsOf(report.at("closure"))) {
    EXPECT_THAT(KeysOf(closure), IsSupersetOf({"device", "total_j", "attributed_j", "idle_j",
                                               "unattributed_j", "window_s"}));
  }
  for (const char* table : {"operations", "summary"}) {
    const std::vector<Members> rows = ElementsOf(report.at(table));
    EXPECT_EQ(rows.size(), 2U);
    for (const Members& row : rows) {
      EXPECT_THAT(KeysOf(row), IsSupersetOf({"name", "device", "phase", "energy_j", "seconds",
                                             "power_w", "count"}));
    }
  }
  const Members tree = Parse(report.at("tree"));
  EXPECT_THAT(KeysOf(tree), IsSupersetOf({"name", "level", "self_j", "total_j", "children"}));
  EXPECT_EQ(tree.at("level"), "\"model\"");
  const Members import = Parse(report.at("import"));
  EXPECT_THAT(KeysOf(import), IsSupersetOf({"format", "events", "dropped"}));
  const std::vector<Members> dropped = ElementsOf(import.at("dropped"));
  ASSERT_EQ(dropped.size(), 1U);
  EXPECT_EQ(dropped[0].at("count"), "3");
  EXPECT_EQ(dropped[0].at("first_offset"), "77");
}

TEST(JsonTest, TheTreeHasEveryNodeOnce) {
  const Members report = Parse(Write(MakeReport(), Format::kJson, {}));
  const std::vector<Members> children = ElementsOf(Parse(report.at("tree")).at("children"));
  ASSERT_EQ(children.size(), 2U);
  EXPECT_EQ(children[0].at("name"), "\"layer_*\"");
  EXPECT_EQ(children[0].at("total_j"), "4");
  EXPECT_EQ(ElementsOf(children[0].at("children")).size(), 1U);
  EXPECT_EQ(ElementsOf(children[1].at("children"))[0].at("name"), "\"Conv2D\"");
}

TEST(JsonTest, UnknownEnergyIsNull) {
  const Members report = Parse(Write(MakeReport(), Format::kJson, {}));
  const Members row = ElementsOf(report.at("operations"))[1];
  EXPECT_EQ(row.at("energy_j"), "null");
  EXPECT_EQ(row.at("power_w"), "null");
  EXPECT_EQ(row.at("mean_step_j"), "null");
  const Members node = ElementsOf(Parse(report.at("tree")).at("children"))[1];
  EXPECT_EQ(node.at("total_j"), "null");
  EXPECT_EQ(Parse(node.at("phases")).at("forward"), "null");
}

TEST(JsonTest, AnyNameIsWrittenSoThatItParses) {
  for (const std::string& name :
       {std::string("quote \" back \\ slash /"), std::string("\xff\xfe\xc0\x80 bytes"),
        std::string("nul \0 inside", 12), std::string("line\nfeed\ttab\x7f"),
        std::string("</script><!-- ${x} `y`")}) {
    const Members report = Parse(Write(MakeReport(name), Format::kJson, {}));
    EXPECT_EQ(ElementsOf(report.at("operations")).size(), 2U) << name;
  }
}

TEST(JsonTest, TopAndDepthLeaveOut) {
  ViewOptions options;
  options.top = 1;
  options.depth = 1;
  const Members report = Parse(Write(MakeReport(), Format::kJson, options));
  EXPECT_EQ(ElementsOf(report.at("operations")).size(), 1U);
  EXPECT_EQ(report.at("operations_total"), "2") << "that something was left out is said";
  const std::vector<Members> children = ElementsOf(Parse(report.at("tree")).at("children"));
  ASSERT_EQ(children.size(), 2U);
  EXPECT_TRUE(ElementsOf(children[0].at("children")).empty());
}

TEST(JsonTest, SeveralFilesAreAddedUpAndListed) {
  AccountReport report = MakeReport();
  report.imports.push_back(report.imports[0]);
  const Members import = Parse(Parse(Write(report, Format::kJson, {})).at("import"));
  EXPECT_EQ(import.at("events"), "2469134");
  EXPECT_EQ(ElementsOf(import.at("dropped"))[0].at("count"), "6");
  EXPECT_EQ(ElementsOf(import.at("files")).size(), 2U);
}

}  // namespace
}  // namespace beryl::views
