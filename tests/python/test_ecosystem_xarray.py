"""xarray's DataArray and Dataset over our arrays."""

import numpy as np
import pytest

import ecosystem
import iruka

xr = pytest.importorskip("xarray")

RNG = np.random.default_rng(5)
VALUES, ROW = RNG.normal(size=(4, 6, 5)), RNG.normal(size=6)
GAPS = VALUES.copy()
GAPS[0, 1, 2] = GAPS[:, 0, 0] = np.nan
TIMES, HEIGHTS, GROUPS = np.arange(4), np.arange(6) * 0.5, np.array([0, 1, 2, 1, 0, 0])


def cube(a, values=VALUES):
    return xr.DataArray(a(values), dims=("t", "y", "x"), coords={"t": TIMES, "y": HEIGHTS})


def row(a):
    return xr.DataArray(a(ROW), dims="y", coords={"y": HEIGHTS})


def groups():
    return xr.DataArray(GROUPS, dims="y", coords={"y": HEIGHTS}, name="g")


CASES = {
    "arithmetic": lambda a: abs(-(cube(a) * 2 + 1)) ** 2,
    "broadcast": lambda a: row(a) + cube(a),
    "compare": lambda a: cube(a) > 0,
    "numpy function": lambda a: np.exp(cube(a)),
    "isel": lambda a: cube(a).isel(t=1, x=slice(None, None, 2)),
    "isel with indices": lambda a: cube(a).isel(y=[0, 2, 5]),
    "sel": lambda a: cube(a).sel(y=slice(0.5, 2)),
    "where": lambda a: cube(a).where(cube(a) > 0),
    "where with another": lambda a: xr.where(cube(a) > 0, cube(a), -cube(a)),
    "concat": lambda a: xr.concat([cube(a), cube(a)], dim="t"),
    "concat along a new axis": lambda a: xr.concat([cube(a), cube(a)], dim="new"),
    "transpose": lambda a: cube(a).transpose("x", "t", "y"),
    "groupby mean": lambda a: cube(a).groupby(groups()).mean(),
    "groupby sum": lambda a: cube(a).groupby(groups()).sum(),
    "groupby map": lambda a: cube(a).groupby("t").map(lambda v: v - v.mean()),
    "groupby_bins": lambda a: cube(a).groupby_bins("y", [0, 1, 3]).mean(),
    "rolling mean": lambda a: cube(a).rolling(y=3).mean(),
    "rolling construct": lambda a: cube(a).rolling(y=3, center=True).construct("w"),
    "coarsen": lambda a: cube(a).coarsen(y=2).mean(),
    "shift": lambda a: cube(a).shift(y=1),
    "roll": lambda a: cube(a).roll(y=1),
    "diff": lambda a: cube(a).diff("y"),
    "cumsum": lambda a: cube(a).cumsum("y"),
    "dot": lambda a: xr.dot(cube(a), row(a), dim="y"),
    "clip": lambda a: cube(a).clip(-1, 1),
    "fillna": lambda a: cube(a, GAPS).fillna(0.0),
    "isnull": lambda a: cube(a, GAPS).isnull(),
    "count": lambda a: cube(a, GAPS).count("y"),
    "astype": lambda a: cube(a).astype("float32"),
    "round": lambda a: cube(a).round(1),
    "expand_dims": lambda a: cube(a).expand_dims("z"),
    "stack": lambda a: cube(a).stack(z=("t", "y")).unstack("z"),
    "pad": lambda a: cube(a).pad(y=1, mode="edge"),
    "reindex": lambda a: cube(a).reindex(y=[0.0, 0.5, 9.0]),
    "sortby": lambda a: cube(a).sortby("y", ascending=False),
    "quantile": lambda a: cube(a).quantile(0.3, "y"),
    "median": lambda a: cube(a).median("y"),
    "argmax": lambda a: cube(a).argmax("y"),
    "correlation": lambda a: xr.corr(cube(a), cube(a) ** 2, "y"),
    "weighted mean": lambda a: cube(a).weighted(abs(row(a))).mean("y"),
    "apply_ufunc": lambda a: xr.apply_ufunc(lambda v: v * 2, cube(a)),
    "full_like": lambda a: xr.full_like(cube(a), 3.0),
    "dataset": lambda a: (xr.Dataset({"p": cube(a), "q": row(a)}) * 2).mean("y")["p"],
    "merge": lambda a: xr.merge([cube(a).rename("p"), row(a).rename("q")])["q"],
    "align": lambda a: xr.align(cube(a), cube(a).isel(y=slice(1, 4)), join="inner")[0],
}
for _name in "mean sum max min std var prod".split():
    CASES[f"{_name} over axes"] = lambda a, name=_name: getattr(cube(a), name)(("y", "t"))
    CASES[f"{_name} without NaN"] = lambda a, name=_name: getattr(cube(a, GAPS), name)("y")


@pytest.mark.parametrize("name", CASES)
@pytest.mark.filterwarnings("ignore")
def test_data_array(name):
    found = []

    def data_of(asarray):
        found.append(CASES[name](asarray))
        return found[-1].data

    ecosystem.check_case(data_of)
    reference, ours = found
    assert ours.dims == reference.dims and list(ours.coords) == list(reference.coords)


def test_comparisons_and_text():
    data = cube(iruka.asarray)
    assert data.equals(cube(iruka.asarray)) and not data.equals(data + 1) and bool((data < 99).all().data)
    assert (
        float(data[0, 0, 0].data) == VALUES[0, 0, 0]
        and "xarray.DataArray" in repr(data)
        and data.copy(deep=True).equals(data)
    )
    xr.testing.assert_allclose(data, data + 1e-12)
    assert isinstance(xr.Dataset({"p": data})["p"].data, iruka.ndarray) and "p" in repr(xr.Dataset({"p": data}))
