// Reductions, the rows of their table, as functions and as methods of arrays.
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <string>

#include "cuda.h"
#include "float_errors.h"
#include "interop.h"
#include "ops.h"
#include "ops/checks.h"
#include "ops/reduce/reduction_table.h"
#include "public_names.h"
#include "truth.h"
#include "ufunc.h"

namespace iruka::python {

namespace {

using ops::Keywords;

/// An `out` is as ops::check_out() says; that of an index is of bools or integers that int64 holds.
void check_out(const ReductionFunction& function, const Array& out, const Array& result) {
  ops::check_out(function.name(), out, result.shape(), result.device());
  if (function.row().keywords == Keywords::position && !can_cast(out.dtype(), Dtype::int64, Casting::safe))
    throw TypeError(std::string(function.name()) + ": out holds " + name(out.dtype()) +
                    ", which cannot be cast to int64 by the rule 'safe'");
}

Array out_array(const char* function, nb::handle out) {
  if (std::optional<Array> target = given_output(out)) return *std::move(target);
  throw TypeError(std::string(function) + ": out must be an iruka.ndarray, not " + describe(out.type()));
}

/// NumPy's warnings about empty slices. On a GPU only for empty arrays, because others would have to wait for it.
void warn_of_nothing(const ReductionFunction& function, const Array& x, const ReductionOptions& options,
                     unsigned raised, const Array& result) {
  const std::string_view name = function.name();
  const char* message = nullptr;
  if (name == "mean" && result.size() > 0) {
    const bool may_lack = options.where && is_host(x.device()) && (raised & kFloatInvalid);
    const bool lacks = may_lack && without_gil([&] {
                         const Array counted = options.where->broadcast_to(x.shape());
                         return !all(ReductionFunction("any")(counted, options.axes)).item().as_bool();
                       });
    if (x.size() == 0 || lacks) message = "Mean of empty slice";
  } else if ((name == "nanmin" || name == "nanmax") && any_nan(result)) {
    message = "All-NaN slice encountered";
  }
  if (message) warn_caller(message);
}

/// The arguments of a call besides the array; None for a parameter that the function does not have.
struct GivenKeywords {
  nb::handle axis = Py_None, dtype = Py_None, out = Py_None;
  bool keepdims = false;
  nb::handle initial = Py_None, where = Py_None;
};

/// One reduction with NumPy's keywords; `out`, an iruka.ndarray or None, is filled and returned when given. Sums and
/// products are formed in the dtype of array and `out` together, and any result is cast into `out`, as in NumPy. Warns
/// as NumPy does of the mean of nothing.
nb::object reduce(const ReductionFunction& function, Array array, const GivenKeywords& given) {
  const Keywords keywords = function.row().keywords;
  if (keywords == Keywords::position && PyTuple_Check(given.axis.ptr()))
    throw TypeError(std::string(function.name()) + ": axis must be an integer or None, not a tuple");
  ReductionCall call(function.name(), array, given.axis, given.dtype, given.keepdims, given.initial, given.where);
  std::optional<Array> target;
  if (!given.out.is_none()) target = out_array(function.name(), given.out);
  if (target && given.dtype.is_none() && (keywords == Keywords::sum || call.options.initial))
    call.options.dtype = promote(array.dtype(), target->dtype());
  const FloatWatch floats;
  Array result = without_gil([&] {
    Array reduced = iruka::reduce(function, array, call.options);
    if (!target && reduced.buffer() == array.buffer()) reduced = reduced.copy();
    return reduced;
  });
  const unsigned raised = floats.raised();
  report_reduction_errors(function, array, call.options, raised, result,
                          nb::make_tuple(to_python(array), given.axis, given.dtype, given.initial, given.where));
  if (!target) return to_result(std::move(result));
  check_out(function, *target, result);
  warn_of_discarded_imaginary(result.dtype(), target->dtype());
  {
    GilRelease release;
    target->assign(result);
  }
  return nb::borrow(given.out);
}

// Each kind of reduction takes NumPy's parameters for it and no others. Functions, methods and their signatures are
// made of these lists.

enum class Keyword : uint8_t { axis, one_axis, dtype, out, keepdims, initial, where };

struct KeywordText {
  const char *name, *annotation, *value;
};

constexpr KeywordText describe(Keyword keyword) {
  switch (keyword) {
    case Keyword::axis: return {"axis", ": int | tuple[int, ...] | None", "None"};
    case Keyword::one_axis: return {"axis", ": int | None", "None"};
    case Keyword::dtype: return {"dtype", "", "None"};
    case Keyword::out: return {"out", ": ndarray | None", "None"};
    case Keyword::keepdims: return {"keepdims", ": bool", "False"};
    case Keyword::initial: return {"initial", "", "None"};
    case Keyword::where: return {"where", "", "None"};
  }
  return {};
}

template <Keyword... keywords>
struct KeywordList {};
using enum Keyword;

/// The parameters after the array: `Positional` may be given by position, `Named` by name alone.
template <Keywords kind>
struct Parameters;
template <>
struct Parameters<Keywords::sum> {
  static constexpr const char *kind = "ReductionFunction", *documentation = "A function that folds axes away.";
  using Positional = KeywordList<axis, dtype, out, keepdims, initial, where>;
  using Named = KeywordList<>;
};
template <>
struct Parameters<Keywords::mean> {
  static constexpr const char *kind = "MeanFunction",
                              *documentation = "A function that folds axes away, without an initial value.";
  using Positional = KeywordList<axis, dtype, out, keepdims>;
  using Named = KeywordList<where>;
};
template <>
struct Parameters<Keywords::selection> {
  static constexpr const char *kind = "SelectionFunction",
                              *documentation = "A function that folds axes away and takes no dtype.";
  using Positional = KeywordList<axis, out, keepdims, initial, where>;
  using Named = KeywordList<>;
};
template <>
struct Parameters<Keywords::truth> {
  static constexpr const char *kind = "TruthFunction",
                              *documentation = "A function that folds the truth of elements along axes.";
  using Positional = KeywordList<axis, out, keepdims>;
  using Named = KeywordList<where>;
};
template <>
struct Parameters<Keywords::position> {
  static constexpr const char *kind = "PositionFunction",
                              *documentation = "A function that finds an element's position, flat or along an axis.";
  using Positional = KeywordList<one_axis, out>;
  using Named = KeywordList<keepdims>;
};
template <>
struct Parameters<Keywords::count> {
  static constexpr const char *kind = "CountFunction", *documentation = "A function that counts elements along axes.";
  using Positional = KeywordList<axis>;
  using Named = KeywordList<keepdims>;
};

/// Calls `visit` with the parameters of a public reduction's kind.
template <class Visit>
auto visit_parameters(Keywords keywords, Visit&& visit) {
  switch (keywords) {
    case Keywords::none: break;
    case Keywords::sum: return visit(Parameters<Keywords::sum>());
    case Keywords::mean: return visit(Parameters<Keywords::mean>());
    case Keywords::selection: return visit(Parameters<Keywords::selection>());
    case Keywords::truth: return visit(Parameters<Keywords::truth>());
    case Keywords::position: return visit(Parameters<Keywords::position>());
    case Keywords::count: return visit(Parameters<Keywords::count>());
  }
  throw ValueError("a reduction for other functions alone");
}

/// "axis=None, *, keepdims=False", with annotations or without.
template <Keyword... positional, Keyword... named>
std::string parameter_text(KeywordList<positional...>, KeywordList<named...>, bool annotated) {
  std::string text;
  const auto add = [&](Keyword keyword) {
    const auto [name, annotation, value] = describe(keyword);
    const bool is_annotated = annotated && *annotation;
    text += (text.empty() ? "" : ", ") + std::string(name) + (is_annotated ? annotation : "") +
            (is_annotated ? " = " : "=") + value;
  };
  (add(positional), ...);
  if (sizeof...(named) > 0) text += ", *";
  (add(named), ...);
  return text;
}

template <class Kind>
std::string signature_of(Kind, const char* function, const char* first) {
  return std::string("def ") + function + "(" + first + ", " +
         parameter_text(typename Kind::Positional(), typename Kind::Named(), true) + ") -> ndarray";
}

template <Keyword keyword>
using Value = std::conditional_t<keyword == keepdims, Truth, nb::handle>;

template <Keyword keyword>
void set(GivenKeywords& given, Value<keyword> value) {
  if constexpr (keyword == axis || keyword == one_axis) given.axis = value;
  if constexpr (keyword == dtype) given.dtype = value;
  if constexpr (keyword == out) given.out = value;
  if constexpr (keyword == keepdims) given.keepdims = value;
  if constexpr (keyword == initial) given.initial = value;
  if constexpr (keyword == where) given.where = value;
}

template <Keyword keyword>
auto argument() {
  if constexpr (keyword == keepdims)
    return nb::arg("keepdims") = false;
  else
    return nb::arg(describe(keyword).name) = nb::none();
}

/// Calls `define` with a function of `First` and the keywords, which calls `run`, and with the keywords' nb::arg.
template <class... First, Keyword... positional, Keyword... named, class Run, class Define>
void with_keywords(KeywordList<positional...>, KeywordList<named...>, Run run, Define define) {
  const auto call = [run](First... first, Value<positional>... by_position, Value<named>... by_name) {
    GivenKeywords given;
    (set<positional>(given, by_position), ...);
    (set<named>(given, by_name), ...);
    return run(first..., given);
  };
  if constexpr (sizeof...(named) > 0)
    define(call, argument<positional>()..., nb::kw_only(), argument<named>()...);
  else
    define(call, argument<positional>()...);
}

/// A reduction as a function; a class for each kind, because a class has one __call__.
template <class Kind>
struct FunctionOf : ReductionFunction {
  using ReductionFunction::ReductionFunction;
};

template <class Kind>
void bind_kind(nb::module_& module, Kind kind) {
  using Function = FunctionOf<Kind>;
  nb::class_<Function> type(module, Kind::kind, nb::dynamic_attr(), Kind::documentation);
  type.def_prop_ro("_documentation", [](const Function& f) { return f.documentation(); })
      .def_prop_ro("_parameters",
                   [](const Function&) {
                     return "a, " + parameter_text(typename Kind::Positional(), typename Kind::Named(), false);
                   })
      .def(
          "__reduce__",
          [](const Function& f) {
            return nb::make_tuple(package_attribute("iruka._functions", "reduction_named"), nb::make_tuple(f.name()));
          },
          nb::sig("def __reduce__(self) -> tuple"))
      .def("__repr__", [](const Function& f) { return "<iruka reduction '" + std::string(f.name()) + "'>"; });
  bind_public_names(type);
  with_keywords<const Function&, nb::handle>(
      typename Kind::Positional(), typename Kind::Named(),
      [](const Function& f, nb::handle a, const GivenKeywords& given) {
        if (!is_plain_operand(a.ptr()) && nb::hasattr(a.type(), "_iruka_function_"))  // an array of a fused function
          return a.attr("_iruka_function_")(f.name(), given.axis, given.dtype, given.out, given.keepdims, given.initial,
                                            given.where);
        return reduce(f, as_operand(a, f.name()), given);
      },
      [&](auto call, auto... arguments) {
        type.def("__call__", call, nb::arg("a"), arguments...,
                 nb::sig(signature_of(kind, "__call__", "self, a").c_str()));
      });
}

nb::object function_named(const char* name) {
  return visit_parameters(ReductionFunction(name).row().keywords,
                          [&]<class Kind>(Kind) { return nb::cast(FunctionOf<Kind>(name)); });
}

}  // namespace

std::optional<Dims> reduction_axes(const char* function, const Array& array, nb::handle axis) {
  if (axis.is_none()) return {};
  const Dims axes = to_dims(axis, "axis");
  if (PyTuple_Check(axis.ptr()) && array.ndim() == 0)
    for (const int64_t named : axes) normalize_axis(function, named, 0);
  return axes;
}

ReductionCall::ReductionCall(const char* function, const Array& array, nb::handle axis, nb::handle dtype, bool keepdims,
                             nb::handle initial, nb::handle where)
    : options{.axes = reduction_axes(function, array, axis), .keepdims = keepdims, .dtype = to_optional_dtype(dtype)} {
  if (!initial.is_none())
    options.initial = scalar_of(initial, function, takes_any_integer(options.dtype.value_or(array.dtype())));
  if (where.is_none() || where.ptr() == Py_True) return;
  mask_ = as_operand(where, function);
  Scalar number;
  if (PyList_Check(where.ptr()) || PyTuple_Check(where.ptr()) || to_scalar(where.ptr(), number))  // numbers are bools
    mask_ = without_gil([&] { return mask_->astype(Dtype::bool_, false); });
  options.where = &*mask_;
}

void report_reduction_errors(const ReductionFunction& function, const Array& x, const ReductionOptions& options,
                             unsigned raised, const Array& result, const nb::tuple& arguments) {
  warn_of_nothing(function, x, options, raised, result);
  if (options.initial) warn_of_discarded_imaginary(options.initial->dtype(), result.dtype());
  if (raised) report_function_errors(function.name(), raised, result, arguments);
}

void bind_reductions(nb::module_& module) {
  bind_kind(module, Parameters<Keywords::sum>());
  bind_kind(module, Parameters<Keywords::mean>());
  bind_kind(module, Parameters<Keywords::selection>());
  bind_kind(module, Parameters<Keywords::truth>());
  bind_kind(module, Parameters<Keywords::position>());
  bind_kind(module, Parameters<Keywords::count>());
  module.def("reduction_function", function_named, nb::arg("name"), nb::sig("def reduction_function(name: str) -> Any"),
             "The row of that name as a function.");
  module.def("reduction_names", &reduction_names, "Names of every reduction.");
}

void bind_reduction_methods(nb::class_<Array>& type) {
  for (const ReductionFunction::Row& row : ops::reduction_table()) {
    if (!row.has(ReductionFunction::Row::kMethod)) continue;
    visit_parameters(row.keywords, [&]<class Kind>(Kind kind) {
      with_keywords<const Array&>(
          typename Kind::Positional(), typename Kind::Named(),
          [function = ReductionFunction(row.name)](const Array& x, const GivenKeywords& given) {
            return reduce(function, x, given);
          },
          [&](auto call, auto... arguments) {
            type.def(row.name, call, arguments..., nb::sig(signature_of(kind, row.name, "self").c_str()),
                     row.documentation);
          });
    });
  }
}

}  // namespace iruka::python
