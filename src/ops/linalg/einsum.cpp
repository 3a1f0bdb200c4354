// Einstein summation: subscripts are read once, operands are contracted in pairs, most pairs by matmul.
#include <algorithm>
#include <array>

#include "iruka/indexing.h"
#include "iruka/linalg.h"
#include "iruka/ops.h"
#include "iruka/products.h"
#include "ops/linalg/operands.h"

namespace iruka {
namespace {

using namespace ops;

constexpr std::string_view kLetters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz", kEllipsis = "...";

bool has(std::string_view text, char letter) { return text.find(letter) != std::string_view::npos; }

[[noreturn]] void refuse(const std::string& why) { throw ValueError("einsum: " + why); }

std::string quoted(std::string_view text) { return "'" + std::string(text) + "'"; }

void replace_all(std::string& text, std::string_view part, std::string_view by) {
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + by.size()))
    text.replace(at, part.size(), by);
}

std::vector<std::string> split_terms(std::string_view text) {
  std::vector<std::string> terms(1);
  for (const char c : text) {
    if (c == ',')
      terms.emplace_back();
    else
      terms.back() += c;
  }
  return terms;
}

bool has_ellipsis(std::string_view term) { return term.find(kEllipsis) != std::string_view::npos; }

/// How many axes an ellipsis stands for.
int hidden_axes(std::string_view term, int ndim) {
  return ndim - static_cast<int>(term.size()) + static_cast<int>(kEllipsis.size());
}

/// A letter for each axis of each operand, and those of the result.
struct Subscripts {
  Subscripts(std::string_view text, std::span<const Array> operands) {
    std::string given(text);
    std::erase(given, ' ');
    const size_t arrow = given.find("->");
    const std::string inputs = given.substr(0, arrow);
    check_letters(given);
    terms = split_terms(inputs);
    if (terms.size() != operands.size())
      refuse(std::to_string(terms.size()) + " terms in " + quoted(given) + " for " + std::to_string(operands.size()) +
             " operands");
    const std::string hidden = spell_out(given, operands);
    if (arrow == std::string::npos) {
      output = hidden;
      for (const char letter : kLetters)
        if (std::ranges::count(inputs, letter) == 1) output += letter;
    } else {
      output = given.substr(arrow + 2);
      replace_all(output, kEllipsis, hidden);
      check_output();
    }
    check_extents(given, operands);
  }

  std::vector<std::string> terms;
  std::string output;

 private:
  static void check_letters(const std::string& given) {
    std::string rest = given;
    replace_all(rest, kEllipsis, "");
    replace_all(rest, "->", "");
    if (!std::ranges::all_of(rest, [](char c) { return c == ',' || has(kLetters, c); }))
      refuse(quoted(given) + " has a character that is not a letter");
  }

  /// Puts letters that are free in place of ellipses, and returns those of the longest one.
  std::string spell_out(const std::string& given, std::span<const Array> operands) {
    std::string free;
    for (const char letter : kLetters)
      if (!has(given, letter)) free += letter;
    int longest = 0;
    for (size_t k = 0; k < terms.size(); ++k)
      if (has_ellipsis(terms[k])) longest = std::max(longest, hidden_axes(terms[k], operands[k].ndim()));
    for (size_t k = 0; k < terms.size(); ++k) {
      const int ndim = operands[k].ndim(), written = static_cast<int>(terms[k].size());
      if (!has_ellipsis(terms[k])) {
        if (written != ndim) refuse_rank(terms[k], written, ndim);
        continue;
      }
      const int hidden = hidden_axes(terms[k], ndim);
      if (hidden < 0) refuse_rank(terms[k], written - 3, ndim);
      replace_all(terms[k], kEllipsis, free.substr(static_cast<size_t>(longest - hidden), static_cast<size_t>(hidden)));
    }
    return free.substr(0, static_cast<size_t>(longest));
  }

