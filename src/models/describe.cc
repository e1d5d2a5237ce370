#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "base/text.h"
#include "models/configured_dtype.h"
#include "models/heads.h"
#include "models/models.h"
#include "models/training.h"

namespace beryl::models {
namespace {

// Products of these with each other and with sizes of a configuration fit in 64 bits.
constexpr int64_t kLargestInput = 1 << 24;
constexpr int64_t kDefaultTokens = 128;

// What to describe: a family's model and its head.
struct Plan {
  Family family;  // with the input and generation of the head applied
  std::string root_type;
  std::string_view prefix;         // of its class names
  bool language_model = false;     // with the language model's head,
  const HeadForm* head = nullptr;  // or with this head, or none
};

Status CheckInput(const Plan& plan, const ModelInput& input) {
  const Family& family = plan.family;
  const std::pair<std::string_view, int64_t> sizes[] = {{"batch", input.batch},
                                                        {"seq", input.seq},
                                                        {"decoder_seq", input.decoder_seq},
                                                        {"prompt", input.prompt},
                                                        {"context", input.context},
                                                        {"generate", input.generate},
                                                        {"image_size", input.image_size}};
  for (const auto& [name, size] : sizes) {
    if (size < 0 || size > kLargestInput) {
      return MisuseError(fmt::format("{} = {}: must be at most {}", name, size, kLargestInput),
                         {name});
    }
  }
  if (input.gpus < 1 || input.gpus > 1024)
    return MisuseError("a model runs on 1 to 1024 GPUs", {"gpus"});
  const auto refuse = [&](bool given, std::string_view option, const char* why) -> Status {
    if (given) return MisuseError(fmt::format("{}; this is {}", why, plan.root_type), {option});
    return {};
  };
  const bool generation = input.prompt > 0 || input.generate > 0;
  if (generation && input.seq > 0) {
    return MisuseError(
        "a sequence length is for one pass over the input, a prompt and tokens to generate are for "
        "generation: give one or the other",
        {"seq", "prompt", "generate"});
  }
  if (input.generate > 0 && input.prompt == 0) {
    return MisuseError("generating tokens needs a prompt to continue", {"generate", "prompt"});
  }
  TRY(refuse(generation && !family.generates, "prompt",
             "only models that generate text accept a prompt"));
  const bool both_ways = family.input == InputKind::kTokensBothWays;
  TRY(refuse(input.decoder_seq > 0 && (!both_ways || generation), "decoder_seq",
             "only one pass of an encoder-decoder model accepts a sequence length of the decoder"));
  TRY(refuse(input.image_size > 0 && family.input != InputKind::kImage, "image_size",
             "only image models accept an image size"));
  TRY(refuse(input.seq > 0 && family.input == InputKind::kImage, "image_size",
             "image models accept an image size, not a sequence length"));
  return refuse(input.context > 0 && (!family.generates || both_ways), "context",
                "only decoders have a context of tokens in a cache");
}

Status CheckTraining(const DescribeOptions& options) {
  const ModelInput& input = options.input;
  if (input.prompt > 0 || input.generate > 0 || input.context > 0) {
    return MisuseError(
        "a step of training takes whole sequences: give their length instead of a "
        "prompt, tokens to generate or a cache",
        {"training", "prompt", "generate", "context"});
  }
  if (input.gpus > 1) {
    return MisuseError("training is described for one GPU", {"training", "gpus"});
  }
  if (options.head == HeadChoice::kNone) {
    return MisuseError("a model without a head has no loss to be trained by",
                       {"training", "no_head"});
  }
  return {};
}

Pass PassOf(const Plan& plan, const ModelInput& input, Dtype dtype, AttentionKind attention) {
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
  pass.dtype = dtype;
  pass.attention = attention;
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
    if (pass.training) output = graph.Loss(output);
    graph.Finish(output);
    Description description;
    graph.Take(description);
    return description;
  }

  // `count` passes, each with one more token in the cache than the previous one. The work of a pass
  // grows linearly with that until a window is full, so two passes determine all of them.
  Result<Description> RunDecode(Pass pass, int64_t count) {
    pass.phase = RunPhase::kDecode;
    auto first = Run(pass);
    if (!first || count == 1) return first;
    pass.cached += count - 1;
    auto last = Run(pass);
    if (!last) return last;
    pass.cached -= count - 1;
    std::vector<Work> sum(first->nodes.size());
    TRY(AddUp(pass, count, *first, *last, sum));
    for (size_t node = 0; node < sum.size(); ++node) {
      last->nodes[node].work = sum[node];
      last->nodes[node].runs *= static_cast<double>(count);
    }
    return last;
  }

