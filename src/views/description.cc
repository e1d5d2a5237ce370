// What a model is made of and what running it takes: as a table, JSON and CSV.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/text.h"
#include "views/described.h"
#include "views/energy_use.h"
#include "views/text_page.h"
#include "views/writers.h"

namespace beryl::views {
namespace {

constexpr const char* kSchema = "beryl.describe/1";
// From so many columns on there is room for shapes too.
constexpr int kWide = 120;

// "1x128x768"
std::string ShapeText(const Shape& shape) {
  return fmt::format("{}", fmt::join(shape.dims.begin(), shape.dims.begin() + shape.rank, "x"));
}

class DescriptionTable : public TextPage {
 public:
  DescriptionTable(const Description& description, const ViewOptions& options)
      : TextPage(options), description_(description), depth_(options.depth) {
    columns_ = 9 + 8 + 9 + 8 + 9;
    sends_ = description.input.gpus > 1;
    wide_ = width_ >= kWide;
    if (sends_) columns_ += 9;
    if (wide_) columns_ += kShape;
  }

  std::string Write() {
    Paragraph(Bold(fmt::format("{}: {}, {}", Printable(description_.model),
                               description_.tree.nodes[0].type, InputText(description_))));
    Paragraph(WorkText(description_));
    Line();
    const std::vector<FoldedNode> all = FoldLike(description_);
    const std::vector<FoldedNode> shown = ShownLines(description_, all, depth_);
    const int name = NameWidth(shown);
    Line(Dim(Padded("", name) + RightAligned("FLOP", 9) + RightAligned("matmul", 8) +
             RightAligned("moved", 9) + RightAligned("FLOP/B", 8) + RightAligned("param.", 9) +
             (sends_ ? RightAligned("sent", 9) : "") + (wide_ ? "  out" : "")));
    for (const FoldedNode& line : shown) Row(line, name);
    Line();
    if (const std::string left_out = LeftOutText(description_, all, shown); !left_out.empty()) {
      Paragraph(left_out, 0, kDimStyle);
    }
    for (const std::string& sentence : description_.assumptions) Paragraph("assumed: " + sentence);
    Paragraph(fmt::format("worked out from the configuration alone; {}", description_.tool), 0,
              kDimStyle);
    return Take();
  }

 private:
  static constexpr int kShape = 20;

  // No wider than it has to be, so that numbers stand near their names.
  int NameWidth(const std::vector<FoldedNode>& shown) const {
    const int most = std::max(20, width_ - columns_);
    size_t widest = 0;
    for (const FoldedNode& line : shown) {
      widest =
          std::max(widest, DisplayWidth(LineName(description_, line, static_cast<size_t>(most))));
    }
    return std::min(most, static_cast<int>(widest));
  }

  void Row(const FoldedNode& line, int name) {
    Work work;
    for (const NodeId node : line.nodes) work += description_.nodes[node].work;
    const double parameters = SumOver(line, [&](NodeId node) {
      return static_cast<double>(description_.nodes[node].parameters);
    });
    const std::string matmul = work.flops > 0 ? FormatPercent(work.matmul_flops / work.flops) : "-";
    std::string text = Padded(LineName(description_, line, static_cast<size_t>(name)), name) +
                       RightAligned(Amount(work.flops), 9) + RightAligned(matmul, 8) +
                       RightAligned(Amount(work.Bytes(), "B"), 9) +
                       RightAligned(Amount(work.Intensity()), 8) +
                       RightAligned(parameters > 0 ? Amount(parameters) : "-", 9);
    if (sends_) text += RightAligned(work.bytes_sent > 0 ? Amount(work.bytes_sent, "B") : "-", 9);
    const DescribedNode& first = description_.nodes[line.first()];
    if (wide_ && first.output_count > 0) {
      text += "  " + ShapeText(description_.shapes[first.first_shape + first.input_count]);
    }
    Line(text);
  }

