// The backward pass of a described forward pass, operation by operation.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "types/description.h"

namespace beryl::models {

class Backward {
 public:
  // `whole` has the forward pass below the node `forward`, whose last operation is the loss.
  // Appends the backward pass. The argument must outlive this object.
  Backward(Description& whole, NodeId forward, bool checkpointing);
  void Append();

 private:
  // A part of the gradient of a result, and the operation that made it.
  struct Part {
    NodeId made_by = kNoNode;
    double elements = 0;
  };

  void FindGradients();
  void Mirror(NodeId node);
  void MirrorOperation(NodeId node);
  bool HasGradient(NodeId node) const;
  bool IsLayer(NodeId node) const;
  void Recompute(NodeId layer);

  // The gradient of a result, added up from its parts.
  NodeId Collect(NodeId node);
  void BackThroughProduct(NodeId node, NodeId gradient);
  void BackThroughProducts(NodeId node, NodeId gradient);
  void BackThroughFused(NodeId node, NodeId gradient);
  void BackThroughElementwise(NodeId node, NodeId gradient);
  void BackThroughCopy(NodeId node, NodeId gradient);
  void BackThroughTable(NodeId node, NodeId gradient);
  void BackThroughNorm(NodeId node, NodeId gradient);
  void BackThroughReduction(NodeId node, NodeId gradient);

  NodeId Open(const std::string& name, const std::string& type, Level level, NodeId like);
  void Close();
  // An operation for `of`, in a run of it.
  NodeId Emit(std::string_view name, MathKind kind, NodeId of, const Shape& input,
              const Shape& output, const Work& work);
  void Reads(NodeId operation, NodeId result);
  // A result of the forward pass: made again, if its layer was run again.
  NodeId Remembered(NodeId result) const;
  void Give(NodeId result, NodeId made_by, double elements);
  // The results of the forward pass that the gradient of `node` is computed from.
  std::vector<NodeId> SavedBy(NodeId node) const;
  bool SavesOwnResult(NodeId node) const;
  bool NeedsOthers(NodeId node) const;
  // Whether the other factor is a weight of the module that the product runs in.
  bool HasWeight(NodeId product) const;

  const std::vector<NodeId>& Makers(NodeId node) const { return makers_[node]; }
  std::vector<NodeId> TrainedMakers(NodeId node) const;
  const Shape& In(NodeId node, size_t at = 0) const;
  const Shape& Out(NodeId node) const;
  double Width(NodeId node) const;
  double OutBytes(NodeId node) const { return Out(node).Elements() * Width(node); }
  std::string_view TypeOf(NodeId node) const { return whole_.tree.nodes[node].type; }
  // The elements of the gradient that goes from `node` back to one of its makers.
  double PartFor(NodeId node, NodeId maker) const;

  Description& whole_;
  NodeId forward_;
  NodeId end_;  // of the forward pass
  bool checkpointing_;
  std::vector<std::vector<NodeId>> makers_;  // by operation: of what it reads
  std::vector<bool> trained_;                // by operation: weights are upstream of its result
  std::vector<std::vector<Part>> parts_;     // by operation: of the gradient of its result
  std::vector<NodeId> again_;                // by operation: where it runs again, or kNoNode
  std::vector<NodeId> open_;
};

}  // namespace beryl::models
