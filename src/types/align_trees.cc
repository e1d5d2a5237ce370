#include "types/align_trees.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <string>
#include <string_view>
#include <utility>

namespace beryl {
namespace {

// How many levels that only one of the trees has are looked through.
constexpr int kMostWrappers = 4;
// One in so many modules has to be found in a run that does not have the model's class.
constexpr size_t kFewest = 3;
// How many places are tried for the root of the description.
constexpr size_t kMostRoots = 64;

// A name without what frameworks put between its parts: "layer_._3", "layer.3" and "layer/3" are
// the same; attributes of wrappers are no part of it.
std::string NameKey(std::string_view name) {
  std::string key;
  std::string word;
  const auto flush = [&] {
    if (word.empty() || word == "module" || word == "orig" || word == "mod") {
      word.clear();
      return;
    }
    if (!key.empty()) key += '.';
    key += word;
    word.clear();
  };
  for (const char c : name) {
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    const bool digit = c >= '0' && c <= '9';
    if (!letter && !digit) {
      flush();
    } else {
      word += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    }
  }
  flush();
  return key;
}

// Whether one class name is the other with something put in or left out: BertSdpaSelfAttention and
// BertSelfAttention, RMSNorm and LlamaRMSNorm, Linear8bitLt and Linear.
bool AreRelated(std::string_view a, std::string_view b) {
  if (a.size() > b.size()) std::swap(a, b);
  if (a.empty()) return false;
  size_t front = 0;
  while (front < a.size() && a[front] == b[front]) ++front;
  size_t back = 0;
  while (back < a.size() && a[a.size() - 1 - back] == b[b.size() - 1 - back]) ++back;
  return front + back >= a.size();
}

// A module to be matched, with the name that it has seen from where the search started: wrappers
// add theirs.
struct Candidate {
  NodeId node = 0;
  std::string key;
};
using Candidates = std::vector<Candidate>;

class Aligner {
 public:
  Aligner(const ModelTree& run, const ModelTree& description, const AlignHints& hints)
      : run_(run), described_(description), hints_(hints) {}

  std::vector<NodeId> Run() {
    std::vector<NodeId> best(run_.size(), kNoNode);
    NodeId best_root = 0;
    Score most;
    for (const NodeId root : Roots()) {
      match_.assign(run_.size(), kNoNode);
      taken_.assign(described_.size(), false);
      MatchFrom(root);
      const Score score = ScoreOf(match_);
      // Of a node and what it wraps, the inner one is the model.
      const bool inside = root > best_root && root < run_[best_root].end;
      if (score.points < most.points || (score.points == most.points && !inside)) continue;
      most = score;
      best_root = root;
      best = match_;
    }
    // That the root of one is the root of the other says nothing by itself, unless it has the
    // model's class; and where there is no node of that class, a few modules that are like some of
    // it make no model, nor do primitives alone, which many models have in these sizes.
    const auto modules =
        static_cast<size_t>(std::count(hints_.is_module.begin(), hints_.is_module.end(), true));
    const bool is_class = most.matched > 0 && !run_[best_root].type.empty() &&
                          run_[best_root].type == described_[0].type;
    const auto has_parts = [&](NodeId described) {
      return described != 0 && described != kNoNode && hints_.is_module[described] &&
             !DescribedChildren(described).empty();
    };
    bool parts_wanted = false;
    for (NodeId node = 1; node < described_.size(); ++node) parts_wanted |= has_parts(node);
    const bool only_primitives = parts_wanted && std::none_of(best.begin(), best.end(), has_parts);
    if (!is_class && (most.matched < 2 || kFewest * most.matched < modules || only_primitives)) {
      best.assign(run_.size(), kNoNode);
    }
    return best;
  }

 private:
  struct Score {
    size_t matched = 0;
    int64_t points = 0;
  };

  // Of two models of one class, the one whose weights have the described sizes is meant.
  Score ScoreOf(const std::vector<NodeId>& match) const {
    Score score;
    for (NodeId node = 0; node < match.size(); ++node) {
      if (match[node] == kNoNode) continue;
      ++score.matched;
      const std::optional<bool> fits = Fits(node, match[node]);
      score.points += !fits ? 1 : *fits ? 2 : -1;
    }
    return score;
  }

  bool IsRunModule(NodeId node) const { return node == 0 || IsModule(run_[node].level); }

  // Where the whole model may be: nodes of its class; where there are none, every node with modules
  // inside, from the outside in.
  std::vector<NodeId> Roots() const {
    std::vector<NodeId> same;
    std::vector<NodeId> others;
    for (NodeId node = 0; node < run_.size(); ++node) {
      if (!IsRunModule(node)) continue;
      if (run_[node].type == described_[0].type) same.push_back(node);
      if (!RunChildren(node).empty()) others.push_back(node);
    }
    if (!same.empty()) return same;
    std::stable_sort(others.begin(), others.end(),
                     [&](NodeId a, NodeId b) { return run_[a].depth < run_[b].depth; });
    if (others.size() > kMostRoots) others.resize(kMostRoots);
    return others;
  }