  [[noreturn]] static void refuse_rank(const std::string& term, int subscripts, int ndim) {
    refuse(quoted(term) + " has " + std::to_string(subscripts) + " subscripts, its operand " + std::to_string(ndim) +
           " axes");
  }

  void check_output() const {
    for (const char letter : output) {
      const bool is_known = std::ranges::any_of(terms, [&](const std::string& term) { return has(term, letter); });
      if (!is_known || std::ranges::count(output, letter) > 1)
        refuse("the result's subscripts " + quoted(output) + " are repeated or in no operand");
    }
  }

  void check_extents(const std::string& given, std::span<const Array> operands) const {
    std::array<int64_t, 128> extents;
    extents.fill(1);
    for (size_t k = 0; k < terms.size(); ++k) {
      for (int axis = 0; axis < operands[k].ndim(); ++axis) {
        const char letter = terms[k][static_cast<size_t>(axis)];
        int64_t& known = extents[static_cast<size_t>(letter)];
        const int64_t extent = operands[k].shape(axis);
        if (known == 1) known = extent;
        if (extent != 1 && extent != known)
          refuse("operands in " + quoted(given) + " could not be broadcast: " + quoted({&letter, 1}) + " has extents " +
                 std::to_string(known) + " and " + std::to_string(extent));
      }
    }
  }
};

/// An operand, or what some were contracted to: a letter for each axis.
struct Term {
  int axis_of(char letter) const { return static_cast<int>(letters.find(letter)); }
  int64_t extent_of(char letter) const { return has(letters, letter) ? array.shape(axis_of(letter)) : 1; }

  std::string letters;
  Array array;
};

/// Diagonals in place of repeated letters.
Term without_repeats(Term term) {
  for (size_t k = 0; k < term.letters.size();) {
    const char letter = term.letters[k];
    const size_t again = term.letters.find(letter, k + 1);
    if (again == std::string::npos) {
      ++k;
      continue;
    }
    const int64_t first = term.array.shape(static_cast<int>(k)), second = term.array.shape(static_cast<int>(again));
    if (first != second)
      refuse(quoted({&letter, 1}) + " stands for extents " + std::to_string(first) + " and " + std::to_string(second));
    term.array = diagonal(term.array, 0, static_cast<int64_t>(k), static_cast<int64_t>(again));
    term.letters.erase(again, 1).erase(k, 1);
    term.letters += letter;
  }
  return term;
}

/// Sums over the letters that are not among `kept`.
Term reduced(const Term& term, std::string_view kept) {
  Term result;
  Dims axes;
  for (size_t k = 0; k < term.letters.size(); ++k) {
    if (has(kept, term.letters[k]))
      result.letters += term.letters[k];
    else
      axes.push_back(static_cast<int64_t>(k));
  }
  if (axes.empty()) return term;
  result.array = sum_in_own_dtype(term.array, axes);
  return result;
}

/// The array with its axes in `order`, of extent 1 where it has none.
Array arranged(const Term& term, std::string_view order) {
  Dims axes;
  for (const char letter : order)
    if (has(term.letters, letter)) axes.push_back(term.axis_of(letter));
  Array array = term.array.transpose(axes);
  for (size_t k = 0; k < order.size(); ++k)
    if (!has(term.letters, order[k])) array = array.expand_dims(static_cast<int64_t>(k));
  return array;
}

