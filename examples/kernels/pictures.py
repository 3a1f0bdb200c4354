"""What the examples of this folder share: photographs, colours, plots, files of pictures, and the command line."""

import argparse
import importlib.resources
import pathlib

import numpy as np

import iruka
from iruka import image

SCALE = np.array([(68, 1, 84), (59, 82, 139), (33, 145, 140), (94, 201, 98), (253, 231, 37)])  # dark to light
PENS = np.array([(31, 119, 180), (214, 39, 40), (44, 160, 44), (148, 103, 189)])


def command_line(description):
    """A parser whose --output names the file of the picture; without it no picture is written."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--output", type=pathlib.Path, help="a .png or .jpg file for the picture")
    return parser


def photograph(name, mode="rgb"):
    """uint8 (height, width, 3), or with mode "gray" (height, width): a file that comes with scikit-image."""
    return image.imread(str(importlib.resources.files("skimage") / "data" / name), mode=mode)


def write(path, *pictures, gap=6):
    """Writes pictures of one height side by side; numbers that are not uint8 are rounded to 0...255."""
    if path is None:
        return
    sheets = []
    for picture in map(iruka.asnumpy, pictures):
        picture = np.clip(np.rint(picture), 0, 255).astype(np.uint8)
        picture = np.dstack([picture] * 3) if picture.ndim == 2 else picture
        sheets += [picture, np.full((picture.shape[0], gap, 3), 255, np.uint8)]
    path.parent.mkdir(parents=True, exist_ok=True)
    image.imwrite(path, iruka.asarray(np.hstack(sheets[:-1])), quality=80)


def colours(values, low=None, high=None):
    """(height, width, 3): dark blue for the lowest value and NaN, yellow for the highest value."""
    values = np.asarray(iruka.asnumpy(values), float)
    low, high = np.nanmin(values) if low is None else low, np.nanmax(values) if high is None else high
    place = np.clip(np.nan_to_num((values - low) / (high - low), nan=0), 0, 1) * (len(SCALE) - 1)
    return np.stack([np.interp(place, range(len(SCALE)), channel) for channel in SCALE.T], -1)


def plot(curves, height=160, low=None, high=None):
    """(height, width, 3): each curve, a value for each column, in a colour of its own on white."""
    curves = [np.asarray(iruka.asnumpy(curve), float) for curve in curves]
    low, high = min(map(np.min, curves)) if low is None else low, max(map(np.max, curves)) if high is None else high
    sheet = np.full((height, curves[0].size, 3), 255.0)
    rows = np.arange(height)[:, None]
    for curve, pen in zip(curves, PENS):
        row = np.clip((high - curve) / (high - low) * (height - 1), 0, height - 1).round()
        before = np.concatenate([row[:1], row[:-1]])
        sheet[(rows >= np.minimum(row, before) - 1) & (rows <= np.maximum(row, before))] = pen
    return sheet
