"""ResNet-18 on a GPU beside PyTorch, eager and compiled, in one run.

python benchmarks/gpu_convolutions.py [--batch 64] [--output build/benchmarks]
The network is torchvision's with random weights, its program comes through torch.export. Both libraries compute with
TF32 or both without, and are given the images in the same order of axes in memory. PyTorch's weights have the channels
last, which is its advice for convolutions. Times are medians of calls in changing order; a ratio is PyTorch's time over
Iruka's. A difference is that from the result in float64, relative to the largest number.
"""

import argparse
import itertools
import json
import pathlib
import tempfile
import time

import torch
import torchvision

import iruka
from iruka import nn
from measure import device_timer, interleaved, markdown, repeated

CALLS = 5  # in one measurement
ORDERS = {"C": torch.contiguous_format, "channels last": torch.channels_last}


def difference(made, expected):
    made = torch.as_tensor(iruka.asnumpy(made) if isinstance(made, iruka.ndarray) else made.cpu()).double()
    return float((made - expected).abs().max() / expected.abs().max())


def first_of(make):
    """What make() gives, its first result by the function that it returns, and the seconds of both."""
    begin = time.perf_counter()
    call = make()
    made = call()
    torch.cuda.synchronize()
    return call, made, time.perf_counter() - begin


def measured(network, program, image, expected, precision):
    """Of each library by name: milliseconds of a call, the difference, and seconds of the first call."""
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = precision == "tf32"
    given = iruka.asarray(image)
    eager = network.to(memory_format=torch.channels_last)

    def ours():
        model = nn.load(program, precision=precision)
        return lambda: model(given)

    def compiled():
        made = torch.compile(eager)
        return lambda: made(image)

    makers = {"Iruka": ours, "PyTorch, eager": lambda: lambda: eager(image), "torch.compile": compiled}
    with torch.inference_mode():
        made = {name: first_of(make) for name, make in makers.items()}
        batches = {name: repeated(call, CALLS) for name, (call, _, _) in made.items()}
        seconds = interleaved(batches, timer=device_timer(torch.cuda.synchronize))
    return {
        name: (seconds[name] / CALLS * 1e3, difference(result, expected), first)
        for name, (_, result, first) in made.items()
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--batch", type=int, default=64)
    parser.add_argument("--output", type=pathlib.Path, default=pathlib.Path("build/benchmarks"))
    options = parser.parse_args()
    torch.manual_seed(0)
    network = torchvision.models.resnet18(weights=None).eval().cuda()
    image = torch.randn(options.batch, 3, 224, 224, device="cuda")
    with torch.inference_mode():
        expected = network.double()(image.double()).cpu()
    network.float()
    rows, results = [], {}
    with tempfile.TemporaryDirectory() as folder:
        program = folder + "/resnet.pt2"
        torch.export.save(torch.export.export(network, (image,)), program)
        for precision, (order, memory_format) in itertools.product(("float32", "tf32"), ORDERS.items()):
            made = measured(network, program, image.to(memory_format=memory_format), expected, precision)
            results[f"{precision}, {order}"] = made
            own = made["Iruka"][0]
            for name, (time_of, error, first) in made.items():
                ratio = "" if name == "Iruka" else f"{time_of / own:.2f}"
                rows.append([precision, order, name, f"{time_of:.2f} ms", ratio, f"{error:.1e}", f"{first:.2f} s"])
    print(markdown(rows, ["precision", "images", "library", "batch", "its time / Iruka", "difference", "first call"]))
    options.output.mkdir(parents=True, exist_ok=True)
    (options.output / "gpu_convolutions.json").write_text(json.dumps(results, indent=1))


if __name__ == "__main__":
    main()
