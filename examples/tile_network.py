"""A convolutional network over a large picture, tile by tile.

Neighbouring tiles overlap by what the network's windows see beyond a pixel, so that the joined results are those of the
whole picture, in memory that depends on the tile alone. The demonstration takes each colour apart into its blurred
picture and the details on both sides of it, drops details below a threshold as noise, and amplifies the rest. A file of
safetensors or of torch may have the weights of a trained network of the same layers.

    python examples/tile_network.py --tile 64 --output tiles.png      # left: the picture, right: the result
    python examples/tile_network.py --picture photo.jpg --weights trained.safetensors
"""

import argparse
import importlib.resources
import pathlib
import time

import numpy as np

import iruka
from iruka import image, nn

REACH = 2  # pixels that a window of 5 x 5 sees on each side


def network():
    """Five by five windows of a picture without margins: the result is smaller by REACH on each side."""
    return nn.Sequential(nn.Conv2d(3, 9, 5), nn.ReLU(), nn.Conv2d(9, 3, 1))


def demonstration_weights(threshold=0.015, gain=2.0):
    """Filters of each colour: a blur, and what is brighter and darker than it by more than the threshold."""
    line = np.exp(-(np.arange(-REACH, REACH + 1) ** 2) / 2)
    blur = np.outer(line, line) / line.sum() ** 2
    detail = -blur
    detail[REACH, REACH] += 1
    windows, mix = np.zeros((9, 3, 5, 5), "float32"), np.zeros((3, 9, 1, 1), "float32")
    for colour in range(3):
        for k, (window, factor) in enumerate(((blur, 1), (detail, gain), (-detail, -gain))):
            windows[3 * colour + k, colour], mix[colour, 3 * colour + k] = window, factor
    limits = np.tile(np.array([0, -threshold, -threshold], "float32"), 3)
    return {"0.weight": windows, "0.bias": limits, "2.weight": mix, "2.bias": np.zeros(3, "float32")}


def beginnings(extent, tile):
    """Where tiles of an axis begin: the last one ends with the axis."""
    return sorted({min(first, extent - tile) for first in range(0, extent, tile)})


def by_tiles(model, picture, tile, batch):
    """The network of a picture (3, height, width) with values at its edges repeated outside of it."""
    height, width = picture.shape[1:]
    rows, columns = min(tile, height), min(tile, width)
    padded = iruka.pad(picture, ((0, 0), (REACH, REACH), (REACH, REACH)), mode="edge")
    places = [(y, x) for y in beginnings(height, rows) for x in beginnings(width, columns)]
    result = iruka.empty_like(picture)
    for first in range(0, len(places), batch):
        part = places[first : first + batch]
        tiles = iruka.stack([padded[:, y : y + rows + 2 * REACH, x : x + columns + 2 * REACH] for y, x in part])
        for (y, x), made in zip(part, model(tiles)):
            result[:, y : y + rows, x : x + columns] = made
    return result


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--picture", help="a picture instead of a photograph that comes with scikit-image")
    parser.add_argument("--weights", help="a file of weights: .safetensors, .pt or .pth")
    parser.add_argument("--tile", type=int, default=128, help="pixels along each axis")
    parser.add_argument("--batch", type=int, default=8, help="tiles of one call")
    parser.add_argument("--output", type=pathlib.Path, default=pathlib.Path("tiles.png"))
    options = parser.parse_args()

    path = options.picture or str(importlib.resources.files("skimage") / "data" / "astronaut.png")
    pixels = image.imread(path, mode="rgb")
    picture = iruka.ascontiguousarray(pixels.transpose(2, 0, 1)).astype("float32") / 255
    model = network()
    model.load_state_dict(nn.load(options.weights) if options.weights else demonstration_weights())
    print(model)

    start = time.perf_counter()
    result = by_tiles(model, picture, options.tile, options.batch)
    result.device.synchronize()
    print(f"{picture.shape[1]} x {picture.shape[2]} pixels in {(time.perf_counter() - start) * 1e3:.0f} ms")
    whole = by_tiles(model, picture, max(picture.shape[1:]), 1)
    print(f"largest difference from the whole picture: {float(abs(result - whole).max()):.1e}")
    both = iruka.clip(iruka.concatenate([picture, result], axis=2), 0, 1).transpose(1, 2, 0)
    options.output.parent.mkdir(parents=True, exist_ok=True)
    image.imwrite(str(options.output), iruka.ascontiguousarray((both * 255 + 0.5).astype("uint8")))
    print(f"saved {options.output}")


if __name__ == "__main__":
    main()
