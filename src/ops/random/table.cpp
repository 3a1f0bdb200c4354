// Rows of the random distributions. A row says what NumPy's function of that name takes, where it is defined, and how a
// deviate comes from units, normals or draws.
#include "ops/random/table.h"

#include <array>

#include "core/once.h"

namespace iruka::ops {
namespace {

constexpr Interval kNotNegative{0, INFINITY, true, true, "not negative"};
constexpr Interval kPositive{0, INFINITY, false, true, "positive"};
constexpr Interval kAboveOne{1, INFINITY, false, true, "above 1"};
constexpr Interval kProbability{0, 1, true, true, "in [0, 1]"};
constexpr Interval kProbabilityAboveZero{0, 1, false, true, "in (0, 1]"};
constexpr Interval kProbabilityBelowOne{0, 1, true, false, "in [0, 1)"};
// NumPy's bounds: ten deviations above the mean must fit an int64, and counts must keep their differences in a double.
constexpr Interval kPoissonMean{0, 9.223372006484771e18, true, true, "in [0, 9.22e18]"};
constexpr Interval kCount{0, 9007199254740992.0, true, true, "in [0, 2**53]"};
constexpr Interval kUrn{0, 1e9, true, true, "in [0, 10**9]"};

DomainRule first(const Interval& interval) { return {{1, 0, 0}, interval}; }
DomainRule second(const Interval& interval) { return {{0, 1, 0}, interval}; }
DomainRule third(const Interval& interval) { return {{0, 0, 1}, interval}; }

constexpr const char* kTriangular =
    "half_open * (right - left) <= mode - left ? left + sqrt(half_open * (right - left) * (mode - left)) "
    ": right - sqrt((T(1) - half_open) * (right - left) * (right - mode))";

// -log of a unit that is exact near 0 and, by the sign, near 1 as well.
constexpr const char* kGumbel = "loc - scale * log(sign > 0 ? -log(u / T(2)) : -log1p(-u / T(2)))";

using enum Source;
using enum Result;

const std::vector<DistributionRow>& table() {
  return made_once([] {
    return std::vector<DistributionRow>{
        {"uniform", {"low", "high"}, unit, real, "low + (high - low) * half_open", "units", {}},
        {"exponential", {"scale"}, unit, real, "-scale * log_unit(u)", "units", {first(kNotNegative)}},
        {"laplace", {"loc", "scale"}, unit, real, "loc - sign * scale * log_unit(u)", "units", {second(kNotNegative)}},
        {"logistic",
         {"loc", "scale"},
         unit,
         real,
         "loc + sign * scale * log((T(2) - u) / u)",
         "units",
         {second(kNotNegative)}},
        {"gumbel", {"loc", "scale"}, unit, real, kGumbel, "units", {second(kNotNegative)}},
        {"pareto", {"a"}, unit, real, "expm1(-log_unit(u) / a)", "units", {first(kPositive)}},
        {"power", {"a"}, unit, real, "pow(u, T(1) / a)", "units", {first(kPositive)}},
        {"rayleigh", {"scale"}, unit, real, "scale * sqrt(T(-2) * log_unit(u))", "units", {first(kNotNegative)}},
        {"weibull", {"a"}, unit, real, "a > 0 ? pow(-log_unit(u), T(1) / a) : T(0)", "units", {first(kNotNegative)}},
        {"standard_cauchy", {}, unit, real, "sign / tan(T(1.5707963267948966) * u)", "units", {}},
        {"triangular",
         {"left", "mode", "right"},
         unit,
         real,
         kTriangular,
         "units",
         {{{-1, 1, 0}, kNotNegative}, {{0, -1, 1}, kNotNegative}, {{-1, 0, 1}, kPositive}}},
        {"geometric",
         {"p"},
         unit,
         integer,
         "max(ceil(log_unit(u) / plan), 1.0)",
         "units",
         {first(kProbabilityAboveZero)},
         "",
         "log1p(-p)"},

        {"normal", {"loc", "scale"}, normal, real, "loc + scale * z", "normals", {second(kNotNegative)}},
        {"lognormal", {"mean", "sigma"}, normal, real, "exp(mean + sigma * z)", "normals", {second(kNotNegative)}},

        {"gamma",
         {"shape", "scale"},
         draws,
         real,
         "scale * draw_gamma(d, shape)",
         "gamma",
         {first(kNotNegative), second(kNotNegative)}},
        {"log_gamma", {"shape"}, draws, real, "draw_log_gamma(d, shape)", "gamma", {first(kPositive)}},
        {"chisquare", {"df"}, draws, real, "draw_chisquare(d, df)", "gamma", {first(kPositive)}},
        {"beta", {"a", "b"}, draws, real, "draw_beta(d, a, b)", "gamma", {first(kPositive), second(kPositive)}},
        {"wald",
         {"mean", "scale"},
         draws,
         real,
         "draw_wald(d, mean, scale)",
         "wald",
         {first(kPositive), second(kPositive)}},
        {"standard_t",
         {"df"},
         draws,
         wide,
         "draw_normal(d) * sqrt(df / draw_chisquare(d, df))",
         "gamma",
         {first(kPositive)}},
        {"f",
         {"dfnum", "dfden"},
         draws,
         wide,
         "draw_chisquare(d, dfnum) / dfnum / (draw_chisquare(d, dfden) / dfden)",
         "gamma",
         {first(kPositive), second(kPositive)}},
        {"noncentral_chisquare",
         {"df", "nonc"},
         draws,
         wide,
         "draw_noncentral_chisquare(d, df, nonc)",
         "noncentral",
         {first(kPositive), second(kNotNegative)}},
        {"noncentral_f",
         {"dfnum", "dfden", "nonc"},
         draws,
         wide,
         "draw_noncentral_chisquare(d, dfnum, nonc) / dfnum / (draw_chisquare(d, dfden) / dfden)",
         "noncentral",
         {first(kPositive), second(kPositive), third(kNotNegative)}},
        {"vonmises", {"mu", "kappa"}, draws, wide, "draw_vonmises(d, mu, kappa)", "vonmises", {second(kNotNegative)}},

        {"poisson",
         {"lam"},
         draws,
         integer,
         "draw_poisson(d, plan)",
         "poisson",
         {first(kPoissonMean)},
         "",
         "poisson_plan(lam)"},
        {"binomial",
         {"n", "p"},
         draws,
         integer,
         "draw_binomial(d, plan)",
         "binomial",
         {first(kCount), second(kProbability)},
         "0",
         "binomial_plan(n, p)"},
        {"negative_binomial",
         {"n", "p"},
         draws,
         integer,
         "draw_negative_binomial(d, n, p)",
         "negative_binomial",
         {first(kPositive), second(kProbabilityAboveZero)}},
        {"hypergeometric",
         {"ngood", "nbad", "nsample"},
         draws,
         integer,
         "draw_hypergeometric(d, ngood, nbad, nsample)",
         "hypergeometric",
         {first(kUrn), second(kUrn), third(kNotNegative), {{1, 1, -1}, kNotNegative}},
         "012"},
        {"zipf", {"a"}, draws, integer, "draw_zipf(d, a)", "zipf", {first(kAboveOne)}},
        {"logseries", {"p"}, draws, integer, "draw_logseries(d, p)", "logseries", {first(kProbabilityBelowOne)}},
    };
  });
}

}  // namespace

const DistributionRow& distribution(const std::string& name) {
  for (const DistributionRow& row : table())
    if (name == row.name) return row;
  throw ValueError("random: no distribution is named '" + name + "'");
}

}  // namespace iruka::ops
