// Generators and the draws of the table's rows: element k is a pure function of the key, the number of the draw, and k.
#include "iruka/random.h"

#include <map>
#include <memory>
#include <random>

#include "core/fork.h"
#include "core/once.h"
#include "iruka/ops.h"
#include "ops/random/kernels.h"
#include "ops/random/philox.h"
#include "ops/random/table.h"

namespace iruka::random {

using ops::DistributionRow;
using ops::DomainRule;
using ops::Result;
using ops::Source;

namespace {
constinit ForkSafeMutex states_mutex;  ///< one for all generators, as fork() holds it
}

Generator::Generator() {
  std::random_device entropy;
  state_ = {static_cast<uint64_t>(entropy()) << 32 | entropy(), 0};
}

State Generator::state() const {
  std::lock_guard lock(states_mutex);
  return state_;
}

void Generator::set_state(State state) {
  std::lock_guard lock(states_mutex);
  state_ = {state.key, state.drawn & ops::kStreamMask};
}

State Generator::next() {
  std::lock_guard lock(states_mutex);
  const State now = state_;
  state_.drawn = (state_.drawn + 1) & ops::kStreamMask;
  return now;
}

Generator& default_generator() {
  return made_once([] { return Generator(); });
}

namespace {

/// How a kernel walks its output: a block of words for several elements of an array without gaps, in packs on a GPU, or
/// an element of any array at a time, which arrays of parameters need. All give the same numbers.
enum class Form : uint8_t { blocks, packs, elements };

std::string parameter_list(const DistributionRow& row, const char* type) {
  std::string list;
  for (const char* parameter : row.parameters) list += std::string(", ") + type + " " + parameter;
  return list;
}

bool has_plan(const DistributionRow& row) { return *row.plan != 0; }

/// `deviate(source, parameters)`, or `deviate(source, plan)`: the row's text as a function.
std::string deviate_function(const DistributionRow& row) {
  const std::string parameters = has_plan(row) ? ", const auto plan" : parameter_list(row, "const T"),
                    result = row.text;
  if (row.source == Source::draws)
    return "static inline T deviate(Draws<T> d" + parameters + ") { return " + result + "; }\n";
  if (row.source == Source::normal)
    return "static inline T deviate(const T z" + parameters + ") { return " + result + "; }\n";
  return "static inline T deviate(const Unit<T> unit" + parameters +
         ") {\n  const T half_open = unit.half_open, u = unit.u, sign = unit.sign;\n  (void)half_open, (void)u, "
         "(void)sign;\n  return " +
         result + ";\n}\n";
}

int64_t deviates_per_block(const DistributionRow& row, bool is_double) {
  return row.source == Source::draws ? 1 : is_double ? 2 : 4;
}

/// Assigns the deviates of block number `block` to `target`, which names an array up to the place within the block.
std::string block_body(const DistributionRow& row, const std::string& parameters, const std::string& block,
                       const std::string& target) {
  if (row.source == Source::draws)
    return target + "0] = deviate(Draws<T>{seed, stream, (unsigned long long)" + block + ", 0}" + parameters + ");\n";
  const std::string each = row.source == Source::normal ? "each_normal<T>" : "each_unit<T>";
  return each + "(philox_block(seed, stream, " + block + ", 0), [&](int place, auto source) {\n  " + target +
         "place] = deviate(source" + parameters + ");\n});\n";
}

/// A pack is the deviates of one block, which together are 16 bytes or fewer.
std::string pack_body(const DistributionRow& row, Dtype dtype, const std::string& per_block,
                      const std::string& parameters) {
  return "each_pack(i, packs, rounds, [&](long long k) {\niruka_pack<" + std::string(info(dtype).c_type) + ", " +
         per_block + "> pack;\n" + block_body(row, parameters, "k", "pack.at[") + "pack.store(&y[" + per_block +
         " * k]);\n});\n";
}

/// Assigns deviate i to y.
std::string element_body(const DistributionRow& row, const std::string& parameters) {
  switch (row.source) {
    case Source::draws: return "y = deviate(Draws<T>{seed, stream, (unsigned long long)i, 0}" + parameters + ");";
    case Source::normal: return "y = deviate(normal_at<T>(seed, stream, i)" + parameters + ");";
    case Source::unit: break;
  }
  return "y = deviate(unit_at<T>(seed, stream, i)" + parameters + ");";
}

Dtype computing_dtype(const DistributionRow& row, Dtype dtype) {
  return row.result == Result::real ? dtype : Dtype::float64;
}

std::string body_of(const DistributionRow& row, Dtype dtype, bool is_double, Form form) {
  std::string arguments;
  for (const char* parameter : row.parameters) arguments += std::string(", ") + parameter;
  if (has_plan(row)) arguments = ", plan";
  const std::string before = has_plan(row) ? std::string("const auto plan = ") + row.plan + ";\n" : "";
  const std::string per_block = std::to_string(deviates_per_block(row, is_double));
  switch (form) {
    case Form::blocks: return before + block_body(row, arguments, "i", "y[" + per_block + " * i + ");
    case Form::packs: return before + pack_body(row, dtype, per_block, arguments);
    case Form::elements: break;
  }
  return before + element_body(row, arguments);
}

ElementwiseKernel make_kernel(const DistributionRow& row, Dtype dtype, Form form) {
  const Dtype computing = computing_dtype(row, dtype);
  const bool is_double = computing == Dtype::float64;
  KernelOptions options;
  options.diagnose_early = false;
  options.options = {row.source == Source::draws && is_double ? ops::kFewerLanes : ops::kLanes};
  // Only rare branches need many registers; limiting these lets twice as many threads run on a GPU.
  if (form == Form::packs && row.source == Source::draws && row.result == Result::integer)
    options.options.push_back("--maxrregcount=64");
  options.preamble = ops::random_header(row.header);
  if (form == Form::packs) options.preamble += ops::random_header("cuda/packs");
  options.preamble += ops::using_text("T", info(computing).c_type) + deviate_function(row);
  const std::string inputs = "uint64 seed, uint64 stream" + parameter_list(row, name(computing)) +
                             (form == Form::packs ? ops::kPackParameters : "");
  const std::string output = std::string(form == Form::elements ? "" : "raw ") + name(dtype) + " y";
  return ElementwiseKernel(inputs, output, body_of(row, dtype, is_double, form), std::string("random_") + row.name,
                           std::move(options));
}

const ElementwiseKernel& row_kernel(const DistributionRow& row, Dtype dtype, Form form) {
  return ops::cached_kernel({&row, static_cast<int>(dtype), static_cast<int>(form)},
                            [&] { return make_kernel(row, dtype, form); });
}

std::string function_name(const DistributionRow& row) { return std::string("random.") + row.name; }

Dtype result_dtype(const DistributionRow& row, const DrawOptions& options) {
  const bool integer = row.result == Result::integer;
  const Dtype dtype = options.dtype ? *options.dtype
                      : options.out ? options.out->dtype()
                                    : (integer ? Dtype::int64 : Dtype::float64);
  if (integer ? !is_integer(dtype) : dtype != Dtype::float64 && dtype != Dtype::float32)
    throw TypeError(function_name(row) + ": dtype must be " + (integer ? "an integer" : "float64 or float32") +
                    ", not " + name(dtype));
  return dtype;
}

/// The rule in the user's words: "scale", or "mode - left".
std::string rule_subject(const DistributionRow& row, const DomainRule& rule) {
  std::string added, taken;
  for (size_t k = 0; k < row.parameters.size(); ++k) {
    if (rule.factors[k] > 0) added += (added.empty() ? "" : " + ") + std::string(row.parameters[k]);
    if (rule.factors[k] < 0) taken += std::string(" - ") + row.parameters[k];
  }
  return added + taken;
}

void check_value(const DistributionRow& row, const DomainRule& rule, double value) {
  if (rule.interval.holds(value)) return;
  throw ValueError(function_name(row) + ": " + rule_subject(row, rule) + " must be " + rule.interval.words +
                   ", but is " + Scalar(value).to_string());
}

/// An array's combination holds everywhere when its smallest and largest do; NaN is both.
void check_array(const DistributionRow& row, const DomainRule& rule, std::span<const Argument> parameters) {
  Array sum;
  double constant = 0;
  for (size_t k = 0; k < parameters.size(); ++k) {
    if (rule.factors[k] == 0) continue;
    if (!parameters[k].is_array()) {
      constant += rule.factors[k] * parameters[k].scalar().as_double();
      continue;
    }
    const Array term = parameters[k].array().astype(Dtype::float64, false);
    const Array signed_term = rule.factors[k] > 0 ? term : negative(term);
    sum = sum.valid() ? add(sum, signed_term) : signed_term;
  }
  if (!sum.valid()) return check_value(row, rule, constant);
  if (sum.size() == 0) return;
  check_value(row, rule, min(sum).item<double>() + constant);
  check_value(row, rule, max(sum).item<double>() + constant);
}

void check_domain(const DistributionRow& row, std::span<const Argument> parameters) {
  for (const DomainRule& rule : row.rules) check_array(row, rule, parameters);
}

void check_kinds(const DistributionRow& row, std::span<const Argument> parameters) {
  if (parameters.size() != row.parameters.size())
    throw TypeError(function_name(row) + ": " + std::to_string(row.parameters.size()) + " parameters expected, not " +
                    std::to_string(parameters.size()));
  const std::string integers = row.integer_parameters;
  for (size_t k = 0; k < parameters.size(); ++k) {
    const Argument& given = parameters[k];
    const Kind kind = given.is_array() ? iruka::kind(given.array().dtype()) : given.scalar().kind();
    if (kind == Kind::complex)
      throw TypeError(function_name(row) + ": " + row.parameters[k] + " must be real, not complex");
    if (integers.find(static_cast<char>('0' + k)) == std::string::npos || kind != Kind::floating) continue;
    if (!given.is_array() && given.scalar().as_double() == std::floor(given.scalar().as_double())) continue;
    throw TypeError(function_name(row) + ": " + row.parameters[k] + " must be an integer, not " +
                    (given.is_array() ? name(given.array().dtype()) : given.scalar().to_string()));
  }
}

/// uniform's own rule, with NumPy's error.
void check_width(const DistributionRow& row, std::span<const Argument> parameters, Dtype dtype) {
  if (std::string_view(row.name) != "uniform" || parameters[0].is_array() || parameters[1].is_array()) return;
  const double low = parameters[0].scalar().as_double(), high = parameters[1].scalar().as_double();
  const double width = dtype == Dtype::float32 ? static_cast<double>(static_cast<float>(high - low)) : high - low;
  if (!std::isfinite(width))
    throw OverflowError("random.uniform: high - low must be finite, but is " + Scalar(high).to_string() + " - " +
                        Scalar(low).to_string());
}

}  // namespace

Array Generator::draw(const char* distribution, std::span<const Argument> parameters, const DrawOptions& options) {
  const DistributionRow& row = ops::distribution(distribution);
  const Dtype dtype = result_dtype(row, options), computing = computing_dtype(row, dtype);
  check_kinds(row, parameters);
  check_domain(row, parameters);
  check_width(row, parameters, computing);
  const Dims shape = ops::result_shape(function_name(row).c_str(), parameters, options, dtype);

  std::vector<Array> cast;
  cast.reserve(parameters.size());
  std::vector<Argument> arguments;
  for (const Argument& parameter : parameters) {
    if (parameter.is_array()) {
      cast.push_back(parameter.array().astype(computing, false));
      arguments.push_back(cast.back());
    } else {
      arguments.push_back(Scalar(parameter.scalar().as_double()).typed(computing));
    }
  }
  const State state = next();
  if (cast.empty()) {
    const ops::Filling filling{deviates_per_block(row, computing == Dtype::float64), ops::takes_packs(options.out)};
    return ops::run_filling(row_kernel(row, dtype, filling.packed ? Form::packs : Form::blocks), state, arguments,
                            shape, dtype, filling, options.out);
  }
  return ops::run_elements(row_kernel(row, dtype, Form::elements), state, arguments, shape, dtype, options.out);
}

void seed(uint64_t value) { default_generator().set_state({value, 0}); }

namespace {
Array draw_scalars(const char* distribution, double first, double second, const Dims& shape, Dtype dtype) {
  const Argument parameters[] = {first, second};
  return default_generator().draw(distribution, parameters, {.size = shape, .dtype = dtype});
}
}  // namespace

Array random(const Dims& shape, Dtype dtype) { return draw_scalars("uniform", 0, 1, shape, dtype); }

Array uniform(double low, double high, const Dims& shape, Dtype dtype) {
  return draw_scalars("uniform", low, high, shape, dtype);
}

Array normal(double mean, double deviation, const Dims& shape, Dtype dtype) {
  return draw_scalars("normal", mean, deviation, shape, dtype);
}

Array randint(const Scalar& low, const Scalar& high, const Dims& shape, Dtype dtype, bool endpoint) {
  return default_generator().integers(low, high, {.size = shape, .dtype = dtype}, endpoint);
}

}  // namespace iruka::random