  const Config& config() const { return config_; }

 private:
  // Adds the work of `count` passes starting at `pass`, given the first and the last.
  Status AddUp(Pass pass, int64_t count, const Description& first, const Description& last,
               std::vector<Work>& sum) {
    if (count <= 2) {
      Add(first, 1, sum);
      if (count == 2) Add(last, 1, sum);
      return {};
    }
    const int64_t half = count / 2;
    const int64_t from = pass.cached;
    pass.cached = from + half;
    auto middle = TRY(Run(pass));
    const double at = static_cast<double>(half) / static_cast<double>(count - 1);
    if (IsBetween(first, middle, last, at)) {
      Add(first, 0.5 * static_cast<double>(count), sum);
      Add(last, 0.5 * static_cast<double>(count), sum);
      return {};
    }
    pass.cached = from + half - 1;
    const auto before = TRY(Run(pass));
    pass.cached = from;
    TRY(AddUp(pass, half, first, before, sum));
    pass.cached = from + half;
    return AddUp(pass, count - half, middle, last, sum);
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

// Appends a phase below the common root.
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
  whole.weights = prefill->weights;
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

Note AttentionNote(const DescribeOptions& options) {
  if (!options.attention_of.empty()) {
    return {NoteKind::kAssumedProfileAttention,
            options.attention_of,
            {AttentionName(options.attention)}};
  }
  switch (options.attention) {
    case AttentionKind::kSdpa:
      return NoteKind::kAssumedSdpa;
    case AttentionKind::kFlash:
      return NoteKind::kAssumedFlash;
    case AttentionKind::kEager:
      break;
  }
  return NoteKind::kAssumedEager;
}

// The tokens of a sequence for which none were given: the default, or as many as fit.
int64_t AssumedTokens(const Family& family, Config& config) {
  auto positions = config.MaybeInt({"max_position_embeddings", "n_positions"}, std::nullopt);
  if (!positions) return kDefaultTokens;
  if (family.heads_of == "roberta") {
    // The first positions are those of padding.
    const double padding = config.Number({"pad_token_id"}, 1);
    if (padding >= 0 && padding + 1 < static_cast<double>(*positions)) {
      *positions -= static_cast<int64_t>(padding) + 1;
    }
  }
  return std::min(*positions, kDefaultTokens);
}

// Fills in what the user did not give.
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
    input.seq = AssumedTokens(family, config);
    notes.push_back({NoteKind::kAssumedTokens, "", {input.seq}});
  }
  if (family.input == InputKind::kTokensBothWays && input.decoder_seq == 0) {
    input.decoder_seq = input.seq;
    notes.push_back({NoteKind::kAssumedDecoderTokens, "", {input.seq}});
  }
  return input;
}

// The class that a family is trained as first: to predict words, or labels of images.
std::string TrainedClass(const Family& family) {
  for (const char* task : {"ForCausalLM", "LMHeadModel", "ForConditionalGeneration", "ForMaskedLM",
                           "ForImageClassification"}) {
    std::string name = std::string(ClassPrefix(family)) + task;
    const bool is_decoder = name == "BertLMHeadModel" || name.ends_with("BartForCausalLM") ||
                            name.ends_with("RobertaForCausalLM");
    if (!is_decoder && FindHead(family, name) != nullptr) return name;
  }
  return std::string(family.root_type);
}

// The class that `architectures` names; the bare model if it is empty. An unknown class is also
// described as the bare model, with a note.
Plan PlanOf(const Family& family, Config& config, const DescribeOptions& options,
            std::vector<Note>& notes) {
  Plan plan = {.family = family,
               .root_type = std::string(family.root_type),
               .prefix = ClassPrefix(family),
               .language_model = options.head == HeadChoice::kLanguageModel};
  const bool usual = options.head == HeadChoice::kUsual;
  if (!usual && options.head != HeadChoice::kArchitecture) return plan;
  std::vector<std::string> named = {options.architecture};
  if (named.front().empty()) named = config.Texts({"architectures"});
  const bool is_bare = named.empty() || named.front() == family.root_type;
  if (is_bare && options.training) {
    named = {TrainedClass(family)};
    notes.emplace_back(NoteKind::kAssumedTrainedClass, named.front());
  } else if (is_bare) {
    plan.language_model = usual && options.input.prompt > 0 && family.generates;
    if (usual && !plan.language_model) notes.emplace_back(NoteKind::kAssumedNoHead, plan.root_type);
    return plan;
  }
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
        fmt::format("{}: it has no 'model_type', so it is not the config.json of a model", name));
  }
  const Family* family = FindFamily(type);
  if (family == nullptr) {
    return InvalidError(fmt::format("{}: 'model_type' = {}: unknown; expected one of {}", name,
                                    Printable(type), FamilyNames()));
  }
  return family;
}

}  // namespace

