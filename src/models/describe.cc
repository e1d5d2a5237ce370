#include <algorithm>
#include <cmath>
#include <optional>

#include <fmt/format.h>

#include "base/text.h"
#include "models/heads.h"
#include "models/models.h"

namespace beryl::models {
namespace {

// Products of these with each other and with sizes of a configuration stay within 64 bits.
constexpr int64_t kLargestInput = 1 << 24;
constexpr int64_t kDefaultTokens = 128;

// What is described: a family's model, and the head that stands behind it.
struct Plan {
  Family family;  // what it takes and whether it generates as the head has it
  std::string root_type;
  std::string_view prefix;         // of its classes
  bool language_model = false;     // with this head,
  const HeadForm* head = nullptr;  // or with this one, or none
};

Result<bool> CheckInput(const Plan& plan, const ModelInput& input) {
  const Family& family = plan.family;
  const std::pair<const char*, int64_t> sizes[] = {{"batch", input.batch},
                                                   {"seq", input.seq},
                                                   {"decoder-seq", input.decoder_seq},
                                                   {"prompt", input.prompt},
                                                   {"context", input.context},
                                                   {"generate", input.generate},
                                                   {"image-size", input.image_size}};
  for (const auto& [name, size] : sizes) {
    if (size < 0 || size > kLargestInput) {
      return MisuseError(fmt::format("--{} {}: has to be at most {}", name, size, kLargestInput));
    }
  }
  if (input.gpus < 1 || input.gpus > 1024) return MisuseError("--gpus: has to be from 1 to 1024");
  const auto refuse = [&](bool given, const char* option, const char* why) -> Result<bool> {
    if (given) return MisuseError(fmt::format("--{}: {}; this is {}", option, why, plan.root_type));
    return true;
  };
  const bool generation = input.prompt > 0 || input.generate > 0;
  if (generation && input.seq > 0) {
    return MisuseError(
        "--seq is for one pass over the input, --prompt and --generate for a "
        "generation: give one or the other");
  }
  if (input.generate > 0 && input.prompt == 0) {
    return MisuseError("--generate needs a --prompt to go on from");
  }
  if (auto ok =
          refuse(generation && !family.generates, "prompt", "only models that generate take it");
      !ok) {
    return ok;
  }
  const bool both_ways = family.input == InputKind::kTokensBothWays;
  if (auto ok = refuse(input.decoder_seq > 0 && (!both_ways || generation), "decoder-seq",
                       "one pass of an encoder-decoder model takes it");
      !ok) {
    return ok;
  }
  if (auto ok = refuse(input.image_size > 0 && family.input != InputKind::kImage, "image-size",
                       "only models of images take it");
      !ok) {
    return ok;
  }
  if (auto ok = refuse(input.seq > 0 && family.input == InputKind::kImage, "seq",
                       "models of images take --image-size");
      !ok) {
    return ok;
  }
  return refuse(input.context > 0 && (!family.generates || both_ways), "context",
                "only decoders have tokens in a cache");
}

Pass PassOf(const Plan& plan, const ModelInput& input, const DescribeOptions& options) {
  const Without without = plan.head != nullptr ? plan.head->without : Without::kNothing;
  Pass pass;
  pass.batch = input.batch;
  pass.tokens = input.seq;
  pass.cached = input.context;
  pass.encoded = input.seq;
  pass.decoder_tokens = input.decoder_seq;
  pass.pooler = without != Without::kPooler;
  pass.encoder = without != Without::kEncoder;
  pass.decoder = without != Without::kDecoder;
  pass.dtype = options.dtype;
  pass.attention = options.attention;
  pass.gpus = input.gpus;
  return pass;
}

class Describer {
 public:
  Describer(const Plan& plan, Config config, std::string name)
      : plan_(plan), config_(std::move(config)), name_(std::move(name)) {}

  // One pass.
  Result<Description> Run(const Pass& pass) {
    Graph graph(pass, name_, plan_.root_type);
    const BareModel model = plan_.family.build(graph, config_);
    if (config_.error()) return *config_.error();
    Tensor output = model.hidden;
    if (plan_.language_model) LanguageModelHead(graph, model);
    if (plan_.head != nullptr) output = plan_.head->build({graph, config_, model, plan_.prefix});
    if (config_.error()) return *config_.error();
    graph.Finish(output);
    Description description;
    graph.Take(description);
    return description;
  }

