"""Pictures per second of pipelines: decode, resize to 240 x 240, normalise, planes; beside the same with random crops,
reading and decoding alone, DALI's CPU pipeline, a torch DataLoader with Pillow, and loops over OpenCV and Pillow.
Libraries that are not installed are left out.

    benchmarks/pipeline.py --pictures FOLDER [--threads 1] [--rounds 5] [--device cpu]

FOLDER has folders of JPEGs. A second set of pictures is made from them: 1000 x 1000, quality 90.
"""

from __future__ import annotations

import argparse
import pathlib
import statistics
import tempfile
import time

import numpy as np

import iruka
from iruka import image
from iruka.pipeline import Decode, Pipeline, RandomFlip, RandomResizedCrop

SIDE = 240
BATCH = 32
AHEAD = 4  # batches that are not timed: a pipeline may have made them while others ran
MEAN, STD = 127.5, 64.0
RESIZE = image.Resize((SIDE, SIDE))
TO_FLOATS = [image.Normalize(MEAN, STD), image.Layout("CHW")]


def pipeline_of(stages, paths, threads, device):
    pipe = Pipeline(
        paths, [Decode(), *stages, *TO_FLOATS], batch_size=BATCH, threads=threads, device=device, last_batch="fill"
    )
    while True:
        for batch in pipe:
            yield len(batch.info.indices)


def iruka_pipeline(paths, threads, device):
    return pipeline_of([RESIZE], paths, threads, device)


def iruka_crops(paths, threads, device):
    return pipeline_of([RandomResizedCrop((SIDE, SIDE)), RandomFlip()], paths, threads, device)


def decoding_alone(paths, threads, device):
    """The same files, read and decoded by the same threads, into memory that earlier batches had."""
    del threads
    while True:
        for begin in range(0, len(paths), BATCH):
            yield len(image.imread_batch(paths[begin : begin + BATCH], device=device))


def loop_of(paths, one):
    """A loop in Python, batch by batch."""
    while True:
        for begin in range(0, len(paths), BATCH):
            yield len(np.stack([one(path) for path in paths[begin : begin + BATCH]]))


def opencv_loop(paths, threads, device):
    del device
    import cv2

    cv2.setNumThreads(threads)

    def one(path):
        picture = cv2.cvtColor(cv2.imread(path), cv2.COLOR_BGR2RGB)
        picture = cv2.resize(picture, (SIDE, SIDE), interpolation=cv2.INTER_AREA)
        return ((picture.astype(np.float32) - MEAN) * (1 / STD)).transpose(2, 0, 1)

    return loop_of(paths, one)


def pillow_picture(path):
    from PIL import Image

    picture = np.asarray(Image.open(path).convert("RGB").resize((SIDE, SIDE), Image.Resampling.BILINEAR))
    return ((picture.astype(np.float32) - MEAN) * (1 / STD)).transpose(2, 0, 1)


def pillow_loop(paths, threads, device):
    del threads, device
    return loop_of(paths, pillow_picture)


def torch_loader(paths, threads, device):
    del device
    import torch.utils.data

    class Pictures(torch.utils.data.Dataset):
        def __len__(self):
            return len(paths)

        def __getitem__(self, index):
            return torch.from_numpy(np.ascontiguousarray(pillow_picture(paths[index])))

    torch.set_num_threads(1)
    loader = torch.utils.data.DataLoader(Pictures(), batch_size=BATCH, num_workers=threads, persistent_workers=True)
    while True:
        for batch in loader:
            yield len(batch)


def dali_pipeline(paths, threads, device):
    from nvidia.dali import fn, pipeline_def, types

    on_gpu = device != "cpu"

    @pipeline_def(batch_size=BATCH, num_threads=threads, device_id=0 if on_gpu else None, prefetch_queue_depth=2)
    def made():
        files, _ = fn.readers.file(files=paths, name="reader")
        pictures = fn.decoders.image(files, device="mixed" if on_gpu else "cpu", output_type=types.RGB)
        pictures = fn.resize(pictures, resize_x=SIDE, resize_y=SIDE)
        return fn.crop_mirror_normalize(
            pictures, mean=[MEAN] * 3, std=[STD] * 3, output_layout="CHW", dtype=types.FLOAT
        )

    pipe = made()
    pipe.build()
    while True:
        yield len(pipe.run()[0])


WAYS = {
    "Iruka": iruka_pipeline,
    "Iruka, crops": iruka_crops,
    "decoding alone": decoding_alone,
    "DALI": dali_pipeline,
    "DataLoader": torch_loader,
    "OpenCV loop": opencv_loop,
    "Pillow loop": pillow_loop,
}


def megapixel_pictures(paths, folder):
    """Pictures of 1 MP, of the samples' contents."""
    made = []
    for number, path in enumerate(paths):
        picture = image.resize(image.imread(path), (1000, 1000), "cubic")
        made.append(f"{folder}/{number}.jpg")
        image.imwrite(made[-1], picture, quality=90)
    return made


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pictures", required=True)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--batches", type=int, default=16)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--ways", nargs="*", default=list(WAYS))
    given = parser.parse_args()
    iruka.set_num_threads(given.threads)
    samples = [str(path) for path in sorted(pathlib.Path(given.pictures).glob("*/*.jpg"))]
    with tempfile.TemporaryDirectory() as folder:
        sets = {"samples": (samples, given.batches), "1 MP": (megapixel_pictures(samples, folder), given.batches // 4)}
        for name, (paths, batches) in sets.items():
            compare(name, paths * 8, max(batches, 2), given)


def rate(way, batches):
    """Pictures per second of so many batches."""
    for _ in range(AHEAD):
        next(way)
    begin = time.perf_counter()
    count = sum(next(way) for _ in range(batches))
    return count / (time.perf_counter() - begin)


def compare(name, paths, batches, given):
    ways = {}
    for label in given.ways:
        try:
            ways[label] = WAYS[label](paths, given.threads, given.device)
            next(ways[label])
        except ImportError as error:
            print(f"{label}: left out ({error})")
            ways.pop(label)
    rates: dict[str, list[float]] = {label: [] for label in ways}
    for _ in range(given.rounds):
        for label, way in ways.items():
            rates[label].append(rate(way, batches))
    for label, values in rates.items():
        ratios = [ours / theirs for ours, theirs in zip(rates["Iruka"], values, strict=True)]
        median = statistics.median(values)
        print(f"{name:8} {label:16} {median:9.0f} pictures/s   Iruka/{label}: {statistics.median(ratios):.2f}")


if __name__ == "__main__":
    main()
