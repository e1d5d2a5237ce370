#include "datasets/scope_tree.h"

#include <algorithm>
#include <bit>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include <fmt/format.h>

#include "base/string_table.h"
#include "base/text.h"

namespace beryl::datasets {
namespace {

constexpr uint32_t kNone = ~uint32_t{0};

struct Hash {
  size_t operator()(std::string_view text) const { return HashBytes(text); }
};
using ScopeIndex = std::unordered_map<std::string_view, uint32_t, Hash>;

// Everything up to the last ".", or nothing.
std::string_view ParentScope(std::string_view scope) {
  const size_t dot = scope.rfind('.');
  return dot == std::string_view::npos ? std::string_view() : scope.substr(0, dot);
}

bool IsListItem(std::string_view scope) {
  const std::string_view last = scope.substr(scope.rfind('.') + 1);
  return !last.empty() && last.find_first_not_of("0123456789") == std::string_view::npos;
}

// Builds the tree of one run. Reused for every run to keep its memory.
class TreeBuilder {
 public:
  TreeBuilder(const std::vector<ScopedRow>& rows, const std::vector<std::string>& file_names,
              NoteLog& log)
      : rows_(rows), file_names_(file_names), log_(log) {}

  ModelRun Build(const std::vector<uint32_t>& members) {
    Reset();
    const ScopedRow& any = rows_[members.front()];
    run_.model = CleanName(any.model);
    run_.batch_size = KnownSize(any.batch_size);
    run_.seq_len = KnownSize(any.seq_len);
    for (const uint32_t row : members) TakeModelOrModule(row);
    if (nodes_[0].row == kNone) ReportNoModel(members);
    AddAll(members, RowKind::kPrimitive);
    AddAll(members, RowKind::kModule);
    AddAll(members, RowKind::kOccurrence);
    Emit();
    return std::move(run_);
  }

 private:
  struct Node {
    uint32_t row = kNone;
    uint32_t first_child = kNone;
    uint32_t last_child = kNone;
    uint32_t next = kNone;
    std::string name;
  };

  void Reset() {
    run_ = {};
    nodes_.assign(1, {});
    modules_.clear();
    primitives_.clear();
    used_.clear();
    occurrences_.clear();
  }

  void ReportDouble(const ScopedRow& row) {
    log_.Count(NoteKind::kScopeRepeated, file_names_[row.file], row.line, "level_name",
               row.kind == RowKind::kModel ? row.model : row.scope);
  }

  void ReportNoModel(const std::vector<uint32_t>& members) {
    const ScopedRow& first = rows_[members.front()];
    run_.complete = false;
    log_.Count(NoteKind::kNoModelRow, file_names_[first.file], first.line,
               fmt::format("{} {}x{}, {} {}", first.model, first.batch_size, first.seq_len,
                           members.size(), members.size() == 1 ? "row" : "rows"));
  }

  // The root and the modules come first, because a row may precede that of its parent.
  void TakeModelOrModule(uint32_t index) {
    const ScopedRow& row = rows_[index];
    if (row.kind == RowKind::kModel) {
      if (nodes_[0].row != kNone) return ReportDouble(row);
      nodes_[0].row = index;
    }
    if (row.kind != RowKind::kModule) return;
    const auto node = static_cast<uint32_t>(nodes_.size());
    if (!modules_.try_emplace(row.scope, node).second) return ReportDouble(row);
    nodes_.emplace_back().row = index;
  }

  void AddAll(const std::vector<uint32_t>& members, RowKind kind) {
    for (const uint32_t index : members) {
      const ScopedRow& row = rows_[index];
      const bool in_module = row.kind == RowKind::kPrimitive && modules_.contains(row.scope);
      if ((in_module ? RowKind::kOccurrence : row.kind) == kind) Add(index, kind);
    }
  }

  void Add(uint32_t index, RowKind kind) {
    const ScopedRow& row = rows_[index];
    if (kind == RowKind::kModule) {
      const uint32_t node = modules_.find(row.scope)->second;
      if (nodes_[node].row == index) Hang(node, row.scope, row);
      return;
    }
    if (kind == RowKind::kPrimitive && !primitives_.insert(row.scope).second) {
      return ReportDouble(row);
    }
    const auto node = static_cast<uint32_t>(nodes_.size());
    nodes_.emplace_back().row = index;
    Hang(node, kind == RowKind::kPrimitive ? row.scope : OccurrenceScope(row), row);
  }

  // "attention.self.matmul", then "attention.self.matmul_1".
  std::string_view OccurrenceScope(const ScopedRow& row) {
    std::string stem = fmt::format("{}.{}", row.scope, NameOfType(row.type));
    uint32_t& number = occurrences_[stem];
    for (;; ++number) {
      std::string scope = number == 0 ? stem : fmt::format("{}_{}", stem, number);
      if (primitives_.contains(scope) || modules_.contains(scope)) continue;
      const auto [at, added] = used_.insert(std::move(scope));
      if (added) return *at;
    }
  }

