// Elements chosen among arrays, and those that a mask selects.
#include "iruka/selection.h"

#include <algorithm>
#include <vector>

#include "iruka/ops.h"
#include "ops/checks.h"
#include "ops/functions.h"

namespace iruka {
namespace {

using namespace ops;

const Dims kNoAxes;

const Dims& shape_of(const Argument& argument) { return argument.is_array() ? argument.array().shape() : kNoAxes; }

/// The argument as elements of a dtype.
Array array_of(const Argument& argument, Dtype dtype, Device& device) {
  if (argument.is_array()) return argument.array().astype(dtype, false);
  Array result = Array::empty({}, dtype, device);
  result.fill(argument.scalar().as_element(dtype));
  return result;
}

void check_sizes(const char* function, const Array& x, const Array& mask) {
  if (mask.size() != x.size()) throw ValueError(std::string(function) + ": mask and data must be the same size");
}

/// The rows of a table that numbers choose, in range.
Array rows_of(const Array& numbers, int64_t rows, IndexMode mode) {
  if (mode != IndexMode::raise) return take(arange(rows).to_device(numbers.device()), numbers, 0, mode);
  if (numbers.size() > 0 && any(less(numbers, 0)).item().as_bool()) throw ValueError("invalid entry in choice array");
  return numbers;
}

}  // namespace

Array choose(const Array& a, std::span<const Argument> choices, IndexMode mode) {
  if (choices.empty()) throw ValueError("choose: there must be at least one choice");
  const Dtype dtype = result_type(choices);
  ops::check_cast(a.dtype(), Dtype::int64);
  std::vector<const Dims*> shapes{&a.shape()};
  for (const Argument& choice : choices) shapes.push_back(&shape_of(choice));
  const Dims shape = broadcast_shapes(shapes);
  const int64_t rows = static_cast<int64_t>(choices.size()), columns = count(shape);
  // One long axis with all choices, indexed by choice and element.
  const Array table = Array::empty({rows, columns}, dtype, a.device());
  for (int64_t row = 0; row < rows; ++row) {
    const Argument& choice = choices[static_cast<size_t>(row)];
    Array part = table.at(row).reshape(shape);
    choice.is_array() ? part.assign(choice.array()) : part.fill(choice.scalar());
  }
  const Array numbers = a.astype(Dtype::int64, false).broadcast_to(shape).reshape({1, columns});
  try {
    return take_along_axis(table, rows_of(numbers, rows, mode), 0).reshape(shape);
  } catch (const IndexError&) {
    throw ValueError("invalid entry in choice array");
  }
}

Array select(std::span<const Array> conditions, std::span<const Argument> choices, const Argument& otherwise) {
  if (conditions.size() != choices.size()) throw ValueError("list of cases must be same length as list of conditions");
  if (conditions.empty()) throw ValueError("select with an empty condition list is not possible");
  for (size_t k = 0; k < conditions.size(); ++k)
    if (conditions[k].dtype() != Dtype::bool_)
      throw TypeError("invalid entry " + std::to_string(k) + " in condlist: should be boolean ndarray");
  std::vector<Argument> all(choices.begin(), choices.end());
  all.push_back(otherwise);
  const Dtype dtype = result_type(all);
  Device& device = conditions.front().device();
  Array result = array_of(otherwise, dtype, device);
  for (size_t k = conditions.size(); k-- > 0;)
    result = where(conditions[k], array_of(choices[k], dtype, device), result);
  return result.contiguous();
}

Array extract(const Array& condition, const Array& x) { return take(x, flatnonzero(condition)); }

void putmask(const Array& x, const Array& mask, const Array& values) {
  check_sizes("putmask", x, mask);
  if (values.size() == 0) return;
  const Array positions = flatnonzero(mask);
  put(x, positions, take(values.to_device(x.device()), positions, {}, IndexMode::wrap));
}

void place(const Array& x, const Array& mask, const Array& values) {
  check_sizes("place", x, mask);
  const Array positions = flatnonzero(mask);
  if (positions.size() > 0 && values.size() == 0) throw ValueError("Cannot insert from an empty array!");
  put(x, positions, values);
}

}  // namespace iruka