  Candidates RunChildren(NodeId node, const std::string& prefix = {}) const {
    Candidates children;
    for (const NodeId child : Children(run_, node)) {
      if (IsRunModule(child)) children.push_back({child, Join(prefix, NameKey(run_[child].name))});
    }
    return children;
  }

  Candidates DescribedChildren(NodeId node, const std::string& prefix = {}) const {
    Candidates children;
    for (const NodeId child : Children(described_, node)) {
      if (!hints_.is_module[child]) continue;
      children.push_back({child, Join(prefix, NameKey(described_[child].name))});
    }
    return children;
  }

  static std::string Join(const std::string& prefix, const std::string& key) {
    return prefix.empty() ? key : key.empty() ? prefix : prefix + "." + key;
  }

  void MatchFrom(NodeId root) {
    Candidates left;
    MatchChildren(root, 0, &left);
    match_[root] = 0;
    // A head stands beside the model that it is put on.
    Candidates beside;
    for (NodeId inner = root, outer = run_[root].parent; inner != outer && !left.empty();
         inner = outer, outer = run_[outer].parent) {
      for (Candidate& child : RunChildren(outer)) {
        if (child.node != inner) beside.push_back(std::move(child));
      }
    }
    MatchLists(std::move(beside), std::move(left), nullptr, 0);
  }

  void MatchChildren(NodeId run, NodeId described, Candidates* left) {
    match_[run] = described;
    taken_[described] = true;
    MatchLists(RunChildren(run), DescribedChildren(described), left, 0);
  }

  // `left`, if it is given, gets what of the description was not found.
  void MatchLists(Candidates run, Candidates described, Candidates* left, int wrappers) {
    std::erase_if(run, [&](const Candidate& one) { return match_[one.node] != kNoNode; });
    std::erase_if(described, [&](const Candidate& one) { return taken_[one.node]; });
    if (!run.empty() && !described.empty()) {
      MatchByName(run, described);
      MatchByClass(run, described);
      MatchByLikeness(run, described);
    }
    // What is left may be wrapped, or a wrapper of the other side's.
    if (!run.empty() && !described.empty() && wrappers < kMostWrappers) {
      Candidates inner;
      bool opened = false;
      for (const Candidate& one : run) {
        for (Candidate& child : RunChildren(one.node, one.key)) {
          if (match_[child.node] != kNoNode) continue;
          inner.push_back(std::move(child));
          opened = true;
        }
      }
      if (opened) {
        Candidates rest;
        MatchLists(std::move(inner), std::move(described), &rest, wrappers + 1);
        described = std::move(rest);
      }
      Candidates parts;
      for (const Candidate& one : described) {
        for (Candidate& child : DescribedChildren(one.node, one.key)) {
          parts.push_back(std::move(child));
        }
      }
      std::erase_if(run, [&](const Candidate& one) { return match_[one.node] != kNoNode; });
      if (!parts.empty() && !run.empty()) MatchLists(run, std::move(parts), nullptr, wrappers + 1);
    }
    if (left != nullptr) *left = std::move(described);
  }

  // Takes pairs out of both lists and goes on inside of them.
  void TakePairs(Candidates& run, Candidates& described,
                 const std::vector<std::pair<size_t, size_t>>& pairs) {
    std::vector<std::pair<NodeId, NodeId>> found;
    found.reserve(pairs.size());
    for (const auto& [at_run, at_described] : pairs) {
      found.emplace_back(run[at_run].node, described[at_described].node);
    }
    std::erase_if(run, [&](const Candidate& one) {
      return std::any_of(found.begin(), found.end(),
                         [&](const auto& pair) { return pair.first == one.node; });
    });
    std::erase_if(described, [&](const Candidate& one) {
      return std::any_of(found.begin(), found.end(),
                         [&](const auto& pair) { return pair.second == one.node; });
    });
    for (const auto& [node, of] : found) MatchChildren(node, of, nullptr);
  }

  void MatchByName(Candidates& run, Candidates& described) {
    std::map<std::string_view, size_t> by_key;
    for (size_t i = 0; i < described.size(); ++i) by_key.emplace(described[i].key, i);
    std::vector<std::pair<size_t, size_t>> pairs;
    for (size_t i = 0; i < run.size(); ++i) {
      const auto found = by_key.find(run[i].key);
      if (found == by_key.end()) continue;
      pairs.emplace_back(i, found->second);
      by_key.erase(found);
    }
    TakePairs(run, described, pairs);
  }

  std::optional<bool> Fits(NodeId run, NodeId described) const {
    return hints_.fits ? hints_.fits(run, described) : std::nullopt;
  }

