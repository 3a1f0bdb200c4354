"""JPEGs decoded on a GPU, and decoded, resized to 240 x 240 and normalised, beside nvJPEG's own loop, in one run.

python benchmarks/gpu_pictures.py [--pictures FOLDER] [--batch 256] [--batches 16] [--rounds 5] [--output FOLDER]
The pictures of the folder are repeated to fill batches; without a folder they are made. Figures are pictures a second
over all batches until the GPU is done, medians of rounds in changing order. nvJPEG's loop calls nvjpegDecodeBatched
alone, by the hardware engine, into memory that is there. Iruka's rows are imdecode_batch(device="cuda"), a Chain on its
list, and imdecode_batch(chain=...), which decodes while chains run, from one thread and from two with a stream each.
"""

import argparse
import concurrent.futures
import ctypes
import functools
import itertools
import json
import pathlib
import statistics

import numpy as np

import iruka
from iruka import image
from measure import device_timer, interleaved_times, markdown

HARDWARE, INTERLEAVED_RGB = 3, 5
FLAGS = {"": 0, ", chroma interpolated": 1 << 5}


class NvjpegImage(ctypes.Structure):
    _fields_ = [("channel", ctypes.c_void_p * 4), ("pitch", ctypes.c_size_t * 4)]


def loaded_nvjpeg():
    """The library that Iruka found, which is loaded."""
    for line in pathlib.Path("/proc/self/maps").read_text().splitlines():
        if "libnvjpeg.so" in line:
            return ctypes.CDLL(line.split(maxsplit=5)[5])
    return None


def checked(status, call):
    if status:
        raise RuntimeError(f"{call} failed with status {status}")


class OwnLoop:
    """nvjpegDecodeBatched over batches, by `count` states with a stream each."""

    def __init__(self, library, batches, flags, count):
        self.library, self.batches = library, []
        self.handle = ctypes.c_void_p()
        checked(library.nvjpegCreateEx(HARDWARE, None, None, flags, ctypes.byref(self.handle)), "nvjpegCreateEx")
        self.states = []
        for _ in range(count):
            state = ctypes.c_void_p()
            checked(library.nvjpegJpegStateCreate(self.handle, ctypes.byref(state)), "nvjpegJpegStateCreate")
            self.states.append((state, iruka.cuda.Stream(non_blocking=True)))
        largest = max(sum(info_bytes(data) for data in batch) for batch in batches)
        self.memory = [iruka.empty(largest, "uint8", device="cuda") for _ in range(count)]
        for number, batch in enumerate(batches):
            place = self.memory[number % count].data.ptr
            images = (NvjpegImage * len(batch))()
            for data, made in zip(batch, images):
                height, width, channels = shape_of(data)
                made.channel[0], made.pitch[0] = place, width * channels
                place += info_bytes(data)
            pointers = (ctypes.c_char_p * len(batch))(*batch)
            lengths = (ctypes.c_size_t * len(batch))(*map(len, batch))
            self.batches.append((pointers, lengths, images))

    def __call__(self):
        decode = self.library.nvjpegDecodeBatched
        for number, (pointers, lengths, images) in enumerate(self.batches):
            state, stream = self.states[number % len(self.states)]
            if number >= len(self.states):
                stream.synchronize()
            start = self.library.nvjpegDecodeBatchedInitialize
            checked(start(self.handle, state, len(lengths), 1, INTERLEAVED_RGB), "nvjpegDecodeBatchedInitialize")
            status = decode(self.handle, state, pointers, lengths, images, ctypes.c_void_p(stream.ptr))
            checked(status, "nvjpegDecodeBatched")


@functools.cache
def shape_of(data):
    height, width = image.peek(data).shape[:2]
    return height, width, 3


