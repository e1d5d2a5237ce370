// What the library itself says of its models (tools/check_models.py wrote it down), against ours:
// scopes, classes, parameters and matmul FLOPs, node by node.
#include <fstream>
#include <map>
#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/json.h"
#include "models/models.h"

namespace beryl::models {
namespace {

struct ModuleFact {
  std::string type;
  double parameters = 0;
  double matmul_flops = 0;
};

struct Fact {
  std::string name;
  std::string config;
  int64_t batch = 1;
  int64_t seq = 0;
  int64_t decoder_seq = 0;
  double parameters = 0;
  double matmul_flops = 0;
  std::map<std::string, ModuleFact> nodes;  // by scope
};

std::map<std::string, ModuleFact> NodesOf(json::Value value) {
  std::map<std::string, ModuleFact> nodes;
  value.ForEachElement([&](json::Value element) {
    std::vector<std::string> parts;
    element.ForEachElement([&](json::Value part) {
      parts.emplace_back(part.IsString() ? *part.String() : part.Token());
    });
    if (parts.size() == 4) nodes[parts[0]] = {parts[1], std::stod(parts[2]), std::stod(parts[3])};
  });
  return nodes;
}

std::vector<Fact> ReadFacts() {
  std::vector<Fact> facts;
  std::ifstream file("tests/data/models/facts.jsonl");
  for (std::string line; std::getline(file, line);) {
    Fact fact;
    const auto walked = json::WalkObject(line, "facts", [&](json::Key key, json::Value value) {
      if (key == "case") fact.name = *value.String();
      if (key == "config") fact.config = value.Raw(1 << 20);
      if (key == "batch") fact.batch = value.Integer().value_or(1);
      if (key == "seq") fact.seq = value.Integer().value_or(0);
      if (key == "decoder_seq") fact.decoder_seq = value.Integer().value_or(0);
      if (key == "parameters") fact.parameters = std::stod(std::string(value.Token()));
      if (key == "matmul_flops") fact.matmul_flops = std::stod(std::string(value.Token()));
      if (key == "nodes") fact.nodes = NodesOf(value);
    });
    if (walked && !fact.name.empty()) facts.push_back(std::move(fact));
  }
  return facts;
}

// A module's scope is not its parent's; operations run in their module's scope.
std::map<std::string, ModuleFact> ModulesOf(const Description& description) {
  std::map<std::string, ModuleFact> modules;
  for (NodeId node = 0; node < description.nodes.size(); ++node) {
    const DescribedNode& of = description.nodes[node];
    if (node > 0 && of.scope == description.nodes[description.tree.nodes[node].parent].scope) {
      continue;
    }
    modules[of.scope] = {description.tree.nodes[node].type, static_cast<double>(of.parameters),
                         of.work.matmul_flops};
  }
  return modules;
}

TEST(FactsTest, AreTheLibrarys) {
  const std::vector<Fact> facts = ReadFacts();
  ASSERT_GT(facts.size(), 150u);
  size_t compared = 0;
  for (const Fact& fact : facts) {
    SCOPED_TRACE(fact.name);
    ModelConfig config{fact.name, fact.config};
    if (fact.config.empty()) {
      auto found = FindConfig(fact.name);
      ASSERT_TRUE(found) << found.error().message;
      config = *found;
    }
    const auto description = Describe(
        config, {.input = {.batch = fact.batch, .seq = fact.seq, .decoder_seq = fact.decoder_seq}});
    ASSERT_TRUE(description) << description.error().message;
    EXPECT_EQ(static_cast<double>(description->nodes[0].parameters), fact.parameters);
    EXPECT_EQ(description->nodes[0].work.matmul_flops, fact.matmul_flops);
    if (fact.nodes.empty()) continue;
    const auto modules = ModulesOf(*description);
    for (const auto& [scope, expected] : fact.nodes) {
      const auto at = modules.find(scope);
      if (at == modules.end()) {
        ADD_FAILURE() << "no " << scope;
        continue;
      }
      EXPECT_EQ(at->second.type, expected.type) << scope;
      EXPECT_EQ(at->second.parameters, expected.parameters) << scope;
      EXPECT_EQ(at->second.matmul_flops, expected.matmul_flops) << scope;
      ++compared;
    }
    for (const auto& [scope, module] : modules) {
      EXPECT_TRUE(fact.nodes.count(scope) > 0) << "there is no " << scope;
    }
  }
  EXPECT_GT(compared, 1000u);
}

}  // namespace
}  // namespace beryl::models