  // Those of one class in their order, unless the sizes of their weights say otherwise.
  void MatchByClass(Candidates& run, Candidates& described) {
    std::map<std::string_view, std::vector<size_t>> classes;
    for (size_t i = 0; i < run.size(); ++i) {
      if (!run_[run[i].node].type.empty()) classes[run_[run[i].node].type].push_back(i);
    }
    std::vector<std::pair<size_t, size_t>> pairs;
    for (auto& [type, members] : classes) {
      std::vector<size_t> wanted;
      for (size_t i = 0; i < described.size(); ++i) {
        if (described_[described[i].node].type == type) wanted.push_back(i);
      }
      if (members.size() != wanted.size()) PairTheLikest(run, described, members, wanted, pairs);
      // Three turns: weights that agree, then where nothing is known of them, then what is left if
      // there are as many on both sides.
      for (int turn = 0; turn < 3; ++turn) {
        if (turn == 2 && members.size() != wanted.size()) break;
        for (size_t& want : wanted) {
          if (want == kTaken) continue;
          for (size_t& member : members) {
            if (member == kTaken) continue;
            const auto fits = Fits(run[member].node, described[want].node);
            const bool take = turn == 2 || (turn == 0 ? fits.value_or(false) : !fits.has_value());
            if (!take) continue;
            pairs.emplace_back(member, want);
            member = want = kTaken;
            break;
          }
        }
        std::erase(members, kTaken);
        std::erase(wanted, kTaken);
      }
    }
    TakePairs(run, described, pairs);
  }

  // Where one side has more of a class than the other (a decoder whose encoder was called from
  // outside), order does not tell which is which: what they are made of does.
  void PairTheLikest(const Candidates& run, const Candidates& described,
                     std::vector<size_t>& members, std::vector<size_t>& wanted,
                     std::vector<std::pair<size_t, size_t>>& pairs) const {
    struct Pair {
      int64_t difference;
      size_t member;
      size_t want;
    };
    std::vector<Pair> likest;
    for (const size_t want : wanted) {
      if (DescribedChildren(described[want].node).empty()) return;  // weights tell primitives apart
      const ClassCounts inside = CountClasses(described_, described[want].node);
      for (const size_t member : members) {
        likest.push_back({Difference(CountClasses(run_, run[member].node), inside), member, want});
      }
    }
    std::stable_sort(likest.begin(), likest.end(),
                     [](const Pair& a, const Pair& b) { return a.difference < b.difference; });
    for (const Pair& pair : likest) {
      const auto member = std::find(members.begin(), members.end(), pair.member);
      const auto want = std::find(wanted.begin(), wanted.end(), pair.want);
      if (member == members.end() || want == wanted.end()) continue;
      pairs.emplace_back(pair.member, pair.want);
      members.erase(member);
      wanted.erase(want);
    }
  }

  using ClassCounts = std::map<std::string_view, int64_t>;

  ClassCounts CountClasses(const ModelTree& tree, NodeId top) const {
    ClassCounts counts;
    for (NodeId node = top + 1; node < tree[top].end; ++node) {
      const bool counts_here = &tree == &run_ ? IsRunModule(node) : hints_.is_module[node];
      if (counts_here && !tree[node].type.empty()) ++counts[tree[node].type];
    }
    return counts;
  }

  // How many modules only one of them has.
  static int64_t Difference(const ClassCounts& a, ClassCounts b) {
    for (const auto& [type, count] : a) b[type] -= count;
    int64_t sum = 0;
    for (const auto& [type, count] : b) sum += std::abs(count);
    return sum;
  }

  // Classes that are called otherwise in another version, or replaced by a kind of their own.
  void MatchByLikeness(Candidates& run, Candidates& described) {
    std::vector<std::pair<size_t, size_t>> pairs;
    size_t from = 0;
    for (size_t want = 0; want < described.size(); ++want) {
      for (size_t at = from; at < run.size(); ++at) {
        if (!AreAlike(run[at].node, described[want].node)) continue;
        pairs.emplace_back(at, want);
        from = at + 1;
        break;
      }
    }
    TakePairs(run, described, pairs);
  }

  bool AreAlike(NodeId run, NodeId described) const {
    const Candidates inside = RunChildren(run);
    const Candidates wanted = DescribedChildren(described);
    if (inside.empty() && !wanted.empty()) return false;
    const auto fits = Fits(run, described);
    if (fits && !*fits) return false;
    if (AreRelated(run_[run].type, described_[described].type)) return true;
    // What has parts is no primitive, unless it is called like one: an adapter around it.
    if (!inside.empty() && wanted.empty()) return false;
    if (wanted.empty()) return fits.value_or(false) && !run_[run].type.empty();
    return ClassesOf(run_, inside) == ClassesOf(described_, wanted);
  }

  static std::vector<std::string_view> ClassesOf(const ModelTree& tree, const Candidates& nodes) {
    std::vector<std::string_view> classes;
    for (const Candidate& one : nodes) classes.push_back(tree[one.node].type);
    std::sort(classes.begin(), classes.end());
    return classes;
  }

  static constexpr size_t kTaken = ~size_t{0};

  const ModelTree& run_;
  const ModelTree& described_;
  const AlignHints& hints_;
  std::vector<NodeId> match_;
  std::vector<bool> taken_;  // by node of the description
};

}  // namespace

std::vector<NodeId> Align(const ModelTree& run, const ModelTree& description,
                          const AlignHints& hints) {
  return Aligner(run, description, hints).Run();
}

}  // namespace beryl
