"""Dask's arrays whose blocks are ours."""

import numpy as np
import pytest

import ecosystem
import iruka

dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")

RNG = np.random.default_rng(3)
TABLE, ROW = RNG.normal(size=(12, 10)), RNG.normal(size=10)


def table(a, values=TABLE):
    return da.from_array(a(values), chunks=(5, 4)[: values.ndim], asarray=False)


CASES = {
    "arithmetic": lambda a: table(a) * 2 + table(a, ROW),
    "numpy function": lambda a: np.exp(table(a)),
    "sum": lambda a: table(a).sum(axis=0),
    "mean": lambda a: table(a).mean(axis=1),
    "standard deviation": lambda a: table(a).std(axis=1),
    "maximum": lambda a: table(a).max(axis=1),
    "argmax": lambda a: table(a).argmax(axis=1),
    "any": lambda a: (table(a) > 2).any(axis=0),
    "transpose": lambda a: table(a).T,
    "matrix product": lambda a: table(a) @ table(a).T,
    "slices": lambda a: table(a)[2:9:2, ::-1],
    "indices": lambda a: table(a)[[1, 5, 3]],
    "mask": lambda a: table(a)[table(a) > 0],
    "where": lambda a: da.where(table(a) > 0, table(a), 0),
    "concatenate": lambda a: da.concatenate([table(a), table(a)]),
    "stack": lambda a: da.stack([table(a), table(a)]),
    "rechunk": lambda a: table(a).rechunk((6, 10)),
    "cumsum": lambda a: table(a).cumsum(axis=0),
    "map_blocks": lambda a: table(a).map_blocks(lambda block: block * block),
    "map_overlap": lambda a: table(a).map_overlap(lambda block: block * 2, depth=1, boundary="reflect"),
    "tensordot": lambda a: da.tensordot(table(a), table(a), axes=([0], [0])),
    "einsum": lambda a: da.einsum("ij,kj->ik", table(a), table(a)),
    "singular values": lambda a: da.linalg.svd(table(a).rechunk((6, 10)))[1],
    "clip": lambda a: table(a).clip(-1, 1),
    "nansum": lambda a: da.nansum(table(a), axis=0),
    "topk": lambda a: table(a).topk(3, axis=1),
    "diff": lambda a: da.diff(table(a), axis=0),
    "pad": lambda a: da.pad(table(a), 1),
    "median": lambda a: da.median(table(a), axis=0),
    "fft": lambda a: da.fft.fft(table(a).rechunk((12, 10))),
    "coarsen": lambda a: da.coarsen(np.mean, table(a).rechunk((6, 5)), {0: 2}),
    "repeat": lambda a: da.repeat(table(a), 2, axis=0),
}


@pytest.mark.parametrize("name", CASES)
def test_blocks(name):
    with dask.config.set(scheduler="threads", num_workers=2):
        ecosystem.check_case(lambda asarray: CASES[name](asarray).compute())


def test_meta_is_ours():
    assert isinstance(table(iruka.asarray)._meta, iruka.ndarray)
    assert isinstance((table(iruka.asarray).sum(axis=0))._meta, iruka.ndarray)
