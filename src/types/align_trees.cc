#include "types/align_trees.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "base/text.h"
#include "types/module_names.h"

namespace beryl {
namespace {

// How many levels that only one of the trees has may be skipped.
constexpr int kMostWrappers = 4;
// In a run without the model's class, one in this many modules must be found.
constexpr size_t kFewest = 3;
// How many candidates are tried for the root of the description.
constexpr size_t kMostRoots = 64;
// How many pairs of modules are compared at once.
constexpr size_t kMostPairs = size_t{1} << 22;

// A module to match, with its name as seen from where the search started: wrappers add theirs.
struct Candidate {
  NodeId node = 0;
  std::string key;
};
using Candidates = std::vector<Candidate>;

class Aligner {
 public:
  Aligner(const ModelTree& run, const ModelTree& description, const AlignHints& hints)
      : run_(run), described_(description), hints_(hints) {}

  AlignedTrees Run() {
    AlignedTrees aligned;
    std::vector<NodeId>& best = aligned.match;
    best.assign(run_.size(), kNoNode);
    NodeId best_root = 0;
    Score most;
    for (const NodeId root : Roots()) {
      match_.assign(run_.size(), kNoNode);
      MatchFrom(root);
      const Score score = ScoreOf(match_);
      // If a wrapper and the node inside it both fit, the inner one is the model.
      const bool inside = root > best_root && root < run_[best_root].end;
      if (score.points < most.points || (score.points == most.points && !inside)) continue;
      most = score;
      best_root = root;
      best = match_;
    }
    // A matching pair of roots proves nothing by itself unless the run's root has the model's
    // class. Without a node of that class, a few similar modules do not make the model, nor do
    // primitives alone, which many models have in these sizes.
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
    TakeAdapters(best);
    FindAgain(best_root, aligned);
    return aligned;
  }

 private:
  struct Score {
    size_t matched = 0;
    int64_t points = 0;
  };

  // Among models of one class, prefer the one whose weights have the described sizes.
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
  // Gradients and updates of weights are no modules of their own.
  bool MayMatch(NodeId node) const {
    return IsRunModule(node) &&
           (in_any_phase_ || hints_.runs_forward.empty() || hints_.runs_forward[node]);
  }

  // Candidates for the whole model: nodes of its class; if there are none, every node with modules
  // inside, from the outside in. If there are many, those with parts of the description go first.
  std::vector<NodeId> Roots() const {
    std::vector<NodeId> same;
    std::vector<NodeId> others;
    std::vector<size_t> known_parts(run_.size(), 0);
    const Candidates wanted = DescribedChildren(0);
    for (NodeId node = 0; node < run_.size(); ++node) {
      if (!MayMatch(node)) continue;
      if (run_[node].type == described_[0].type) same.push_back(node);
      const Candidates inside = RunChildren(node);
      if (inside.empty()) continue;
      others.push_back(node);
      known_parts[node] = static_cast<size_t>(
          std::count_if(inside.begin(), inside.end(), [&](const Candidate& part) {
            return std::any_of(wanted.begin(), wanted.end(), [&](const Candidate& want) {
              return part.key == want.key || want.key.starts_with(part.key + ".") ||
                     run_[part.node].type == described_[want.node].type;
            });
          }));
    }
    if (!same.empty()) return same;
    const bool many = others.size() > kMostRoots;
    std::stable_sort(others.begin(), others.end(), [&](NodeId a, NodeId b) {
      if (many && known_parts[a] != known_parts[b]) return known_parts[a] > known_parts[b];
      return run_[a].depth < run_[b].depth;
    });
    if (many) others.resize(kMostRoots);
    return others;
  }

  // An adapter has the class of a module that it contains. It stands for what it is put on, also
  // where that is of another class.
  void TakeAdapters(std::vector<NodeId>& match) const {
    for (NodeId node = 1; node < run_.size(); ++node) {
      if (match[node] != kNoNode || !MayMatch(node) || run_[node].type.empty()) continue;
      bool is_adapter = false;
      std::vector<NodeId> matched;
      for (const Candidate& child : RunChildren(node)) {
        if (match[child.node] != kNoNode) {
          matched.push_back(child.node);
        } else {
          is_adapter = is_adapter || run_[child.node].type == run_[node].type;
        }
      }
      if (!is_adapter || matched.size() != 1) continue;
      NodeId& inner = match[matched.front()];
      if (DescribedChildren(inner).empty()) match[node] = std::exchange(inner, kNoNode);
    }
  }