def info_bytes(data):
    return -(-int(np.prod(shape_of(data))) // 256) * 256


def files_of(folder):
    if folder:
        files = [path.read_bytes() for path in sorted(pathlib.Path(folder).rglob("*.jpg"))]
        # The engine's own loop fails as a whole where one picture is not for it.
        return [data for data in files if len(image.peek(data).shape) == 3]
    rng = np.random.default_rng(0)
    noise = rng.integers(0, 256, (24, 32, 3)).astype(np.uint8)
    sizes = [(480, 640), (333, 500), (600, 800), (375, 500)]
    return [image.imencode("jpeg", iruka.asnumpy(image.resize(noise, size, "cubic")), 90) for size in sizes]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pictures", type=pathlib.Path)
    parser.add_argument("--batch", type=int, default=256)
    parser.add_argument("--batches", type=int, default=16)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--output", type=pathlib.Path)
    options = parser.parse_args()
    files = files_of(options.pictures)
    count = options.batch * options.batches
    endless = itertools.cycle(files)
    all_files = list(itertools.islice(endless, count))
    batches = [all_files[k : k + options.batch] for k in range(0, count, options.batch)]
    pixels = np.mean([np.prod(shape_of(data)[:2]) for data in all_files])
    decoder = image.jpeg_decoder("cuda")
    print(f"{iruka.cuda.Device(0)}: {decoder.name} {decoder.problem}; {len(files)} files, {pixels:.0f} pixels each")
    chain = image.Chain(
        [image.Resize((240, 240)), image.Normalize((123.7, 116.3, 103.5), (58.4, 57.1, 57.4)), image.Layout("CHW")]
    )
    decode = functools.partial(image.imdecode_batch, device="cuda")

    def over_threads(work, threads=2):
        def one(number):
            with iruka.cuda.Stream(non_blocking=True):
                for batch in batches[number::threads]:
                    work(batch)
                iruka.cuda.get_current_stream().synchronize()

        with concurrent.futures.ThreadPoolExecutor(threads) as pool:
            list(pool.map(one, range(threads)))

    def chained(batch):
        return chain(decode(batch))

    def decode_with_chain(batch):
        return decode(batch, chain=chain)

    candidates = {
        "Iruka, decode": lambda: [decode(batch) and None for batch in batches],
        "Iruka, decode, 2 threads": lambda: over_threads(decode),
        "Iruka, decode + chain": lambda: [chained(batch) and None for batch in batches],
        "Iruka, decode + chain, 2 threads": lambda: over_threads(chained),
        "Iruka, decode with chain": lambda: [decode_with_chain(batch) and None for batch in batches],
        "Iruka, decode with chain, 2 threads": lambda: over_threads(decode_with_chain),
    }
    decoded = decode(batches[0])
    candidates["Iruka, chain alone"] = lambda: [chain(decoded) and None for _ in batches]
    print("mean and largest difference from libjpeg, of the first files:")
    for data, made in list(zip(batches[0], decoded))[: min(len(files), 6)]:
        error = np.abs(iruka.asnumpy(made).astype(int) - iruka.asnumpy(image.imdecode(data, device="cpu")))
        print(f"  {made.shape}: {error.mean():.3f}, {error.max()}")
    library = loaded_nvjpeg()
    if library and "engine" in decoder.name:
        for (words, flags), states, size in itertools.product(FLAGS.items(), (1, 2), (options.batch, 64)):
            parts = [all_files[k : k + size] for k in range(0, count, size)]
            name = f"nvJPEG's loop, batches of {size}, states {states}{words}"
            try:
                loop = OwnLoop(library, parts, flags, states)
                loop()
                iruka.cuda.runtime.deviceSynchronize()
            except RuntimeError as error:
                print(f"{name}: {error}")
            else:
                candidates[name] = loop
    times = interleaved_times(
        candidates, options.rounds, warmup=1, timer=device_timer(iruka.cuda.runtime.deviceSynchronize)
    )
    cpu = {"Iruka, decode by the CPU, copied": lambda: [image.imdecode_batch(batches[0]) and None]}
    cpu_times = interleaved_times(
        cpu, options.rounds, warmup=1, timer=device_timer(iruka.cuda.runtime.deviceSynchronize)
    )
    rates = {name: count / statistics.median(each) for name, each in times.items()}
    rates.update({name: options.batch / statistics.median(each) for name, each in cpu_times.items()})
    own = max((rate for name, rate in rates.items() if name.startswith("nvJPEG")), default=None)
    rows = [
        [name, f"{rate:.0f}", f"{rate * pixels / 1e9:.2f}", f"{rate / own:.3f}" if own else ""]
        for name, rate in sorted(rates.items(), key=lambda item: -item[1])
    ]
    print(markdown(rows, ["what", "pictures/s", "10^9 pixels/s", "of nvJPEG's best loop"]))
    if options.output:
        options.output.mkdir(parents=True, exist_ok=True)
        (options.output / "gpu_pictures.json").write_text(json.dumps({"decoder": decoder, "rates": rates}, indent=1))


if __name__ == "__main__":
    main()