  // Adds a node below its parent. Its name is its scope without the parent's scope.
  void Hang(uint32_t node, std::string_view scope, const ScopedRow& row) {
    uint32_t parent = 0;
    std::string_view above = ParentScope(scope);
    for (; !above.empty(); above = ParentScope(above)) {
      const auto found = modules_.find(above);
      if (found == modules_.end()) continue;
      parent = found->second;
      break;
    }
    const std::string_view name = above.empty() ? scope : scope.substr(above.size() + 1);
    if (const std::string_view skipped = SkippedParent(name); !skipped.empty()) {
      run_.complete = false;
      const auto known = static_cast<size_t>(name.data() - scope.data());
      log_.Count(NoteKind::kParentWithoutRow, file_names_[row.file], row.line, "no row for",
                 scope.substr(0, known + skipped.size()));
    }
    nodes_[node].name = CleanName(name);
    Node& up = nodes_[parent];
    (up.first_child == kNone ? up.first_child : nodes_[up.last_child].next) = node;
    up.last_child = node;
  }

  void Emit() {
    const size_t count = nodes_.size();
    run_.tree.nodes.reserve(count);
    run_.features.reserve(count);
    run_.measured.reserve(count);
    run_.lines.reserve(count);
    EmitNode(0, 0, 0);
  }

  // The recursion is as deep as a scope has parts, which is shallow.
  void EmitNode(uint32_t from, NodeId parent, uint16_t depth) {
    const auto id = static_cast<NodeId>(run_.tree.nodes.size());
    const ScopedRow* row = nodes_[from].row == kNone ? nullptr : &rows_[nodes_[from].row];
    TreeNode& node = run_.tree.nodes.emplace_back();
    node.parent = parent;
    node.depth = depth;
    node.name = from == 0 ? run_.model : std::move(nodes_[from].name);
    node.level = from == 0                       ? Level::kModel
                 : row->kind == RowKind::kModule ? Level::kModule
                                                 : Level::kMl;
    if (row != nullptr) node.type = CleanName(row->type);
    run_.features.push_back(row == nullptr ? UnknownFeatures() : row->features);
    run_.measured.push_back(row == nullptr ? kUnknown : row->measured);
    run_.lines.push_back(row == nullptr ? 0 : row->line);
    for (uint32_t child = nodes_[from].first_child; child != kNone; child = nodes_[child].next) {
      EmitNode(child, id, static_cast<uint16_t>(depth + 1));
    }
    run_.tree.nodes[id].end = static_cast<NodeId>(run_.tree.nodes.size());
  }

  const std::vector<ScopedRow>& rows_;
  const std::vector<std::string>& file_names_;
  NoteLog& log_;
  ModelRun run_;
  std::vector<Node> nodes_;  // 0 is the root
  ScopeIndex modules_;       // nodes by scope
  std::unordered_set<std::string_view, Hash> primitives_;
  std::unordered_set<std::string, Hash> used_;  // scopes generated for occurrences
  std::unordered_map<std::string, uint32_t, Hash> occurrences_;
};

// The rows of each run.
std::vector<std::vector<uint32_t>> GroupByRun(const std::vector<ScopedRow>& rows) {
  struct RunKey {
    std::string_view model;
    double batch_size;
    double seq_len;
    bool operator==(const RunKey&) const = default;
  };
  struct RunHash {
    size_t operator()(const RunKey& key) const {
      const uint64_t sizes = std::bit_cast<uint64_t>(key.batch_size) * 0x9E3779B97F4A7C15ULL ^
                             std::bit_cast<uint64_t>(key.seq_len);
      return HashBytes(key.model) ^ sizes * 0xC2B2AE3D27D4EB4FULL;
    }
  };
  std::unordered_map<RunKey, uint32_t, RunHash> runs;
  std::vector<std::vector<uint32_t>> members;
  auto run_of = [&](const ScopedRow& row) {
    const auto next = static_cast<uint32_t>(members.size());
    const auto [at, added] = runs.try_emplace({row.model, row.batch_size, row.seq_len}, next);
    if (added) members.emplace_back();
    return at->second;
  };
  for (const ScopedRow& row : rows) {
    if (row.kind == RowKind::kModel) run_of(row);
  }
  for (uint32_t i = 0; i < rows.size(); ++i) members[run_of(rows[i])].push_back(i);
  return members;
}

}  // namespace

std::string CleanName(std::string_view text) {
  const bool plain = std::all_of(text.begin(), text.end(), [](char c) {
    return static_cast<unsigned char>(c) >= 0x20 && static_cast<unsigned char>(c) < 0x7F;
  });
  return plain ? std::string(text) : Printable(text);
}

std::string_view SkippedParent(std::string_view name) {
  for (std::string_view above = ParentScope(name); !above.empty(); above = ParentScope(name)) {
    if (!IsListItem(name)) return above;
    name = above;  // a list, which never has a row
  }
  return {};
}

std::vector<ModelRun> BuildRuns(const std::vector<ScopedRow>& rows,
                                const std::vector<std::string>& file_names, NoteLog& log) {
  TreeBuilder builder(rows, file_names, log);
  std::vector<ModelRun> runs;
  const auto groups = GroupByRun(rows);
  runs.reserve(groups.size());
  for (const std::vector<uint32_t>& members : groups) runs.push_back(builder.Build(members));
  return runs;
}

}  // namespace beryl::datasets
