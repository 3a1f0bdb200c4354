"""A small network applied to the features of every voxel: apply_along_axis, as written for NumPy, without its loop.

The volume has the shape (x, y, z, features). The network is a function of the features of one voxel: two linear layers
with a ReLU between them. NumPy calls it for each voxel; Iruka calls it on all voxels at once, on the CPU or a GPU.

    python examples/voxel_network.py --voxels 64 64 64
    python examples/voxel_network.py --weights net.safetensors    # or .pt: the state_dict of two linear layers
"""

import argparse
import time

import numpy as np

import iruka
from iruka import nn


def random_layers(features, hidden, classes):
    """Weights for a demonstration; those of torch.nn.Linear have the same shapes."""
    rng = np.random.default_rng(0)
    sizes = [(hidden, features), (classes, hidden)]
    return [(rng.normal(size=size).astype("float32"), rng.normal(size=size[0]).astype("float32")) for size in sizes]


def loaded_layers(path):
    """The two linear layers of a state_dict: 0.weight, 0.bias, 2.weight, 2.bias, or under other names."""
    arrays = {name: iruka.asnumpy(array) for name, array in nn.load(path).items()}
    layers = sorted(name.removesuffix("weight") for name in arrays if name.endswith("weight"))
    if len(layers) != 2 or set(arrays) != {layer + name for layer in layers for name in ("weight", "bias")}:
        raise SystemExit(f"{path}: expected a weight and a bias of each of two linear layers, not {', '.join(arrays)}")
    return [(arrays[layer + "weight"], arrays[layer + "bias"]) for layer in layers]


def network_of(layers):
    (weight1, bias1), (weight2, bias2) = layers

    def network(features):
        hidden = np.maximum(weight1 @ features + bias1, 0)
        return weight2 @ hidden + bias2

    return network


def measured(call):
    start = time.perf_counter()
    result = call()
    return result, time.perf_counter() - start


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--voxels", type=int, nargs=3, default=(48, 48, 48))
    parser.add_argument("--weights", help="a file of the trained weights: .safetensors, .pt or .pth")
    options = parser.parse_args()

    layers = loaded_layers(options.weights) if options.weights else random_layers(8, 16, 4)
    network = network_of(layers)
    volume = np.random.default_rng(1).normal(size=(*options.voxels, layers[0][0].shape[1])).astype("float32")

    expected, loop = measured(lambda: np.apply_along_axis(network, 3, volume))
    on_device = iruka.asarray(volume)
    calls = [measured(lambda: iruka.asnumpy(iruka.apply_along_axis(network, 3, on_device))) for _ in range(5)]
    made, at_once = calls[0][0], min(seconds for _, seconds in calls)

    print(f"{volume.shape[:3]} voxels, {iruka.default_device()}")
    print(f"numpy.apply_along_axis: {loop:8.3f} s")
    print(f"iruka.apply_along_axis: {at_once:8.3f} s, {loop / at_once:.0f} times as fast")
    print(f"largest difference:     {np.abs(made - expected).max():.1e}")


if __name__ == "__main__":
    main()