  // `count` passes, each with one token more in the cache than the one before. What a pass takes
  // grows evenly with that as long as no window is full: then two passes tell all of them.
  Result<Description> RunDecode(Pass pass, int64_t count) {
    pass.phase = RunPhase::kDecode;
    auto first = Run(pass);
    if (!first || count == 1) return first;
    pass.cached += count - 1;
    auto last = Run(pass);
    if (!last) return last;
    pass.cached -= count - 1;
    std::vector<Work> sum(first->nodes.size());
    if (auto added = AddUp(pass, count, *first, *last, sum); !added) return added.error();
    for (size_t node = 0; node < sum.size(); ++node) {
      last->nodes[node].work = sum[node];
      last->nodes[node].runs *= static_cast<double>(count);
    }
    return last;
  }

  const Config& config() const { return config_; }

 private:
  // Adds the work of `count` passes from `pass` on, of which the first and the last are known.
  Result<bool> AddUp(Pass pass, int64_t count, const Description& first, const Description& last,
                     std::vector<Work>& sum) {
    if (count <= 2) {
      Add(first, 1, sum);
      if (count == 2) Add(last, 1, sum);
      return true;
    }
    const int64_t half = count / 2;
    const int64_t from = pass.cached;
    pass.cached = from + half;
    auto middle = Run(pass);
    if (!middle) return middle.error();
    const double at = static_cast<double>(half) / static_cast<double>(count - 1);
    if (IsBetween(first, *middle, last, at)) {
      Add(first, 0.5 * static_cast<double>(count), sum);
      Add(last, 0.5 * static_cast<double>(count), sum);
      return true;
    }
    pass.cached = from + half - 1;
    const auto before = Run(pass);
    if (!before) return before.error();
    pass.cached = from;
    if (auto added = AddUp(pass, half, first, *before, sum); !added) return added;
    pass.cached = from + half;
    return AddUp(pass, count - half, *middle, last, sum);
  }

  static void Add(const Description& description, double times, std::vector<Work>& sum) {
    for (size_t node = 0; node < sum.size(); ++node) {
      sum[node] += description.nodes[node].work * times;
    }
  }

  static bool IsBetween(const Description& first, const Description& middle,
                        const Description& last, double at) {
    for (size_t node = 0; node < middle.nodes.size(); ++node) {
      if (middle.tree.nodes[node].end != node + 1) continue;
      const auto value = [&](const Description& of) {
        return of.nodes[node].work.bytes_read + of.nodes[node].work.flops;
      };
      const double expected = value(first) + at * (value(last) - value(first));
      if (std::abs(expected - value(middle)) > 1e-9 * std::abs(expected)) return false;
    }
    return true;
  }

