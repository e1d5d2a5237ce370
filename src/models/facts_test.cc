// What the library itself says of its models (tools/check_models.py wrote it down), against ours:
// scopes, classes, parameters and matmul FLOPs, node by node, with heads and without; the order in
// which modules are called; and which module's output goes into which.
#include <algorithm>
#include <fstream>
#include <map>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/json.h"
#include "models/models.h"

namespace beryl::models {
namespace {

struct ModuleFact {
  std::string scope;
  std::string type;
  double parameters = 0;
  double matmul_flops = 0;
  bool called = true;
};

using ScopeFlow = std::pair<std::string, std::string>;

struct Fact {
  std::string name;
  std::string config;
  int64_t batch = 1;
  int64_t seq = 0;
  int64_t decoder_seq = 0;
  double parameters = 0;
  double matmul_flops = 0;
  std::vector<ModuleFact> nodes;  // in the order of calls
  std::set<ScopeFlow> flows;
  // Of a head: the case of the bare model, beside which all else is told.
  std::string of;
  std::set<std::string> without;
};

std::vector<std::string> TextsOf(json::Value list) {
  std::vector<std::string> texts;
  list.ForEachElement([&](json::Value element) {
    texts.emplace_back(element.IsString() ? *element.String() : element.Token());
  });
  return texts;
}

ModuleFact ModuleOf(const std::vector<std::string>& parts) {
  return {parts.at(0), parts.at(1), std::stod(parts.at(2)), std::stod(parts.at(3)),
          parts.size() == 4};
}

// Pairs of scopes, or of places in the list of nodes.
ScopeFlow FlowOf(const std::vector<std::string>& pair, const std::vector<ModuleFact>& nodes,
                 bool by_scope) {
  if (by_scope) return {pair.at(0), pair.at(1)};
  return {nodes.at(std::stoul(pair.at(0))).scope, nodes.at(std::stoul(pair.at(1))).scope};
}

std::optional<Fact> ReadFact(std::string line) {
  Fact fact;
  std::vector<std::vector<std::string>> flows;
  const auto walked = json::WalkObject(line, "facts", [&](json::Key key, json::Value value) {
    if (key == "case") fact.name = *value.String();
    if (key == "config") fact.config = value.Raw(1 << 20);
    if (key == "batch") fact.batch = value.Integer().value_or(1);
    if (key == "seq") fact.seq = value.Integer().value_or(0);
    if (key == "decoder_seq") fact.decoder_seq = value.Integer().value_or(0);
    if (key == "parameters") fact.parameters = std::stod(std::string(value.Token()));
    if (key == "matmul_flops") fact.matmul_flops = std::stod(std::string(value.Token()));
    if (key == "of") fact.of = *value.String();
    if (key == "nodes") {
      value.ForEachElement(
          [&](json::Value node) { fact.nodes.push_back(ModuleOf(TextsOf(node))); });
    }
    if (key == "without") {
      for (std::string& scope : TextsOf(value)) fact.without.insert(std::move(scope));
    }
    if (key == "flows") {
      value.ForEachElement([&](json::Value flow) { flows.push_back(TextsOf(flow)); });
    }
  });
  if (!walked || fact.name.empty()) return std::nullopt;
  for (const auto& flow : flows) fact.flows.insert(FlowOf(flow, fact.nodes, !fact.of.empty()));
  return fact;
}

std::map<std::string, Fact> ReadFacts() {
  std::map<std::string, Fact> facts;
  std::ifstream file("tests/data/models/facts.jsonl");
  for (std::string line; std::getline(file, line);) {
    if (auto fact = ReadFact(std::move(line))) facts.emplace(fact->name, std::move(*fact));
  }
  return facts;
}

// A case of a head with what the bare model's case says.
Fact Whole(Fact head, const Fact& bare) {
  // The later of two values of a key counts.
  head.config = bare.config.substr(0, bare.config.size() - 1) + "," + head.config.substr(1);
  std::set<std::string> told;
  std::set<std::string> idle = head.without;
  for (const ModuleFact& node : head.nodes) {
    told.insert(node.scope);
    if (!node.called) idle.insert(node.scope);
  }
  for (const ModuleFact& node : bare.nodes) {
    if (told.count(node.scope) + head.without.count(node.scope) == 0) head.nodes.push_back(node);
  }
  for (const ScopeFlow& flow : bare.flows) {
    if (idle.count(flow.first) + idle.count(flow.second) == 0) head.flows.insert(flow);
  }
  return head;
}

Description Described(const Fact& fact) {
  auto description =
      Describe({fact.name, fact.config},
               {.input = {.batch = fact.batch, .seq = fact.seq, .decoder_seq = fact.decoder_seq},
                .head = fact.of.empty() ? HeadChoice::kNone : HeadChoice::kArchitecture});
  EXPECT_TRUE(description) << (description ? "" : description.error().message);
  return description ? std::move(*description) : Description{.nodes = {{}}};
}

// In order. A module's scope is not its parent's; operations run in their module's scope.
std::vector<ModuleFact> ModulesOf(const Description& description) {
  std::vector<ModuleFact> modules;
  for (NodeId node = 0; node < description.nodes.size(); ++node) {
    const DescribedNode& of = description.nodes[node];
    if (node > 0 && of.scope == description.nodes[description.tree.nodes[node].parent].scope) {
      continue;
    }
    modules.push_back({of.scope, description.tree.nodes[node].type,
                       static_cast<double>(of.parameters), of.work.matmul_flops});
  }
  return modules;
}

// Between modules, of what embeddings and convolutions give, directly or not.
std::set<ScopeFlow> FlowsOf(const Description& description) {
  std::vector<bool> embedded(description.nodes.size());
  for (NodeId node = 0; node < description.nodes.size(); ++node) {
    const auto kind = description.nodes[node].kind;
    embedded[node] = kind == MathKind::kGather || kind == MathKind::kConvolution;
  }
  std::set<ScopeFlow> flows;
  for (const Flow& flow : description.flows) {
    if (!embedded[flow.from]) continue;
    embedded[flow.to] = true;
    const std::string& from = description.nodes[flow.from].scope;
    const std::string& to = description.nodes[flow.to].scope;
    if (from != to) flows.emplace(from, to);
  }
  return flows;
}

void ExpectModules(const Fact& fact, const std::vector<ModuleFact>& modules) {
  std::map<std::string, ModuleFact> found;
  for (const ModuleFact& module : modules) found[module.scope] = module;
  for (const ModuleFact& expected : fact.nodes) {
    const auto at = found.find(expected.scope);
    if (at == found.end()) {
      ADD_FAILURE() << "no " << expected.scope;
      continue;
    }
    EXPECT_EQ(at->second.type, expected.type) << expected.scope;
    EXPECT_EQ(at->second.parameters, expected.parameters) << expected.scope;
    EXPECT_EQ(at->second.matmul_flops, expected.matmul_flops) << expected.scope;
    found.erase(at);
  }
  for (const auto& [scope, module] : found) ADD_FAILURE() << "there is no " << scope;
}

// Modules that the library calls stand in the order in which it does.
void ExpectOrder(const std::vector<ModuleFact>& expected, const std::vector<ModuleFact>& modules) {
  std::vector<std::string> order;
  for (const ModuleFact& module : expected) {
    if (module.called) order.push_back(module.scope);
  }
  const std::set<std::string> wanted(order.begin(), order.end());
  std::vector<std::string> found;
  for (const ModuleFact& module : modules) {
    if (wanted.count(module.scope) > 0) found.push_back(module.scope);
  }
  EXPECT_EQ(found, order);
}

TEST(FactsTest, AreTheLibrarys) {
  const auto facts = ReadFacts();
  ASSERT_GT(facts.size(), 150u);
  size_t compared = 0;
  for (const auto& [name, fact] : facts) {
    if (!fact.of.empty()) continue;
    SCOPED_TRACE(name);
    const Description description = Described(fact);
    EXPECT_EQ(static_cast<double>(description.nodes[0].parameters), fact.parameters);
    EXPECT_EQ(description.nodes[0].work.matmul_flops, fact.matmul_flops);
    if (fact.nodes.empty()) continue;
    const auto modules = ModulesOf(description);
    ExpectModules(fact, modules);
    ExpectOrder(fact.nodes, modules);
    compared += fact.nodes.size();
  }
  EXPECT_GT(compared, 1000u);
}

TEST(FactsTest, HeadsAreTheLibrarys) {
  const auto facts = ReadFacts();
  size_t heads = 0;
  for (const auto& [name, fact] : facts) {
    if (fact.of.empty()) continue;
    SCOPED_TRACE(name);
    const Fact whole = Whole(fact, facts.at(fact.of));
    const Description description = Described(whole);
    const auto modules = ModulesOf(description);
    ExpectModules(whole, modules);
    ExpectOrder(fact.nodes, modules);
    ++heads;
  }
  EXPECT_GT(heads, 80u);
}

TEST(FactsTest, FlowsAreTheLibrarys) {
  const auto facts = ReadFacts();
  size_t compared = 0;
  for (const auto& [name, fact] : facts) {
    const bool is_head = !fact.of.empty();
    if (!is_head && fact.flows.empty()) continue;
    SCOPED_TRACE(name);
    const Fact whole = is_head ? Whole(fact, facts.at(fact.of)) : fact;
    const auto flows = FlowsOf(Described(whole));
    for (const auto& [from, to] : whole.flows) {
      EXPECT_TRUE(flows.count({from, to}) > 0) << "from '" << from << "' to '" << to << "': none";
    }
    for (const auto& [from, to] : flows) {
      EXPECT_TRUE(whole.flows.count({from, to}) > 0) << "from '" << from << "' to '" << to << "'";
    }
    compared += flows.size();
  }
  EXPECT_GT(compared, 3000u);
}

}  // namespace
}  // namespace beryl::models