  // The model may be in the run again: gradients and updates of weights with names of their own
  // (`gradients/bert`, `Adam/update_bert`), and the replicas that DataParallel makes for each pass
  // and runs on threads of their own.
  void FindAgain(NodeId root, AlignedTrees& aligned) {
    aligned.again.assign(run_.size(), kNoNode);
    if (root == 0 || aligned.match[root] == kNoNode) return;
    const bool has_replicas =
        std::any_of(run_.nodes.begin(), run_.nodes.end(),
                    [](const TreeNode& node) { return node.type == "DataParallel"; });
    const std::string key = NameKey(run_[root].name);
    const auto is_again = [&](NodeId node) {
      if (!run_[root].type.empty()) {
        return run_[node].type == run_[root].type &&
               (has_replicas || (hints_.apart && hints_.apart(root, node)));
      }
      const std::string name = NameKey(run_[node].name);
      return !key.empty() && (name == key || name.ends_with("." + key));
    };
    match_ = aligned.match;
    in_any_phase_ = true;
    for (NodeId node = 1; node < run_.size(); ++node) {
      const bool around = node <= root && root < run_[node].end;
      if (around || !IsRunModule(node) || match_[node] != kNoNode || !is_again(node)) continue;
      MatchFrom(node);
      node = run_[node].end - 1;
    }
    in_any_phase_ = false;
    for (NodeId node = 0; node < run_.size(); ++node) {
      if (aligned.match[node] == kNoNode) aligned.again[node] = match_[node];
    }
  }