  const Description& description_;
  std::optional<int> depth_;
  int columns_;
  bool sends_;
  bool wide_;
};

void WriteShapes(JsonWriter& json, std::string_view key, const Description& description,
                 uint32_t first, uint8_t count) {
  json.Key(key).BeginArray();
  for (uint32_t at = first; at < first + count; ++at) {
    const Shape& shape = description.shapes[at];
    json.BeginArray();
    for (uint8_t i = 0; i < shape.rank; ++i) json.Value(shape.dims[i]);
    json.End();
  }
  json.End();
}

void WriteNode(JsonWriter& json,  // NOLINT(misc-no-recursion)
               const Description& description, NodeId node, const ViewOptions& options) {
  const TreeNode& of = description.tree.nodes[node];
  const DescribedNode& described = description.nodes[node];
  json.BeginObject();
  json.Member("name", of.name);
  json.Member("scope", described.scope);
  json.Member("type", of.type);
  json.Member("level", LevelName(of.level));
  json.Member("phase", RunPhaseName(described.phase));
  if (described.kind) json.Member("kind", MathKindName(*described.kind));
  WriteWhole(json, "runs", described.runs);
  WriteWhole(json, "flops", described.work.flops);
  WriteWhole(json, "matmul_flops", described.work.matmul_flops);
  WriteWhole(json, "bytes_read", described.work.bytes_read);
  WriteWhole(json, "bytes_written", described.work.bytes_written);
  json.Member("flops_per_byte", described.work.Intensity());
  json.Member("parameters", described.parameters);
  if (description.input.gpus > 1) {
    WriteWhole(json, "bytes_sent", described.work.bytes_sent);
    json.Member("split", described.split);
  }
  WriteShapes(json, "inputs", description, described.first_shape, described.input_count);
  WriteShapes(json, "outputs", description, described.first_shape + described.input_count,
              described.output_count);
  json.Key("children").BeginArray();
  for (NodeId child = node + 1; child < of.end; child = description.tree.nodes[child].end) {
    if (options.depth && description.tree.nodes[child].depth > *options.depth) break;
    WriteNode(json, description, child, options);
  }
  json.End();
  json.End();
}

std::string Json(const Description& description, const ViewOptions& options) {
  JsonWriter json;
  json.BeginObject();
  json.Member("schema", kSchema);
  json.Member("model", description.model);
  json.Member("family", description.family);
  WriteInput(json, description);
  json.Key("tree");
  WriteNode(json, description, 0, options);
  WriteSentences(json, "assumptions", description.assumptions);
  json.Member("tool", description.tool);
  json.End();
  return json.Take() + "\n";
}

std::string CsvShapes(const Description& description, uint32_t first, uint8_t count) {
  std::string text;
  for (uint32_t at = first; at < first + count; ++at) {
    text += (text.empty() ? "" : ";") + ShapeText(description.shapes[at]);
  }
  return text;
}

std::string Csv(const Description& description, const ViewOptions& options) {
  std::string text =
      "model,depth,scope,name,type,level,phase,kind,runs,flops,matmul_flops,bytes_read,"
      "bytes_written,bytes_sent,flops_per_byte,parameters,split,inputs,outputs,batch,seq,gpus,"
      "dtype,attention,schema\n";
  const ModelInput& input = description.input;
  const std::string last = fmt::format(
      "{},{},{},{},{},{}", input.batch, input.seq > 0 ? std::to_string(input.seq) : "", input.gpus,
      DtypeName(description.dtype), AttentionName(description.attention), kSchema);
  for (NodeId node = 0; node < description.nodes.size(); ++node) {
    const TreeNode& of = description.tree.nodes[node];
    const DescribedNode& described = description.nodes[node];
    if (options.depth && of.depth > *options.depth) continue;
    text += fmt::format(
        "{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{}\n", CsvText(description.model),
        of.depth, CsvText(described.scope), CsvText(of.name), CsvText(of.type),
        LevelName(of.level), RunPhaseName(described.phase),
        described.kind ? MathKindName(*described.kind) : "", WholeOrFigure(described.runs),
        WholeOrFigure(described.work.flops), WholeOrFigure(described.work.matmul_flops),
        WholeOrFigure(described.work.bytes_read), WholeOrFigure(described.work.bytes_written),
        WholeOrFigure(described.work.bytes_sent), WholeOrFigure(described.work.Intensity()),
        described.parameters, described.split ? "yes" : "no",
        CsvShapes(description, described.first_shape, described.input_count),
        CsvShapes(description, described.first_shape + described.input_count,
                  described.output_count),
        last);
  }
  return text;
}

}  // namespace

std::string Write(const Description& description, Format format, const ViewOptions& options) {
  if (format == Format::kJson) return Json(description, options);
  if (format == Format::kCsv) return Csv(description, options);
  return DescriptionTable(description, options).Write();
}

}  // namespace beryl::views