bool IsHiddenSize(std::string_view key) {
  return std::find(kHiddenSizes.begin(), kHiddenSizes.end(), key) != kHiddenSizes.end();
}

Result<ModelTraits> TraitsOf(const ModelConfig& model) {
  auto config = TRY(Config::Parse(model.text, model.name));
  const auto family = TRY(FamilyOf(config, model.name));
  const bool takes_images = family->input == InputKind::kImage;
  return ModelTraits{family->generates, family->input == InputKind::kTokensBothWays, takes_images,
                     takes_images ? 0 : config.Int({"vocab_size"}, 0)};
}

bool IsClassOf(const ModelConfig& model, std::string_view name) {
  auto config = Config::Parse(model.text, model.name);
  if (!config) return false;
  const auto family = FamilyOf(*config, model.name);
  return family && (name == (*family)->root_type || FindHead(**family, name) != nullptr);
}

Result<Description> Describe(const ModelConfig& model, const DescribeOptions& options) {
  auto config = TRY(Config::Parse(model.text, model.name));
  const auto known = TRY(FamilyOf(config, model.name));
  const Family* family = known;
  const std::string type = config.Text({"model_type"}, "");
  if (options.head == HeadChoice::kLanguageModel && !family->generates) {
    return MisuseError(
        fmt::format("{} does not generate text, so it has no head for that; name the "
                    "class that was meant, such as architectures={}",
                    family->root_type, TrainedClass(*family)),
        {"head", "set"});
  }
  for (const auto& [key, value] : options.set) {
    if (key == "model_type") {
      return MisuseError(
          "model_type cannot be set: another family is another model; give its name or file",
          {"set"});
    }
    config.Set(key, value);
  }
  if (options.input.image_size > 0) {
    config.Set("image_size", std::to_string(options.input.image_size));
  }
  if (options.training) TRY(CheckTraining(options));
  std::vector<Note> notes = {AttentionNote(options)};
  const Plan plan = PlanOf(*family, config, options, notes);
  TRY(CheckInput(plan, options.input));
  if (options.follow_hidden_size) {
    if (const auto followed = config.FollowHiddenSize()) notes.push_back(*followed);
  }
  const ConfiguredDtype configured(config);
  const Dtype dtype = options.dtype.value_or(configured.Own());
  if (std::string other = configured.OtherThan(dtype); !other.empty()) {
    notes.push_back({NoteKind::kAssumedDtype, std::string(DtypeName(dtype)), {other}});
  }
  if (plan.language_model) notes.emplace_back(NoteKind::kAssumedHead);
  const ModelInput input = FillInput(plan.family, config, options.input, notes);
  Pass pass = PassOf(plan, input, dtype, options.attention);
  if (options.training) {
    if (dtype == Dtype::kInt8 || dtype == Dtype::kInt4) {
      return MisuseError(fmt::format("training in {}: weights of that type are not trained; choose "
                                     "float32, float16 or bfloat16",
                                     DtypeName(dtype)),
                         {"dtype", "training"});
    }
    const DropoutKeys& keys = family->dropouts;
    pass.training = true;
    pass.dropout = config.Number({keys.hidden}, keys.hidden_default) > 0;
    pass.attention_dropout = config.Number({keys.attention}, keys.attention_default) > 0;
    notes.push_back({NoteKind::kAssumedTraining,
                     std::string(DtypeName(dtype)),
                     {pass.dropout || pass.attention_dropout ? NoteValue("with") : "without"}});
  }

  // Keys that had no effect are known only after the model has been built.
  Describer describer(plan, config, model.name);
  auto description = input.prompt > 0 ? DescribeGeneration(plan, describer, pass, input, model.name)
                                      : describer.Run(pass);
  if (const auto vain = describer.config().SetInVain(); !vain.empty()) {
    return MisuseError(fmt::format("key {} cannot be set: {} has no such key{}", vain.front(),
                                   model.name, NearKeys(vain.front(), describer.config())),
                       {"set"});
  }
  if (!description) return description;
  description->model = model.name;
  description->family = type;
  description->input = input;
  description->dtype = dtype;
  description->attention = options.attention;
  AppendNotes(notes, description->notes);
  description->notes = std::move(notes);
  if (options.training) description = TrainingStep(*std::move(description), *options.training);
  description->memory = MemoryNeedOf(*description);
  return description;
}

}  // namespace beryl::models
