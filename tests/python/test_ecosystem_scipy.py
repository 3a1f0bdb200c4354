"""SciPy's functions that follow the array API (SCIPY_ARRAY_API=1), on our arrays."""

import sys

import numpy as np
import pytest

import ecosystem

pytest.importorskip("scipy")
# Much of what is called here ends in SciPy's compiled code, which takes arrays through NumPy.
pytestmark = pytest.mark.cpu_only

RNG = np.random.default_rng(11)
X, Y = RNG.random(64) + 0.1, RNG.random(64) + 0.2
POINTS, PICTURE = RNG.normal(size=(20, 3)), RNG.random((16, 17))
MASK = PICTURE > 0.6
FILTER = (np.array([1.0, 0.5]), np.array([1.0, 0.2]))
SPLINE = np.arange(64.0)

CASES = {}


def each(package, names, arguments):
    """Cases package.name(*arguments(asarray)) for names in one text."""
    for name in names.split():
        CASES[f"{package}.{name}"] = lambda a, name=name: getattr(scipy_module(package), name)(*arguments(a))


def scipy_module(name):
    import importlib

    return importlib.import_module(f"scipy.{name}")


ONE = """erf erfc gammaln log_ndtr ndtr ndtri expit logit i0 i0e i1 i1e j0 j1 k0 k1 entr exp10 exp2 cbrt digamma psi rgamma
    loggamma gamma log1p expm1 sinc logsumexp softmax log_softmax"""
each("special", ONE, lambda a: (a(X),))
each(
    "special", "gammainc gammaincc betaln xlogy xlog1py rel_entr kl_div chdtr chdtrc stdtr zeta", lambda a: (a(X), a(Y))
)
each("special", "betainc gdtr", lambda a: (a(X), a(Y), a(X[::-1].copy())))
each("fft", "fft ifft rfft irfft hfft ihfft dct idct dst idst", lambda a: (a(X),))
each("fft", "fft2 ifft2 fftn rfft2 rfftn dctn dstn fftshift", lambda a: (a(PICTURE),))
each("signal", "detrend hilbert wiener cspline1d", lambda a: (a(X),))
each("signal", "convolve fftconvolve oaconvolve correlate", lambda a: (a(X), a(Y)))
each("signal", "lfilter filtfilt", lambda a: (*map(a, FILTER), a(X)))
each("signal", "medfilt", lambda a: (a(X), 3))
each("signal", "resample", lambda a: (a(X), 40))
each("signal", "savgol_filter", lambda a: (a(X), 5, 2))
each("signal", "convolve2d", lambda a: (a(PICTURE), a(PICTURE[:3, :3].copy())))
CASES["signal.sosfilt"] = lambda a: scipy_module("signal").sosfilt(
    a(scipy_module("signal").butter(4, 0.3, output="sos")), a(X)
)
STATISTICS = """hmean gmean skew kurtosis variation sem zscore kstat kstatvar gstd iqr entropy median_abs_deviation circmean
    circvar circstd tmean tvar tstd tsem rankdata"""
each("stats", STATISTICS, lambda a: (a(X),))
each("stats", "pmean moment", lambda a: (a(X), 3))
TESTS = """ttest_ind ttest_rel pearsonr mannwhitneyu wilcoxon levene bartlett f_oneway kruskal fligner ansari
    brunnermunzel spearmanr"""
for _name in TESTS.split():
    CASES[f"stats.{_name}"] = lambda a, name=_name: getattr(scipy_module("stats"), name)(a(X), a(Y)).pvalue
for _name in "skewtest kurtosistest normaltest jarque_bera chisquare power_divergence".split():
    CASES[f"stats.{_name}"] = lambda a, name=_name: getattr(scipy_module("stats"), name)(a(X)).pvalue
each("ndimage", "gaussian_filter uniform_filter shift zoom", lambda a: (a(PICTURE), 2))
each("ndimage", "median_filter", lambda a: (a(PICTURE), 3))
each("ndimage", "sobel laplace", lambda a: (a(PICTURE),))
each("ndimage", "binary_dilation binary_erosion distance_transform_edt", lambda a: (a(MASK),))
each("ndimage", "rotate", lambda a: (a(PICTURE), 30))
CASES["ndimage.label"] = lambda a: scipy_module("ndimage").label(a(MASK))[0]
CASES["cluster.vq.whiten"] = lambda a: scipy_module("cluster.vq").whiten(a(POINTS))
CASES["cluster.vq.vq"] = lambda a: scipy_module("cluster.vq").vq(a(POINTS), a(POINTS[:4].copy()))
CASES["cluster.vq.kmeans2"] = lambda a: scipy_module("cluster.vq").kmeans2(
    a(POINTS), a(POINTS[:2].copy()), minit="matrix"
)
for _name in "inconsistent maxdists leaves_list cophenet".split():
    CASES[f"cluster.hierarchy.{_name}"] = lambda a, name=_name: getattr(scipy_module("cluster.hierarchy"), name)(
        scipy_module("cluster.hierarchy").linkage(a(POINTS), "ward")
    )
each("integrate", "trapezoid cumulative_trapezoid cumulative_simpson", lambda a: (a(X),))
CASES["integrate.tanhsinh"] = lambda a: scipy_module("integrate").tanhsinh(lambda v: v * v, a(X - 1), a(Y + 1)).integral
CASES["differentiate.derivative"] = lambda a: scipy_module("differentiate").derivative(lambda v: v**3, a(X)).df
CASES["optimize.elementwise.find_root"] = lambda a: (
    scipy_module("optimize.elementwise").find_root(lambda v, c: v**2 - c, (a(X * 0), a(X * 0 + 3)), args=(a(X),)).x
)
CASES["interpolate.make_interp_spline"] = lambda a: scipy_module("interpolate").make_interp_spline(a(SPLINE), a(X))(
    a(Y)
)
CASES["interpolate.CubicSpline"] = lambda a: scipy_module("interpolate").CubicSpline(a(SPLINE), a(X))(a(Y))
CASES["spatial.transform.Rotation"] = lambda a: (
    scipy_module("spatial.transform").Rotation.from_euler("xyz", a(POINTS)).apply(a(POINTS))
)
CASES["constants.convert_temperature"] = lambda a: scipy_module("constants").convert_temperature(a(X), "C", "K")


@pytest.fixture(scope="module")
def outcomes():
    return ecosystem.outcomes_of(__file__)


@pytest.mark.parametrize("name", CASES)
def test_function(outcomes, name):
    assert outcomes[name] is None, outcomes[name]


if __name__ == "__main__":
    ecosystem.main(CASES)
    sys.exit(0)
