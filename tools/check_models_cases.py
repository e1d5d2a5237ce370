"""The models that check_models.py compares: odd shapes of every family, heads, and the catalog."""

import json
import pathlib

CATALOG = pathlib.Path(__file__).resolve().parent.parent / "data" / "catalog.json"
CATALOG_SIZE = {"batch": 8, "seq": 128, "decoder_seq": 64}

TEXT = {"vocab_size": 101, "hidden_size": 48, "num_hidden_layers": 2, "num_attention_heads": 3,
        "intermediate_size": 80, "max_position_embeddings": 37}
GPT = {"vocab_size": 101, "n_positions": 37, "n_embd": 48, "n_layer": 2, "n_head": 3}
T5 = {"vocab_size": 101, "d_model": 48, "d_kv": 20, "d_ff": 80, "num_layers": 2, "num_heads": 3}
BART = {"vocab_size": 101, "max_position_embeddings": 37, "d_model": 48,
        "encoder_layers": 2, "encoder_ffn_dim": 80, "encoder_attention_heads": 3,
        "decoder_layers": 2, "decoder_ffn_dim": 96, "decoder_attention_heads": 4}
VIT = {"hidden_size": 48, "num_hidden_layers": 2, "num_attention_heads": 3,
       "intermediate_size": 80, "image_size": 24, "patch_size": 8}
GROUPED = {"vocab_size": 101, "hidden_size": 48, "num_hidden_layers": 2, "num_attention_heads": 4,
           "num_key_value_heads": 2, "intermediate_size": 80, "max_position_embeddings": 64,
           "pad_token_id": 0}
ONE = {"num_hidden_layers": 1}

# Family -> its odd shapes; the first has every node of two layers, the rest one thing changed each.
SHAPES = {
    "albert": [
        {**TEXT, "embedding_size": 20},
        {**TEXT, "embedding_size": 32, "num_hidden_layers": 5, "num_hidden_groups": 2,
         "inner_group_num": 2, "hidden_act": "gelu", "num_attention_heads": 4},
    ],
    "bart": [
        BART,
        {**BART, "encoder_layers": 1, "decoder_layers": 2, "scale_embedding": True,
         "activation_function": "relu"},
        {**BART, "encoder_layers": 2, "decoder_layers": 1, "decoder_attention_heads": 1},
    ],
    "bert": [
        TEXT,
        {**TEXT, **ONE, "hidden_act": "relu", "type_vocab_size": 1, "num_attention_heads": 4},
        {**TEXT, **ONE, "hidden_act": "gelu_new", "type_vocab_size": 5, "intermediate_size": 33},
    ],
    "ctrl": [
        {**GPT, "dff": 80},
        {**GPT, "n_layer": 1, "n_head": 4, "dff": 33},
    ],
    "distilbert": [
        {"vocab_size": 101, "max_position_embeddings": 37, "dim": 48, "n_layers": 2, "n_heads": 3,
         "hidden_dim": 80},
        {"vocab_size": 99, "max_position_embeddings": 31, "dim": 40, "n_layers": 1, "n_heads": 5,
         "hidden_dim": 33, "activation": "relu"},
    ],
    "gemma": [
        {**GROUPED, "head_dim": 20},
        {**GROUPED, **ONE, "num_key_value_heads": 1, "head_dim": 16, "attention_bias": True,
         "hidden_act": "gelu"},
    ],
    "gemma2": [
        {**GROUPED, "head_dim": 20},
        {**GROUPED, **ONE, "num_key_value_heads": 4, "head_dim": 16, "attention_bias": True,
         "attn_logit_softcapping": None, "sliding_window": 3, "query_pre_attn_scalar": 24},
    ],
    "gpt2": [
        GPT,
        {**GPT, "n_layer": 1, "n_inner": 70, "activation_function": "relu"},
        {**GPT, "n_layer": 1, "scale_attn_by_inverse_layer_idx": True,
         "reorder_and_upcast_attn": True},
        {"vocab_size": 101, "max_position_embeddings": 37, "hidden_size": 40,
         "num_hidden_layers": 1, "num_attention_heads": 5},
    ],
    "gpt_neox": [
        TEXT,
        {**TEXT, **ONE, "use_parallel_residual": False, "attention_bias": False, "rotary_pct": 1.0,
         "hidden_act": "gelu_fast"},
    ],
    "llama": [
        GROUPED,
        {**GROUPED, **ONE, "num_key_value_heads": None, "attention_bias": True, "mlp_bias": True},
        {**GROUPED, **ONE, "num_key_value_heads": 1, "head_dim": 20, "hidden_act": "gelu",
         "tie_word_embeddings": True},
    ],
    "mistral": [
        GROUPED,
        {**GROUPED, **ONE, "num_key_value_heads": 4, "head_dim": 20, "sliding_window": 3},
        {"vocab_size": 101, "hidden_size": 48, "num_hidden_layers": 1, "num_attention_heads": 8,
         "intermediate_size": 80},
    ],
    "mixtral": [
        {**GROUPED, "num_local_experts": 5, "num_experts_per_tok": 2},
        {**GROUPED, **ONE, "num_local_experts": 3, "num_experts_per_tok": 1, "head_dim": 20},
        {**GROUPED, **ONE, "num_experts": 4, "num_experts_per_tok": 4, "hidden_act": "gelu"},
    ],
    "openai-gpt": [
        GPT,
        {**GPT, "n_layer": 1, "n_head": 4, "afn": "relu"},
        {**GPT, "n_layer": 1, "afn": "swish"},
    ],
    "phi": [
        GROUPED,
        {**GROUPED, **ONE, "num_key_value_heads": None, "qk_layernorm": True,
         "partial_rotary_factor": 0.4, "hidden_act": "gelu"},
    ],
    "phi3": [
        GROUPED,
        {**GROUPED, **ONE, "num_key_value_heads": None, "partial_rotary_factor": 0.5,
         "sliding_window": 3},
    ],
    "qwen2": [
        GROUPED,
        {**GROUPED, "num_key_value_heads": None, "use_sliding_window": True, "sliding_window": 3,
         "max_window_layers": 1},
    ],
    "qwen3": [
        {**GROUPED, "head_dim": 20},
        {**GROUPED, **ONE, "num_key_value_heads": 4, "attention_bias": True},
    ],
    "roberta": [
        TEXT,
        {**TEXT, **ONE, "hidden_act": "relu", "type_vocab_size": 1, "num_attention_heads": 4},
    ],
    "xlm-roberta": [
        TEXT,
        {**TEXT, **ONE, "hidden_act": "relu", "type_vocab_size": 1, "num_attention_heads": 4},
    ],
    "t5": [
        {**T5, "num_decoder_layers": 2},
        {**T5, "num_layers": 1, "num_decoder_layers": 2, "feed_forward_proj": "gated-gelu"},
        {**T5, "num_layers": 1, "feed_forward_proj": "gated-silu", "d_kv": 16,
         "relative_attention_num_buckets": 10},
    ],
    "vit": [
        VIT,
        {**VIT, **ONE, "image_size": [24, 40], "patch_size": [8, 4], "qkv_bias": False,
         "num_channels": 1},
        {**VIT, **ONE, "image_size": 27, "pooler_output_size": 20, "pooler_act": "relu",
         "hidden_act": "gelu_new"},
    ],
}
# The heads whose classes are looked for behind each family's prefix, with this added to its first
# shape. What classifies by an end of sequence has to find one, and as many in the decoder.
TASKS = ["ForCausalLM", "ForConditionalGeneration", "ForImageClassification", "ForMaskedLM",
         "ForNextSentencePrediction", "ForPreTraining", "ForQuestionAnswering",
         "ForSequenceClassification", "ForTokenClassification", "EncoderModel", "LMHeadModel"]