  Candidates RunChildren(NodeId node, const std::string& prefix = {}) const {
    std::set<std::string_view> names;
    for (const NodeId child : Children(run_, node)) {
      if (MayMatch(child)) names.insert(run_[child].name);
    }
    // An operation may call modules, and several may call the same ones (checkpoints).
    Candidates children;
    for (NodeId child = node + 1; child < run_[node].end;) {
      const bool direct = run_[child].parent == node;
      if (MayMatch(child) && (direct || names.insert(run_[child].name).second)) {
        children.push_back({child, Join(prefix, NameKey(run_[child].name, run_[node].name))});
      }
      child = IsRunModule(child) ? run_[child].end : child + 1;
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
    taken_.assign(described_.size(), false);
    Candidates left;
    MatchChildren(root, 0, &left);
    match_[root] = 0;
    // A head is beside the model that it is put on.
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

  // `left`, if given, receives the parts of the description that were not found.
  void MatchLists(Candidates run, Candidates described, Candidates* left, int wrappers) {
    std::erase_if(run, [&](const Candidate& one) { return match_[one.node] != kNoNode; });
    std::erase_if(described, [&](const Candidate& one) { return taken_[one.node]; });
    if (!run.empty() && !described.empty()) {
      MatchByName(run, described);
      MatchByClass(run, described);
      MatchByLikeness(run, described);
    }
    // The rest may be wrapped, or be a wrapper of the other side.
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

  // Removes matched pairs from both lists and continues inside them.
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

  // Matches modules of one class in order, unless the sizes of their weights contradict. If one
  // side has more of them, their places among the matched ones say which are missing.
  void MatchByClass(Candidates& run, Candidates& described) {
    // By class: the places of its modules in the two lists.
    using Places = std::vector<size_t>;
    std::map<std::string_view, std::pair<Places, Places>> classes;
    for (size_t i = 0; i < run.size(); ++i) {
      if (!run_[run[i].node].type.empty()) classes[run_[run[i].node].type].first.push_back(i);
    }
    std::vector<std::pair<size_t, size_t>> pairs;
    for (auto& [type, alike] : classes) {
      auto& [members, wanted] = alike;
      for (size_t i = 0; i < described.size(); ++i) {
        if (described_[described[i].node].type == type) wanted.push_back(i);
      }
      if (members.size() != wanted.size()) PairTheLikest(run, described, members, wanted, pairs);
    }
    const auto in_order = [&pairs](size_t member, size_t want) {
      return std::all_of(pairs.begin(), pairs.end(), [&](const auto& pair) {
        return (pair.first < member) == (pair.second < want);
      });
    };
    enum Turn { kSameWeights, kAsMany, kInOrder, kUnknownWeights, kRest };
    for (const Turn turn : {kSameWeights, kAsMany, kInOrder, kUnknownWeights, kRest}) {
      for (auto& [type, alike] : classes) {
        auto& [members, wanted] = alike;
        if ((turn == kAsMany || turn == kRest) && members.size() != wanted.size()) continue;
        for (size_t& want : wanted) {
          for (size_t& member : members) {
            if (member == kTaken) continue;
            const auto fits = Fits(run[member].node, described[want].node);
            if (turn != kRest &&
                (turn == kSameWeights ? !fits.value_or(false) : fits.has_value())) {
              continue;
            }
            if (turn == kInOrder && !in_order(member, want)) continue;
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

  // If one side has more modules of a class (a decoder whose encoder was called from outside),
  // order cannot decide: match by their parts.
  void PairTheLikest(const Candidates& run, const Candidates& described,
                     std::vector<size_t>& members, std::vector<size_t>& wanted,
                     std::vector<std::pair<size_t, size_t>>& pairs) const {
    struct Pair {
      int64_t difference;
      bool misplaced;
      size_t member;
      size_t want;
    };
    // Numbers count the modules of a class, those that did nothing too.
    std::vector<uint64_t> numbers;
    for (const size_t member : members) {
      const auto numbered = SplitNumber(run_[run[member].node].name);
      numbers.push_back(numbered ? numbered->number : 0);
    }
    const uint64_t first = *std::min_element(numbers.begin(), numbers.end());
    std::vector<Pair> likest;
    for (size_t place = 0; place < wanted.size(); ++place) {
      const size_t want = wanted[place];
      if (DescribedChildren(described[want].node).empty()) return;  // weights identify primitives
      const ClassCounts inside = CountClasses(described_, described[want].node);
      for (size_t i = 0; i < members.size(); ++i) {
        const int64_t difference = Difference(CountClasses(run_, run[members[i]].node), inside);
        likest.push_back({difference, numbers[i] - first != place, members[i], want});
      }
    }
    std::stable_sort(likest.begin(), likest.end(), [](const Pair& a, const Pair& b) {
      return std::pair(a.difference, a.misplaced) < std::pair(b.difference, b.misplaced);
    });
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
      const bool counts_here = &tree == &run_ ? MayMatch(node) : hints_.is_module[node];
      if (counts_here && !tree[node].type.empty()) ++counts[tree[node].type];
    }
    return counts;
  }

  // The number of modules that only one of them has.
  static int64_t Difference(const ClassCounts& a, ClassCounts b) {
    for (const auto& [type, count] : a) b[type] -= count;
    int64_t sum = 0;
    for (const auto& [type, count] : b) sum += std::abs(count);
    return sum;
  }

  // Classes that another version renames or replaces. As many pairs as their order allows.
  void MatchByLikeness(Candidates& run, Candidates& described) {
    const size_t width = described.size() + 1;
    const size_t height = std::min(run.size(), kMostPairs / width);
    // By position in both lists: the best sum over pairs from there on.
    std::vector<int> best((height + 1) * width, 0);
    std::vector<int> likeness(best.size(), 0);
    const std::vector<Parts> inside = PartsOf(run_, run);
    const std::vector<Parts> wanted = PartsOf(described_, described);
    for (size_t at = height; at-- > 0;) {
      for (size_t want = described.size(); want-- > 0;) {
        const size_t here = at * width + want;
        likeness[here] = Likeness(run[at].node, inside[at], described[want].node, wanted[want]);
        best[here] = std::max(best[here + 1], best[here + width]);
        if (likeness[here] > 0) {
          best[here] = std::max(best[here], likeness[here] + best[here + width + 1]);
        }
      }
    }
    std::vector<std::pair<size_t, size_t>> pairs;
    for (size_t at = 0, want = 0; at < height && want < described.size();) {
      const size_t here = at * width + want;
      if (likeness[here] > 0 && best[here] == likeness[here] + best[here + width + 1]) {
        pairs.emplace_back(at++, want++);
      } else if (best[here] == best[here + width]) {
        ++at;
      } else {
        ++want;
      }
    }
    TakePairs(run, described, pairs);
  }

  // The classes of a module's own modules, sorted.
  using Parts = std::vector<std::string_view>;

  std::vector<Parts> PartsOf(const ModelTree& tree, const Candidates& candidates) const {
    std::vector<Parts> parts;
    for (const Candidate& one : candidates) {
      Parts& classes = parts.emplace_back();
      for (const Candidate& child :
           &tree == &run_ ? RunChildren(one.node) : DescribedChildren(one.node)) {
        classes.push_back(tree[child.node].type);
      }
      std::sort(classes.begin(), classes.end());
    }
    return parts;
  }

  // 0: not alike. A pair more counts more than better ones.
  int Likeness(NodeId run, const Parts& inside, NodeId described, const Parts& wanted) const {
    if (inside.empty() && !wanted.empty()) return 0;
    const std::optional<bool> fits = Fits(run, described);
    if (!fits.value_or(true)) return 0;
    const bool related = AreRelated(run_[run].type, described_[described].type);
    if (!related) {
      // A node with parts is not a primitive, unless it is named like one: an adapter around it.
      if (inside.empty() != wanted.empty()) return 0;
      if (wanted.empty() && (!fits || run_[run].type.empty())) return 0;
      if (!wanted.empty() && inside != wanted) return 0;
    }
    return kPair + (fits ? 1 : 0) + (related ? 1 : 0);
  }

  static constexpr int kPair = 1 << 10;
  static constexpr size_t kTaken = ~size_t{0};

  const ModelTree& run_;
  const ModelTree& described_;
  const AlignHints& hints_;
  std::vector<NodeId> match_;
  std::vector<bool> taken_;  // by node of the description
  bool in_any_phase_ = false;
};

}  // namespace

AlignedTrees Align(const ModelTree& run, const ModelTree& description, const AlignHints& hints) {
  return Aligner(run, description, hints).Run();
}

}  // namespace beryl