/// The product of two operands, summed over the letters that are not among `kept`. The others are in the order of
/// `kept` as far as a product of matrices gives it.
Term contracted(const Term& left, const Term& right, const std::string& kept) {
  const Term a = reduced(left, right.letters + kept), b = reduced(right, left.letters + kept);
  std::string batch, own_a, own_b, summed;
  for (const char letter : kept) {
    if (has(a.letters, letter) && has(b.letters, letter))
      batch += letter;
    else if (has(a.letters, letter))
      own_a += letter;
    else if (has(b.letters, letter))
      own_b += letter;
  }
  for (const char letter : a.letters)
    if (!has(kept, letter)) summed += letter;
  const std::string order = batch + own_a + own_b;
  if (summed.empty()) return {order, multiply(arranged(a, order), arranged(b, order))};

  const auto extent_of = [&](char letter) {
    return a.extent_of(letter) == 1 ? b.extent_of(letter) : a.extent_of(letter);
  };
  const auto matrices = [&](const Term& term, const std::array<std::string_view, 3>& groups) {
    std::string letters;
    Dims extents, shape;
    for (const std::string_view group : groups) {
      letters += group;
      shape.push_back(1);
      for (const char letter : group) {
        extents.push_back(extent_of(letter));
        shape[shape.size() - 1] *= extent_of(letter);
      }
    }
    const Array array = arranged(term, letters);
    return (array.shape() == extents ? array : array.broadcast_to(extents)).reshape(shape);
  };
  Dims shape;
  for (const char letter : order) shape.push_back(extent_of(letter));
  return {order, matmul(matrices(a, {batch, own_a, summed}), matrices(b, {batch, summed, own_b})).reshape(shape)};
}

/// The letters that the result and the operands have, each once, those of the result first.
std::string letters_of(const std::string& output, std::span<const Term> terms) {
  std::string letters = output;
  for (const Term& term : terms)
    for (const char letter : term.letters)
      if (!has(letters, letter)) letters += letter;
  return letters;
}

/// Takes the operands of a step out of `todo`.
std::vector<Term> chosen_of(std::vector<Term>& todo, std::vector<int64_t> step) {
  std::ranges::sort(step);
  std::vector<Term> chosen;
  for (size_t k = 0; k < step.size(); ++k) {
    if (step[k] < 0 || step[k] >= static_cast<int64_t>(todo.size()) || (k && step[k] == step[k - 1]))
      refuse("a step of the path names operand " + std::to_string(step[k]) + " of " + std::to_string(todo.size()));
    chosen.push_back(todo[static_cast<size_t>(step[k])]);
  }
  if (chosen.empty()) refuse("a step of the path names no operands");
  for (auto place = step.rbegin(); place != step.rend(); ++place) todo.erase(todo.begin() + *place);
  return chosen;
}

EinsumPath one_step(size_t count) {
  EinsumPath path(1);
  for (size_t k = 0; k < count; ++k) path[0].push_back(static_cast<int64_t>(k));
  return path;
}

}  // namespace

std::string einsum_subscripts(std::string_view subscripts, std::span<const Array> operands) {
  const Subscripts read(subscripts, operands);
  std::string text;
  for (const std::string& term : read.terms) text += (text.empty() && &term == &read.terms[0] ? "" : ",") + term;
  return text + "->" + read.output;
}

Array einsum(std::string_view subscripts, std::span<const Array> operands, const EinsumPath& path) {
  if (operands.empty()) refuse("at least one operand is needed");
  const Subscripts read(subscripts, operands);
  Dtype dtype = operands[0].dtype();
  for (const Array& operand : operands) dtype = promote(dtype, operand.dtype());
  std::vector<Term> todo;
  todo.reserve(operands.size());
  for (size_t k = 0; k < operands.size(); ++k)
    todo.push_back(without_repeats({read.terms[k], operands[k].astype(dtype, false)}));
  for (const std::vector<int64_t>& step : path.empty() ? one_step(operands.size()) : path) {
    const std::vector<Term> chosen = chosen_of(todo, step);
    const std::string needed = letters_of(read.output, todo);
    Term result = chosen[0];
    for (size_t k = 1; k < chosen.size(); ++k)
      result = contracted(result, chosen[k], letters_of(needed, std::span(chosen).subspan(k + 1)));
    todo.push_back(reduced(result, needed));
  }
  if (todo.size() > 1) refuse("the path leaves " + std::to_string(todo.size()) + " operands");
  return read.output.empty() ? todo[0].array : arranged(todo[0], read.output);
}

}  // namespace iruka