HEADED = {"id2label": {"0": "a", "1": "b", "2": "c", "3": "d", "4": "e"}, "pad_token_id": 0,
          "eos_token_id": 1}
UNTIED = {"tie_word_embeddings": False}
# Heads once more, with something else changed.
ODD_HEADS = [("albert", "ForMaskedLM", UNTIED), ("bart", "ForConditionalGeneration", UNTIED),
             ("bert", "ForPreTraining", UNTIED), ("distilbert", "ForMaskedLM", UNTIED),
             ("gemma2", "ForCausalLM", {"final_logit_softcapping": None}),
             ("gpt2", "LMHeadModel", UNTIED), ("llama", "ForCausalLM", {"tie_word_embeddings": True}),
             ("llama", "ForTokenClassification", {"token_classification_bias": False}),
             ("roberta", "ForMaskedLM", UNTIED), ("t5", "ForConditionalGeneration", UNTIED),
             ("vit", "ForImageClassification", {"num_labels": 7, "id2label": None})]
SIZES = [{"batch": 2, "seq": 7, "decoder_seq": 5}, {"batch": 3, "seq": 5, "decoder_seq": 8},
         {"batch": 1, "seq": 11, "decoder_seq": 1}, {"batch": 1, "seq": 1, "decoder_seq": 1}]


def size_of(family, size):
    """The size without what the family does not have: images have no seq, one stack no decoder."""
    has = {"batch"} | (set() if family == "vit" else {"seq"})
    return {key: size[key] for key in size if key in has or
            key == "decoder_seq" and family in ("t5", "bart")}


def head_cases(library):
    """Heads: (name, the case of the bare model, what is added to its config, size)."""
    def case(family, task, **more):
        name = library.prefix(family) + task
        added = {"architectures": [name], **HEADED, **more}
        if task == "ForQuestionAnswering":
            del added["id2label"]  # an answer has a start and an end
        size = size_of(family, SIZES[0])
        if task in ("ForCausalLM", "ForTokenClassification", "EncoderModel"):
            size.pop("decoder_seq", None)
        elif task == "ForSequenceClassification" and "decoder_seq" in size:
            size["decoder_seq"] = size["seq"]
        changed = "".join(f" {key}={value}" for key, value in more.items())
        return name + changed, f"{family}-1", added, size
    for family in SHAPES:
        for task in TASKS:
            if library.has(library.prefix(family) + task):
                yield case(family, task)
    for family, task, more in ODD_HEADS:
        yield case(family, task, **more)


def cases():
    """All cases: (name, catalog name or None, config, size, whether the facts hold every node)."""
    for family, shapes in SHAPES.items():
        for number, shape in enumerate(shapes):
            config = {"model_type": family, **shape}
            yield f"{family}-{number + 1}", None, config, size_of(family, SIZES[number]), True
        yield (f"{family}-defaults", None, {"model_type": family},
               size_of(family, CATALOG_SIZE), False)
    for name, config in json.loads(CATALOG.read_text()).items():
        yield name, name, config, size_of(config["model_type"], CATALOG_SIZE), False
