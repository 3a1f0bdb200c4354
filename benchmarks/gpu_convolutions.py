"""ResNet-18 on a GPU beside PyTorch, eager and compiled, in one run.

python benchmarks/gpu_convolutions.py [--batch 64] [--output build/benchmarks]
The network is torchvision's with random weights, its program comes through torch.export. Both libraries compute with
TF32 or both without. Times are medians of the device; a ratio is PyTorch's time over Iruka's. Differences are those of
float64 results, relative to the largest number.
"""

import argparse
import json
import pathlib
import tempfile
import time

import torch
import torchvision

import iruka
from iruka import nn
from measure import markdown


def milliseconds(call, rounds=15, calls=5):
    """The median of rounds, by events on the default stream."""
    for _ in range(3):
        call()
    times = []
    for _ in range(rounds):
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        begin.record(torch.cuda.default_stream())
        for _ in range(calls):
            call()
        end.record(torch.cuda.default_stream())
        end.synchronize()
        times.append(begin.elapsed_time(end) / calls)
    return sorted(times)[rounds // 2]


def difference(made, expected):
    made = torch.as_tensor(iruka.asnumpy(made) if isinstance(made, iruka.ndarray) else made.cpu()).double()
    return float((made - expected).abs().max() / expected.abs().max())


def measured(network, program, image, expected, precision):
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = precision == "tf32"
    begin = time.perf_counter()
    model = nn.load(program, precision=precision)
    given = iruka.asarray(image)
    made = model(given)
    iruka.cuda.Device().synchronize()
    first = time.perf_counter() - begin
    rows = {"Iruka": (milliseconds(lambda: model(given)), difference(made, expected), first)}
    with torch.inference_mode():
        last = image.to(memory_format=torch.channels_last)
        eager = network.to(memory_format=torch.channels_last)
        rows["PyTorch, eager"] = (milliseconds(lambda: eager(last)), difference(eager(last), expected), None)
        begin = time.perf_counter()
        compiled = torch.compile(eager)
        made = compiled(last)
        torch.cuda.synchronize()
        first = time.perf_counter() - begin
        rows["torch.compile"] = (milliseconds(lambda: compiled(last)), difference(made, expected), first)
    return rows


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
        for precision in ("float32", "tf32"):
            results[precision] = measured(network, program, image, expected, precision)
            own = results[precision]["Iruka"][0]
            for name, (time_of, error, first) in results[precision].items():
                ratio = "" if name == "Iruka" else f"{time_of / own:.2f}"
                seconds = "" if first is None else f"{first:.2f} s"
                rows.append([precision, name, f"{time_of:.2f} ms", ratio, f"{error:.1e}", seconds])
    print(markdown(rows, ["precision", "library", "batch", "its time / Iruka", "difference", "first call"]))
    options.output.mkdir(parents=True, exist_ok=True)
    (options.output / "gpu_convolutions.json").write_text(json.dumps(results, indent=1))


if __name__ == "__main__":
    main()