  const Plan& plan_;
  Config config_;
  std::string name_;
};

// Puts a phase below the root of the whole.
void Append(Description& whole, Description phase) {
  const auto offset = static_cast<NodeId>(whole.tree.nodes.size());
  const auto shapes = static_cast<uint32_t>(whole.shapes.size());
  for (NodeId node = 0; node < phase.nodes.size(); ++node) {
    TreeNode& of = phase.tree.nodes[node];
    of.parent = node == 0 ? 0 : of.parent + offset;
    of.end += offset;
    ++of.depth;
    if (node == 0) of.name = RunPhaseName(phase.nodes[0].phase);
    phase.nodes[node].first_shape += shapes;
    whole.tree.nodes.push_back(std::move(of));
    whole.nodes.push_back(std::move(phase.nodes[node]));
  }
  whole.shapes.insert(whole.shapes.end(), phase.shapes.begin(), phase.shapes.end());
  for (const Flow& flow : phase.flows)
    whole.flows.push_back({flow.from + offset, flow.to + offset});
  whole.tree.nodes[0].end = static_cast<NodeId>(whole.tree.nodes.size());
  whole.nodes[0].work += whole.nodes[offset].work;
  whole.nodes[0].split = whole.nodes[0].split || whole.nodes[offset].split;
  AppendNotes(whole.notes, phase.notes, std::string(RunPhaseName(whole.nodes[offset].phase)));
}

Result<Description> DescribeGeneration(const Plan& plan, Describer& describer, Pass pass,
                                       const ModelInput& input, const std::string& name) {
  const bool both_ways = plan.family.input == InputKind::kTokensBothWays;
  pass.phase = RunPhase::kPrefill;
  pass.tokens = input.prompt;
  pass.encoded = input.prompt;
  pass.decoder_tokens = 1;
  auto prefill = describer.Run(pass);
  if (!prefill) return prefill;
  Description whole;
  TreeNode& root = whole.tree.nodes.emplace_back();
  root.level = Level::kModel;
  root.name = name;
  root.type = plan.root_type;
  DescribedNode& described = whole.nodes.emplace_back();
  described.phase = RunPhase::kAll;
  described.parameters = prefill->nodes[0].parameters;
  Append(whole, std::move(*prefill));
  if (input.generate > 0) {
    pass.cached = both_ways ? 1 : pass.cached + input.prompt;
    pass.tokens = 1;
    pass.run_encoder = false;
    auto decode = describer.RunDecode(pass, input.generate);
    if (!decode) return decode;
    Append(whole, std::move(*decode));
    whole.notes.push_back({NoteKind::kAssumedGeneration, "", {input.generate, input.prompt}});
  }
  return whole;
}

NoteKind AttentionNote(AttentionKind attention) {
  switch (attention) {
    case AttentionKind::kSdpa:
      return NoteKind::kAssumedSdpa;
    case AttentionKind::kFlash:
      return NoteKind::kAssumedFlash;
    case AttentionKind::kEager:
      break;
  }
  return NoteKind::kAssumedEager;
}

// Which other numbers than are described the configuration speaks of; empty: none.
std::string OtherDtype(Config& config, Dtype dtype) {
  const std::string configured = config.Text({"dtype", "torch_dtype"}, "");
  const std::string bits = config.Text({"quantization_config.bits"}, "");
  const std::string method = config.Text({"quantization_config.quant_method"}, "");
  const bool quantized = !bits.empty() || !method.empty();
  if (!quantized && (configured.empty() || configured == DtypeName(dtype))) return "";
  std::string says = configured.empty() ? "" : configured;
  if (quantized) {
    says += fmt::format("{}weights quantized{}{}", says.empty() ? "" : ", ",
                        bits.empty() ? "" : " to " + bits + " bits",
                        method.empty() ? "" : " (" + method + ")");
  }
  return Printable(says);
}

// What the user did not say.
ModelInput FillInput(const Family& family, Config& config, const ModelInput& given,
                     std::vector<Note>& notes) {
  ModelInput input = given;
  if (family.input == InputKind::kImage) {
    const auto [height, width] = config.Pair({"image_size"}, 224);
    const auto [patch_height, patch_width] = config.Pair({"patch_size"}, 16);
    input.image_size = height;
    input.seq = (height / patch_height) * (width / patch_width) + 1;
    return input;
  }
  if (input.prompt > 0) return input;
  if (input.seq == 0) {
    input.seq = kDefaultTokens;
    notes.push_back({NoteKind::kAssumedTokens, "", {kDefaultTokens}});
  }
  if (family.input == InputKind::kTokensBothWays && input.decoder_seq == 0) {
    input.decoder_seq = input.seq;
    notes.push_back({NoteKind::kAssumedDecoderTokens, "", {input.seq}});
  }
  return input;
}

// What `architectures` says is the model's class; the bare model where it says nothing. An entry
// that is not known is the bare model too, which `notes` is told.
Plan PlanOf(const Family& family, Config& config, HeadChoice choice,
            const std::string& architecture, std::vector<Note>& notes) {
  Plan plan = {.family = family,
               .root_type = std::string(family.root_type),
               .prefix = ClassPrefix(family),
               .language_model = choice == HeadChoice::kLanguageModel};
  if (choice != HeadChoice::kArchitecture) return plan;
  const std::vector<std::string> named = architecture.empty()
                                             ? config.Texts({"architectures"})
                                             : std::vector<std::string>{architecture};
  if (named.empty() || named.front() == family.root_type) return plan;
  plan.head = FindHead(family, named.front());
  if (plan.head == nullptr) {
    notes.push_back({NoteKind::kAssumedBareModel,
                     std::string(family.root_type),
                     {Ellipsize(Printable(named.front()), 60)}});
    return plan;
  }
  plan.root_type = named.front();
  plan.family.generates = family.generates && plan.head->generates;
  const Without without = plan.head->without;
  if (without == Without::kEncoder || without == Without::kDecoder) {
    plan.family.input = InputKind::kTokens;
  }
  return plan;
}

// "; did you mean 'num_hidden_layers'?"
std::string NearKeys(const std::string& key, const Config& config) {
  std::string best;
  size_t least = std::max<size_t>(3, key.size() / 3);
  for (const std::string& known : config.read()) {
    const size_t distance = EditDistance(key, known);
    if (distance < least) {
      least = distance;
      best = known;
    }
  }
  if (!best.empty()) return fmt::format("; did you mean '{}'?", best);
  std::string all;
  for (const std::string& known : config.read()) all += (all.empty() ? "" : ", ") + known;
  return "; there are " + all;
}

Result<const Family*> FamilyOf(Config& config, const std::string& name) {
  const std::string type = config.Text({"model_type"}, "");
  if (type.empty()) {
    return InvalidError(
        fmt::format("{}: has no 'model_type', so it is no config.json of a model", name));
  }
  const Family* family = FindFamily(type);
  if (family == nullptr) {
    return InvalidError(fmt::format("{}: 'model_type' = {}: not known; there are {}", name,
                                    Printable(type), FamilyNames()));
  }
  return family;
}

}  // namespace

bool IsHiddenSize(std::string_view key) {
  return std::find(kHiddenSizes.begin(), kHiddenSizes.end(), key) != kHiddenSizes.end();
}

Result<ModelTraits> TraitsOf(const ModelConfig& model) {
  auto config = Config::Parse(model.text, model.name);
  if (!config) return config.error();
  const auto family = FamilyOf(*config, model.name);
  if (!family) return family.error();
  const bool takes_images = (*family)->input == InputKind::kImage;
  return ModelTraits{(*family)->generates, (*family)->input == InputKind::kTokensBothWays,
                     takes_images, takes_images ? 0 : config->Int({"vocab_size"}, 0)};
}

bool IsClassOf(const ModelConfig& model, std::string_view name) {
  auto config = Config::Parse(model.text, model.name);
  if (!config) return false;
  const auto family = FamilyOf(*config, model.name);
  return family && (name == (*family)->root_type || FindHead(**family, name) != nullptr);
}

Result<Description> Describe(const ModelConfig& model, const DescribeOptions& options) {
  auto config = Config::Parse(model.text, model.name);
  if (!config) return config.error();
  const auto known = FamilyOf(*config, model.name);
  if (!known) return known.error();
  const Family* family = *known;
  const std::string type = config->Text({"model_type"}, "");
  if (options.head == HeadChoice::kLanguageModel && !family->generates) {
    return MisuseError(fmt::format("--head: {} has no language model's head", family->root_type));
  }
  for (const auto& [key, value] : options.set) {
    if (key == "model_type") {
      return MisuseError(
          "--set model_type: another family is another model; give its name or file");
    }
    config->Set(key, value);
  }
  if (options.input.image_size > 0) {
    config->Set("image_size", std::to_string(options.input.image_size));
  }
  std::vector<Note> notes = {AttentionNote(options.attention)};
  const Plan plan = PlanOf(*family, *config, options.head, options.architecture, notes);
  if (auto ok = CheckInput(plan, options.input); !ok) return ok.error();
  if (options.follow_hidden_size) {
    if (const auto followed = config->FollowHiddenSize()) notes.push_back(*followed);
  }
  if (std::string configured = OtherDtype(*config, options.dtype); !configured.empty()) {
    notes.push_back({NoteKind::kAssumedDtype, std::string(DtypeName(options.dtype)), {configured}});
  }
  if (plan.language_model) notes.emplace_back(NoteKind::kAssumedHead);
  const ModelInput input = FillInput(plan.family, *config, options.input, notes);
  const Pass pass = PassOf(plan, input, options);

  // Keys that were set in vain show only once the model has been built.
  Describer describer(plan, *config, model.name);
  auto description = input.prompt > 0 ? DescribeGeneration(plan, describer, pass, input, model.name)
                                      : describer.Run(pass);
  if (const auto vain = describer.config().SetInVain(); !vain.empty()) {
    return MisuseError(fmt::format("--set {}: {} has no such key{}", vain.front(), model.name,
                                   NearKeys(vain.front(), describer.config())));
  }
  if (!description) return description;
  description->model = model.name;
  description->family = type;
  description->input = input;
  description->dtype = options.dtype;
  description->attention = options.attention;
  AppendNotes(notes, description->notes);
  description->notes = std::move(notes);
  return description;
}

}  // namespace beryl::models
