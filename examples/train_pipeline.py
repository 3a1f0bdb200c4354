"""Trains a small network to tell classes of photographs apart; a pipeline reads, decodes and changes the photographs.

    train_pipeline.py FOLDER [--device cuda] [--epochs 20] [--batch 8] [--size 240]

FOLDER has a folder for each class, or a file_list.txt of lines "name label". Needs PyTorch. The network is that of an
introduction to DALI: two convolutions and three linear layers. Each epoch prints the mean loss, the part of the
photographs that were told apart, photographs per second, and how much of the time the network was at work: what is left
to 100 % it waited for photographs.
"""

import argparse
import pathlib
import sys
import time

from iruka import image, pipeline
from iruka.pipeline import Decode, Pipeline, RandomFlip, RandomResizedCrop, Uniform

try:
    import torch
    from torch import nn
except ImportError:
    torch = None


def photographs(folder, size, batch, device):
    """Batches of float32 (batch, 3, size, size) and labels, different in each epoch."""
    names = folder / "file_list.txt"
    source = pipeline.file_list(names) if names.exists() else pipeline.folder(folder)
    stages = [
        Decode(reducing_gap=2),
        RandomResizedCrop((size, size), area=(0.4, 1.0)),
        RandomFlip(),
        image.Rotate(Uniform(-10, 10)),
        image.Brightness(Uniform(0.7, 1.3)),
        image.Saturation(Uniform(0.7, 1.3)),
        image.Normalize(127.5, 64.0),
        image.Layout("CHW"),
    ]
    options = {"shuffle": True, "seed": 12, "device": device, "on_error": "skip", "output": "torch"}
    return Pipeline(source, stages, batch, **options)


def small_network(size, classes):
    side = ((size - 2) // 2 - 2) // 2
    return nn.Sequential(
        nn.Conv2d(3, 6, 3),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Conv2d(6, 16, 3),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Flatten(),
        nn.Linear(16 * side * side, 128),
        nn.ReLU(),
        nn.Linear(128, 84),
        nn.ReLU(),
        nn.Linear(84, classes),
    )


class Stopwatch:
    """Seconds in which the network is at work, on a GPU by its own clock."""

    def __init__(self, device):
        self.device = device
        self.marks = []

    def mark(self):
        if self.device == "cuda":
            event = torch.cuda.Event(enable_timing=True)
            event.record()
            self.marks.append(event)
        else:
            self.marks.append(time.perf_counter())

    def seconds(self):
        pairs = list(zip(self.marks[::2], self.marks[1::2], strict=True))
        if self.device != "cuda":
            return sum(end - begin for begin, end in pairs)
        torch.cuda.synchronize()
        return sum(begin.elapsed_time(end) for begin, end in pairs) / 1e3


def train_epoch(batches, model, optimizer, device):
    """The sum of the losses, how many classes were right, how many photographs, seconds of the network."""
    watch, count = Stopwatch(device), 0
    loss_sum, right = torch.zeros((), device=device), torch.zeros((), device=device)
    for pictures, labels in batches:
        watch.mark()
        optimizer.zero_grad()
        outputs = model(pictures)
        loss = nn.functional.cross_entropy(outputs, labels)
        loss.backward()
        optimizer.step()
        loss_sum += loss.detach() * len(labels)
        right += (outputs.detach().argmax(1) == labels).sum()
        count += len(labels)
        watch.mark()
    return loss_sum.item(), right.item(), count, watch.seconds()


def positive(text):
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"{number} is not positive")
    return number


def main():
    parser = argparse.ArgumentParser(
        description=__doc__.splitlines()[0], formatter_class=argparse.ArgumentDefaultsHelpFormatter
    )
    parser.add_argument("folder", type=pathlib.Path, help="a folder for each class, or a file_list.txt")
    parser.add_argument("--device", choices=["cpu", "cuda"], default="cpu", help="where batches are made and used")
    parser.add_argument("--epochs", type=positive, default=20, help="passes over all photographs")
    parser.add_argument("--batch", type=positive, default=8, help="photographs in a batch")
    parser.add_argument("--size", type=positive, default=240, help="height and width for the network, in pixels")
    options = parser.parse_args()
    if torch is None:
        sys.exit("train_pipeline.py trains with PyTorch, which is not installed: pip install torch")
    if options.device == "cuda" and not torch.cuda.is_available():
        sys.exit("train_pipeline.py: PyTorch finds no GPU here; --device cpu trains without one")

    torch.manual_seed(12)
    with photographs(options.folder, options.size, options.batch, options.device) as batches:
        classes = int(max(batches.source.labels)) + 1
        model = small_network(options.size, classes).to(options.device)
        optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
        for epoch in range(options.epochs):
            begin = time.perf_counter()
            loss, right, count, worked = train_epoch(batches, model, optimizer, options.device)
            elapsed = time.perf_counter() - begin
            print(
                f"epoch {epoch + 1:3}: loss {loss / count:.3f}, {right / count:4.0%} right, "
                f"{count / elapsed:6.0f} photographs/s, network at work {worked / elapsed:4.0%}"
            )
        report = batches.report()
        if report.failed:
            print(report)
        print(batches.profile())


if __name__ == "__main__":
    main()
