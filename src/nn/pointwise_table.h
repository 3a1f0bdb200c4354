// The pointwise operators: a text of C++ for each.
#pragma once

#include <string>

#include "nn/graph.h"

namespace iruka::nn {

/// The dtype of a pointwise operator's result: that of its first or second input, bool, or that which `to` names.
enum class PointwiseResult : uint8_t { first, second, boolean, cast };

/// What an operator costs for an element: less than writing and reading it, about as much, or many times as much, as
/// functions do that are series of their own.
enum class PointwiseCost : uint8_t { low, moderate, high };

struct PointwiseRow {
  const char* op;
  /// `$0` is an input, `@name` a number among the attributes. Empty: variant() tells.
  const char* text;
  PointwiseCost cost = PointwiseCost::moderate;
  PointwiseResult result = PointwiseResult::first;
  const char* defaults = "";   ///< of attributes: "alpha=0.01 beta=2"
  bool is_variadic = false;    ///< the text combines two values, and then the result and the next input
  bool is_by_channel = false;  ///< inputs but the first have a number for each channel, axis 1 of the first
  /// The text for a node; null where the operator does not do, as a pointwise one, what the node asks.
  const char* (*variant)(const Node& node) = nullptr;
  bool keeps_shape = false;  ///< inputs but the first broadcast to its shape and never extend it
};

/// Null where there is none.
const PointwiseRow* find_pointwise(const std::string& op);
/// The text for a node of a row; null where there is none.
const char* pointwise_text(const PointwiseRow& row, const Node& node);
/// What an attribute has that the operator cannot mean, as a text; empty where there is nothing.
std::string pointwise_problem(const Node& node);
/// A number among a node's attributes, or its default.
double pointwise_number(const PointwiseRow& row, const Node& node, const std::string& name);

}  // namespace iruka::nn
