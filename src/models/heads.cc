#include "models/heads.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "base/text.h"

namespace beryl::models {
namespace {

using At = const HeadSite&;

Tensor LastToken(Tensor hidden) {
  hidden.shape.dims[1] = 1;
  return hidden;
}

// A pass sends all its tokens through the head; a generation needs only the last one.
Tensor Tokens(At at) {
  return at.graph.pass().phase == RunPhase::kForward ? at.model.hidden : LastToken(at.model.hidden);
}

// One vector for each sequence.
Tensor Vectors(At at, int64_t size) { return at.graph.Activation({at.graph.pass().batch, size}); }

Tensor FirstToken(At at) {
  const Tensor first = Vectors(at, at.model.hidden.Last()).Of(at.model.hidden);
  at.graph.Views(2, first);
  return first;
}

Tensor Dropped(At at, std::string name, const Tensor& x) {
  at.graph.Dropout(std::move(name), x);
  return x;
}

// --- Words.

bool Tied(At at) { return at.config.Bool({"tie_word_embeddings"}, at.model.tied); }

Tensor Words(At at, std::string name, const Tensor& x, bool bias) {
  return at.graph.Linear(std::move(name), x, at.model.vocab, {.bias = bias, .tied = Tied(at)});
}

Tensor LmHead(At at) { return Words(at, "lm_head", Tokens(at), false); }
Tensor LmHeadWithBias(At at) { return Words(at, "lm_head", Tokens(at), true); }

Tensor CappedLmHead(At at) {
  Tensor logits = LmHead(at);
  if (!at.config.MaybeNumber({"final_logit_softcapping"}, 30)) return logits;
  logits = at.graph.Elementwise("div", {logits}, logits);
  logits = at.graph.Elementwise("tanh", {logits}, logits, 4);
  return at.graph.Scale(logits);
}

// Its tables are always shared. The first version scales the hidden state down, because its tables
// are small.
Tensor T5LmHead(At at) {
  Tensor x = Tokens(at);
  if (at.config.Bool({"scale_decoder_outputs"}, at.model.tied)) x = at.graph.Scale(x);
  return at.graph.Linear("lm_head", x, at.model.vocab, {.bias = false, .tied = true});
}

Tensor BartLmHead(At at) {
  const Tensor logits = LmHead(at);
  return at.graph.Add(logits, at.graph.Activation({1, at.model.vocab}));
}

// The bias that the library keeps in addition to the decoder's: the same one if tables are tied,
// otherwise one that nothing reads.
void KeepBias(At at) {
  if (!Tied(at)) at.graph.AddParameters(static_cast<uint64_t>(at.model.vocab));
}

Tensor BertPredictions(At at) {
  const std::string prefix(at.prefix);
  Graph& graph = at.graph;
  const Tensor x = Tokens(at);
  return graph.Module("predictions", prefix + "LMPredictionHead", x, [&] {
    KeepBias(at);
    const Tensor y = graph.Module("transform", prefix + "PredictionHeadTransform", x, [&] {
      const Tensor dense = graph.Linear("dense", x, x.Last());
      return graph.LayerNorm("LayerNorm",
                             graph.Act("transform_act_fn", at.model.activation, dense));
    });
    return Words(at, "decoder", y, true);
  });
}

Tensor BertMaskedLm(At at) {
  return at.graph.Module("cls", std::string(at.prefix) + "OnlyMLMHead", at.model.hidden,
                         [&] { return BertPredictions(at); });
}

Tensor BertPreTraining(At at) {
  return at.graph.Module("cls", std::string(at.prefix) + "PreTrainingHeads", at.model.hidden, [&] {
    const Tensor words = BertPredictions(at);
    std::ignore = at.graph.Linear("seq_relationship", at.model.pooled, 2);
    return words;
  });
}

Tensor BertNextSentence(At at) {
  return at.graph.Module("cls", std::string(at.prefix) + "OnlyNSPHead", at.model.pooled,
                         [&] { return at.graph.Linear("seq_relationship", at.model.pooled, 2); });
}

Tensor RobertaMaskedLm(At at) {
  const Tensor x = Tokens(at);
  return at.graph.Module("lm_head", std::string(at.prefix) + "LMHead", x, [&] {
    KeepBias(at);
    const Tensor y = at.graph.Act("gelu", at.graph.Linear("dense", x, x.Last()));
    return Words(at, "decoder", at.graph.LayerNorm("layer_norm", y), true);
  });
}

Tensor AlbertMaskedLm(At at) {
  const Tensor x = Tokens(at);
  return at.graph.Module("predictions", "AlbertMLMHead", x, [&] {
    KeepBias(at);
    const Tensor y = at.graph.Act("activation", at.model.activation,
                                  at.graph.Linear("dense", x, at.model.word_size));
    return Words(at, "decoder", at.graph.LayerNorm("LayerNorm", y), true);
  });
}

Tensor DistilBertMaskedLm(At at) {
  Tensor x = Tokens(at);
  x = at.graph.Linear("vocab_transform", x, x.Last());
  x = at.graph.LayerNorm("vocab_layer_norm", at.graph.Act("activation", at.model.activation, x));
  return Words(at, "vocab_projector", x, true);
}

// --- Labels.

int64_t Labels(At at, int64_t otherwise = 2) {
  const int64_t named = at.config.Members("id2label");
  return at.config.Int({"num_labels"}, named > 0 ? named : otherwise);
}

Tensor Labelled(At at, std::string name, const Tensor& x, bool bias = true) {
  return at.graph.Linear(std::move(name), x, Labels(at), {.bias = bias});
}

Tensor ClassifyPooled(At at) {
  return Labelled(at, "classifier", Dropped(at, "dropout", at.model.pooled));
}

// One score for each choice; every choice is a sequence of its own.
Tensor ScoreChoices(At at) {
  return at.graph.Linear("classifier", Dropped(at, "dropout", at.model.pooled), 1);
}

Tensor AlbertPreTraining(At at) {
  const Tensor words = AlbertMaskedLm(at);
  std::ignore = at.graph.Module("sop_classifier", "AlbertSOPHead", at.model.pooled,
                                [&] { return ClassifyPooled(at); });
  return words;
}

Tensor ClassifyFirst(At at) { return Labelled(at, "classifier", FirstToken(at)); }

Tensor DistilBertClassifyFirst(At at) {
  const Tensor first = FirstToken(at);
  const Tensor x = at.graph.Act("relu", at.graph.Linear("pre_classifier", first, first.Last()));
  return Labelled(at, "classifier", Dropped(at, "dropout", x));
}

Tensor ClassificationHead(At at, std::string name, const Tensor& x, int64_t labels) {
  return at.graph.Module(std::move(name), std::string(at.prefix) + "ClassificationHead", x, [&] {
    at.graph.Dropout("dropout", x);
    const Tensor y = at.graph.Act("tanh", at.graph.Linear("dense", x, x.Last()));
    return at.graph.Linear("out_proj", y, labels);
  });
}

Tensor RobertaClassifyFirst(At at) {
  return ClassificationHead(at, "classifier", FirstToken(at), Labels(at));
}

// The state at the last end-of-sequence token. The library checks that all sequences have the same
// number of them.
Tensor ClassifyEnd(At at, int64_t labels) {
  Graph& graph = at.graph;
  const Tensor ids = graph.Ids({graph.pass().batch, graph.pass().encoded});
  Tensor truths = ids;
  truths.width = 1;
  truths = graph.Elementwise("eq", {ids}, truths);
  const Tensor counts = graph.Elementwise("sum", {truths}, graph.Ids({graph.pass().batch}));
  std::ignore = graph.Elementwise("unique_consecutive", {counts}, counts);
  const Tensor places = graph.Elementwise("nonzero", {truths}, graph.Ids({graph.pass().batch, 2}));
  const Tensor x = graph.Copy("index", Vectors(at, at.model.hidden.Last()).Of(at.model.hidden));
  graph.AlsoReads(places);
  return ClassificationHead(at, "classification_head", x, labels);
}

Tensor T5ClassifyEnd(At at) { return ClassifyEnd(at, Labels(at)); }
Tensor BartClassifyEnd(At at) { return ClassifyEnd(at, Labels(at, 3)); }

// Selects the logits of the last token that is not padding.
Tensor OfLastToken(At at, const Tensor& logits) {
  Graph& graph = at.graph;
  const Tensor ids = graph.Ids({logits.shape.dims[0], logits.shape.dims[1]});
  Tensor real = graph.Elementwise("ne", {ids}, ids);
  real = graph.Elementwise("to", {real}, ids, 0);
  const Tensor range = graph.Elementwise("arange", {}, graph.Ids({logits.shape.dims[1]}), 0);
  const Tensor places = graph.Elementwise("mul", {range, real}, ids);
  const Tensor last = graph.Elementwise("argmax", {places}, graph.Ids({logits.shape.dims[0]}));
  const Tensor rows = graph.Elementwise("arange", {}, last, 0);
  const Tensor chosen = graph.Copy("index", Vectors(at, logits.Last()).Of(logits));
  graph.AlsoReads(last);
  graph.AlsoReads(rows);
  return chosen;
}

Tensor ScoreLast(At at) { return OfLastToken(at, Labelled(at, "score", Tokens(at), false)); }

Tensor CtrlClassifyLast(At at) {
  return OfLastToken(at, Labelled(at, "classifier", Tokens(at), false));
}

Tensor ClassifyTokens(At at) {
  return Labelled(at, "classifier", Dropped(at, "dropout", Tokens(at)));
}

Tensor ScoreTokens(At at) {
  return Labelled(at, "score", Dropped(at, "dropout", Tokens(at)),
                  at.config.Bool({"token_classification_bias"}, true));
}

// Logits for the start and the end of an answer, each made contiguous.
Tensor AnswerLogits(At at, const Tensor& x) {
  const Tensor logits = at.graph.Linear("qa_outputs", x, 2);
  const Tensor part = at.graph.Activation({x.shape.dims[0], x.shape.dims[1]}).Of(logits);
  at.graph.Views(3, logits);
  std::ignore = at.graph.Copy("contiguous", part);
  return at.graph.Copy("contiguous", part);
}

Tensor Answer(At at) { return AnswerLogits(at, Tokens(at)); }
Tensor DistilBertAnswer(At at) { return AnswerLogits(at, Dropped(at, "dropout", Tokens(at))); }

Tensor Nothing(At at) { return at.model.hidden; }

const std::vector<HeadForm>& Forms() {
  using enum Without;
  static const std::vector<HeadForm> kAll = {
      // The next word, or masked words.
      {"llama gemma gpt_neox", "ForCausalLM", kNothing, true, LmHead},
      {"phi", "ForCausalLM", kNothing, true, LmHeadWithBias},
      {"gemma2", "ForCausalLM", kNothing, true, CappedLmHead},
      {"bart", "ForCausalLM", kEncoder, true, LmHead},
      {"gpt2 openai-gpt", "LMHeadModel", kNothing, true, LmHead},
      {"ctrl", "LMHeadModel", kNothing, true, LmHeadWithBias},
      {"t5", "ForConditionalGeneration", kNothing, true, T5LmHead},
      {"bart", "ForConditionalGeneration", kNothing, true, BartLmHead},
      {"bert", "LMHeadModel", kPooler, true, BertMaskedLm},
      {"bert", "ForMaskedLM", kPooler, false, BertMaskedLm},
      {"roberta", "ForCausalLM", kPooler, true, RobertaMaskedLm},
      {"roberta", "ForMaskedLM", kPooler, false, RobertaMaskedLm},
      {"albert", "ForMaskedLM", kPooler, false, AlbertMaskedLm},
      {"distilbert", "ForMaskedLM", kNothing, false, DistilBertMaskedLm},
      {"bert", "ForPreTraining", kNothing, false, BertPreTraining},
      {"bert", "ForNextSentencePrediction", kNothing, false, BertNextSentence},
      {"albert", "ForPreTraining", kNothing, false, AlbertPreTraining},
      // Labels of a sequence or an image.
      {"bert albert", "ForSequenceClassification", kNothing, false, ClassifyPooled},
      {"roberta", "ForSequenceClassification", kPooler, false, RobertaClassifyFirst},
      {"distilbert", "ForSequenceClassification", kNothing, false, DistilBertClassifyFirst},
      {"t5", "ForSequenceClassification", kNothing, false, T5ClassifyEnd},
      {"bart", "ForSequenceClassification", kNothing, false, BartClassifyEnd},
      {"ctrl", "ForSequenceClassification", kNothing, false, CtrlClassifyLast},
      {"gpt2 openai-gpt gpt_neox llama gemma gemma2 phi", "ForSequenceClassification", kNothing,
       false, ScoreLast},
      {"vit", "ForImageClassification", kPooler, false, ClassifyFirst},
      {"bert roberta albert", "ForMultipleChoice", kNothing, false, ScoreChoices},
      // Labels of each token.
      {"bert roberta albert", "ForTokenClassification", kPooler, false, ClassifyTokens},
      {"distilbert gpt2 gpt_neox", "ForTokenClassification", kNothing, false, ClassifyTokens},
      {"t5", "ForTokenClassification", kDecoder, false, ClassifyTokens},
      {"llama gemma gemma2 phi", "ForTokenClassification", kNothing, false, ScoreTokens},
      // The position of an answer.
      {"bert roberta albert", "ForQuestionAnswering", kPooler, false, Answer},
      {"distilbert", "ForQuestionAnswering", kNothing, false, DistilBertAnswer},
      {"t5 bart gpt2 gpt_neox llama", "ForQuestionAnswering", kNothing, false, Answer},
      // A part of the bare model.
      {"t5", "EncoderModel", kDecoder, false, Nothing},
  };
  return kAll;
}

bool IsOneOf(std::string_view name, std::string_view names) {
  const auto all = beryl::Split(names, ' ');
  return std::find(all.begin(), all.end(), name) != all.end();
}

}  // namespace

std::string_view ClassPrefix(const Family& family) {
  return family.root_type.substr(0, family.root_type.size() - std::string_view("Model").size());
}

const HeadForm* FindHead(const Family& family, std::string_view architecture) {
  const std::string_view prefix = ClassPrefix(family);
  if (!architecture.starts_with(prefix)) return nullptr;
  architecture.remove_prefix(prefix.size());
  for (const HeadForm& form : Forms()) {
    if (form.task == architecture && IsOneOf(family.heads_of, form.families)) return &form;
  }
  return nullptr;
}

void LanguageModelHead(Graph& graph, const BareModel& model) {
  // A tied table is counted with the word embedding.
  std::ignore = graph.Linear("lm_head", LastToken(model.hidden), model.vocab,
                             {.bias = false, .tied = model.tied, .counted = !model.tied});
}

}  // namespace beryl::models
