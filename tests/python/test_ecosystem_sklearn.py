"""scikit-learn's estimators and metrics that follow the array API, on our arrays."""

import sys

import numpy as np
import pytest

import ecosystem

pytest.importorskip("sklearn")
# Metrics and solvers end in scikit-learn's and SciPy's compiled code, which takes arrays through NumPy.
pytestmark = pytest.mark.cpu_only

RNG = np.random.default_rng(7)
X = RNG.normal(size=(120, 5))
X[:, 1] += X[:, 0]
LABELS = (X[:, 0] + X[:, 2] > 0).astype(np.int64)
TARGETS = X @ np.array([1.0, 2.0, 0.0, -1.0, 0.5]) + 0.1 * RNG.normal(size=120)
DATA = (X, LABELS, TARGETS)

ESTIMATORS = {
    "PCA": lambda s, x, y, t: s.PCA(3, svd_solver="full").fit(x).transform(x),
    "PCA by covariance": lambda s, x, y, t: s.PCA(3, svd_solver="covariance_eigh").fit_transform(x),
    "PCA, randomized": lambda s, x, y, t: s.PCA(
        3, svd_solver="randomized", random_state=0, power_iteration_normalizer="QR"
    ).fit_transform(x),
    "PCA and back": lambda s, x, y, t: s.PCA(3, whiten=True).fit(x).inverse_transform(s.PCA(3).fit_transform(x)),
    "Ridge": lambda s, x, y, t: s.Ridge(solver="svd").fit(x, t).predict(x),
    "RidgeCV": lambda s, x, y, t: s.RidgeCV().fit(x, t).predict(x),
    "RidgeClassifier": lambda s, x, y, t: s.RidgeClassifier(solver="svd").fit(x, y).predict(x),
    "LinearDiscriminantAnalysis": lambda s, x, y, t: s.LinearDiscriminantAnalysis().fit(x, y).predict_proba(x),
    "GaussianNB": lambda s, x, y, t: s.GaussianNB().fit(x, y).predict_proba(x),
    "LogisticRegression": lambda s, x, y, t: s.LogisticRegression(solver="lbfgs").fit(x, y).predict(x),
    "GaussianMixture": lambda s, x, y, t: s.GaussianMixture(2, random_state=0, init_params="random").fit(x).predict(x),
    "Nystroem": lambda s, x, y, t: s.Nystroem(kernel="rbf", n_components=10, random_state=0).fit_transform(x),
    "StandardScaler": lambda s, x, y, t: s.StandardScaler().fit_transform(x),
    "StandardScaler and back": lambda s, x, y, t: s.StandardScaler().fit(x).inverse_transform(x),
    "MinMaxScaler": lambda s, x, y, t: s.MinMaxScaler().fit_transform(x),
    "MaxAbsScaler": lambda s, x, y, t: s.MaxAbsScaler().fit_transform(x),
    "KernelCenterer": lambda s, x, y, t: s.KernelCenterer().fit_transform(x @ x.T),
    "Normalizer": lambda s, x, y, t: s.Normalizer().fit_transform(x),
    "Binarizer": lambda s, x, y, t: s.Binarizer().fit_transform(x),
    "PolynomialFeatures": lambda s, x, y, t: s.PolynomialFeatures(2).fit_transform(x),
    "LabelEncoder": lambda s, x, y, t: s.LabelEncoder().fit_transform(y),
    "train_test_split": lambda s, x, y, t: tuple(s.train_test_split(x, y, random_state=0)),
    "cross_val_predict": lambda s, x, y, t: s.cross_val_predict(s.Ridge(solver="svd"), x, t),
    "pipeline": lambda s, x, y, t: (
        s.make_pipeline(s.StandardScaler(), s.PCA(3), s.Ridge(solver="svd")).fit(x, t).predict(x)
    ),
    "GridSearchCV": lambda s, x, y, t: (
        s.GridSearchCV(s.Ridge(solver="svd"), {"alpha": [0.1, 1.0]}).fit(x, t).predict(x)
    ),
    "paired_euclidean_distances": lambda s, x, y, t: s.pairwise.paired_euclidean_distances(x, x * 2),
}
CLASSES = (
    "accuracy_score zero_one_loss f1_score precision_score recall_score hamming_loss jaccard_score confusion_matrix"
)
SCORES = "roc_auc_score average_precision_score brier_score_loss log_loss"
ERRORS = """mean_squared_error root_mean_squared_error mean_absolute_error mean_absolute_percentage_error median_absolute_error
    mean_squared_log_error mean_pinball_loss mean_tweedie_deviance max_error r2_score explained_variance_score"""
PAIRS = "cosine_similarity euclidean_distances rbf_kernel linear_kernel polynomial_kernel sigmoid_kernel manhattan_distances"


def metric(name, arguments):
    return lambda s, x, y, t: getattr(s.metrics, name)(*arguments(x, y, t))


ESTIMATORS |= {name: metric(name, lambda x, y, t: (y, y[::-1])) for name in CLASSES.split()}
ESTIMATORS |= {name: metric(name, lambda x, y, t: (y, 1 / (1 + t * t))) for name in SCORES.split()}
ESTIMATORS |= {name: metric(name, lambda x, y, t: (t * t + 1, t[::-1] * t[::-1] + 1)) for name in ERRORS.split()}
ESTIMATORS |= {name: lambda s, x, y, t, name=name: getattr(s.pairwise, name)(x * x) for name in PAIRS.split()}


class Sklearn:
    """The names that the cases use, from wherever scikit-learn keeps them."""

    def __getattr__(self, name):
        import importlib

        places = (
            "decomposition linear_model discriminant_analysis naive_bayes mixture kernel_approximation preprocessing"
        )
        if name in ("metrics", "pairwise"):
            return importlib.import_module("sklearn.metrics" + (".pairwise" if name == "pairwise" else ""))
        for place in (*places.split(), "model_selection", "pipeline"):
            module = importlib.import_module(f"sklearn.{place}")
            if hasattr(module, name):
                return getattr(module, name)
        raise AttributeError(name)


def dispatched(case):
    def run(asarray):
        from sklearn import config_context

        with config_context(array_api_dispatch=asarray is not np.asarray):
            return case(Sklearn(), *map(asarray, DATA))

    return run


@pytest.fixture(scope="module")
def outcomes():
    return ecosystem.outcomes_of(__file__)


@pytest.mark.parametrize("name", ESTIMATORS)
def test_estimator(outcomes, name):
    assert outcomes[name] is None, outcomes[name]


if __name__ == "__main__":
    ecosystem.main({name: dispatched(case) for name, case in ESTIMATORS.items()})
    sys.exit(0)
