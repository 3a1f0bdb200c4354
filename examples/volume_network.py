"""A network at every voxel of a volume, and a picture that a kernel draws by calling a network.

The volume has the shape (features, z, y, x). A trained network of these features has its weights in a file of
safetensors or of torch; without one it is a demonstration with random weights. Three slices of what it gives are saved
as one picture. The second picture is a network of two numbers, x and y, and three results, the colours: a kernel of one
line calls it for each pixel, so that no array of coordinates exists.

    python examples/volume_network.py --size 128
    python examples/volume_network.py --weights trained.safetensors --folder pictures
"""

import argparse
import pathlib
import time

import numpy as np

import iruka
from iruka import image, nn


def volume_of(features, size):
    """Smooth fields: products of waves."""
    rng = np.random.default_rng(1)
    axis = np.linspace(0, 2 * np.pi, size, dtype=np.float32)
    waves = np.sin(rng.uniform(0.5, 3, (3, features, 1)) * axis + rng.uniform(0, 6, (3, features, 1)))
    z, y, x = waves.astype(np.float32)
    return z[:, :, None, None] * y[:, None, :, None] * x[:, None, None, :]


def perceptron(weights, activation):
    """The linear layers of a state_dict, '0.weight', '0.bias', '2.weight'..., with an activation between them."""
    places = sorted(int(name.split(".")[0]) for name in weights if name.endswith(".weight"))
    modules = {}
    for place in places:
        outputs, inputs = weights[f"{place}.weight"].shape
        modules[str(place)] = nn.Linear(inputs, outputs)
        if place != places[-1]:
            modules[str(place + 1)] = activation()
    network = nn.Sequential(modules)
    network.load_state_dict(weights)
    return network


def random_weights(*widths, scale=1.5):
    """Weights for a demonstration."""
    rng = np.random.default_rng(0)
    weights = {}
    for k, (inputs, outputs) in enumerate(zip(widths, widths[1:])):
        weights[f"{2 * k}.weight"] = (rng.normal(size=(outputs, inputs)) * scale / np.sqrt(inputs)).astype(np.float32)
        weights[f"{2 * k}.bias"] = rng.normal(size=outputs).astype(np.float32) / 2
    return weights


def slices_of(result):
    """The middle slices across each axis, side by side, in the colours of the first three results."""
    middle = result.shape[1] // 2
    planes = [result[:3, middle], result[:3, :, middle], result[:3, :, :, middle]]
    picture = iruka.concatenate(planes, axis=2)
    low = picture.min(axis=(1, 2), keepdims=True)
    scaled = (picture - low) / (picture.max(axis=(1, 2), keepdims=True) - low + 1e-9)
    colours = iruka.concatenate([scaled] * 3)[:3]  # also of fewer than three results
    return iruka.ascontiguousarray(colours.transpose(1, 2, 0))


def drawn(network, height, width):
    """An implicit picture: the kernel calls the network for each pixel."""
    net = network.as_function("net")
    draw = net.kernel(
        "int64 height, int64 width",
        "raw float32 picture",
        """
        const float scale = 3.0f / height;
        float at[2] = {(i % width - width / 2) * scale, (i / width - height / 2) * scale};
        net(at, &picture[3 * i]);
        """,
        "draw",
    )
    picture = iruka.empty((height, width, 3), dtype="float32")
    draw(height, width, picture, size=height * width)
    return picture


def save(path, picture):
    image.imwrite(str(path), (iruka.clip(picture, 0, 1) * 255).astype("uint8"))
    print(f"saved {path}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--size", type=int, default=64, help="voxels along each axis")
    parser.add_argument("--weights", help="a file of weights: .safetensors, .pt or .pth")
    parser.add_argument("--folder", type=pathlib.Path, default=pathlib.Path("."), help="where the pictures go")
    options = parser.parse_args()

    weights = nn.load(options.weights) if options.weights else random_weights(16, 32, 3)
    network = perceptron(weights, nn.ReLU)
    print(network)
    volume = iruka.asarray(volume_of(network[0].in_features, options.size))
    network.map(volume, axis=0)  # compiles
    start = time.perf_counter()
    result = network.map(volume, axis=0)
    result.device.synchronize()
    print(f"{options.size}^3 voxels in {(time.perf_counter() - start) * 1e3:.2f} ms")
    options.folder.mkdir(parents=True, exist_ok=True)
    save(options.folder / "volume_slices.png", slices_of(result))

    painter = nn.Sequential(*perceptron(random_weights(2, 24, 24, 24, 3, scale=3), nn.Tanh), nn.Sigmoid())
    save(options.folder / "implicit_picture.png", drawn(painter, 4 * options.size, 4 * options.size))


if __name__ == "__main__":
    main()
