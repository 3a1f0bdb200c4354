"""A random pipeline, its model and its consumer."""

import os
import signal
import time

import numpy as np

import iruka
from iruka import image
from iruka.pipeline import Decode, Function, Pipeline, SequentialSource, Source

EPOCHS = 4


def picture(number, is_uneven):
    height, width = (4 + number % 3, 5 + number % 2) if is_uneven else (5, 6)
    y, x, c = np.ogrid[:height, :width, :3]
    return ((y * 11 + x * 5 + c * 50 + number * 7) % 256).astype(np.uint8)


class Rows(Source):
    """Pictures by their number; those that are `bad` raise, some are slow."""

    fields = ("picture", "number")

    def __init__(self, pictures, bad, slow):
        self.pictures, self.bad, self.slow = pictures, bad, slow

    def __len__(self):
        return len(self.pictures)

    def __getitem__(self, index):
        if self.slow and index % 7 == 0:
            time.sleep(self.slow)
        if index in self.bad:
            raise ValueError(f"no row {index}")
        return self.pictures[index], index


class Stream(SequentialSource):
    """The same, one after the other; in some epochs it raises in the middle."""

    fields = ("picture", "number")

    def __init__(self, rows, faults):
        self.rows, self.faults = rows, faults

    def begin(self, epoch):
        self.epoch, self.at = epoch, 0

    def next(self, count):
        made = []
        for _ in range(min(count, len(self.rows.pictures) - self.at)):
            if self.faults.get(self.epoch) == self.at:
                raise OSError("the stream broke")
            made.append((self.rows.pictures[self.at], self.at))
            self.at += 1
        return made


class Case:
    def __init__(self, draw, folder):
        self.draw = draw
        self.size = draw.randint(1, 30)
        self.kind = draw.choice(["files", "arrays", "source", "stream"])
        self.is_uneven = self.kind != "arrays" and draw.random() < 0.4
        self.pictures = [picture(k, self.is_uneven) for k in range(self.size)]
        self.bad = {k for k in range(self.size) if draw.random() < draw.choice([0, 0.1, 0.5])}
        self.faults = {}
        self.slow = draw.choice([0, 0, 0.002])
        self.flips = draw.random() < 0.5
        self.options = {
            "batch_size": draw.choice([1, 2, 3, 5, 8, 50]),
            "seed": draw.randrange(2**64),
            "last_batch": draw.choice(["partial", "drop", "fill"]),
            "pad_last_batch": draw.random() < 0.3,
            "on_error": draw.choice(["raise", "skip", "replace"]),
        }
        if self.kind == "stream":
            self.faults = {e: draw.randrange(self.size) for e in range(EPOCHS + 3) if draw.random() < 0.3}
        else:
            shards = draw.choice([1, 1, 2, 3, 7])
            self.options |= {
                "shuffle": draw.random() < 0.6,
                "num_shards": shards,
                "shard_id": draw.randrange(shards),
                "stick_to_shard": draw.random() < 0.5,
            }
        if self.options["on_error"] == "replace":  # so that one of 16 draws is a good sample
            self.bad = set(sorted(self.bad)[: self.size // 4])
        self.source = self._source(folder)
        self.drawn = {}  # what a sample of an epoch has drawn
        self.samples = self.failed = 0
        self.orders = {}
        self.steps = []

    def __str__(self):
        own = {name: getattr(self, name) for name in ("kind", "size", "bad", "faults", "slow", "flips", "options")}
        return f"{own}\nsteps: {self.steps}"

    def _source(self, folder):
        rows = Rows(self.pictures, self.bad if self.kind == "source" else set(), self.slow)
        if self.kind == "stream":
            return Stream(rows, self.faults)
        if self.kind == "source":
            return rows
        if self.kind == "arrays":
            return {"picture": np.stack(self.pictures), "number": np.arange(self.size)}
        paths = []
        for number, each in enumerate(self.pictures):
            path = folder / f"{number:03}.png"
            image.imwrite(path, each)
            if number in self.bad:
                path.write_bytes(path.read_bytes()[: number % 3 * 20])
            paths.append(path)
        return iruka.pipeline.files(paths, list(range(self.size)))

    def _shift(self, pixels, number, draws):
        if self.kind in ("arrays", "stream") and int(np.asarray(number)) in self.bad:
            raise ValueError("a bad sample")
        drawn = draws.below(200)
        np.asarray(pixels)[...] += np.uint8(drawn)
        return pixels, np.int64(drawn)

    def make(self):
        names = ["picture", "label"] if self.kind == "files" else ["picture", "number"]
        stages = [Decode()] if self.kind == "files" else []
        stages += [image.Flip()] if self.flips else []
        stages.append(Function(self._shift, names, ["picture", "drawn"], draws=True))
        ahead = {"prefetch": self.draw.choice([0, 1, 2, 4]), "threads": self.draw.choice([None, 1, 2])}
        return Pipeline(self.source, stages, **self.options, **ahead)

    # The model.

    def order(self, epoch):
        """The indices and the number of repetitions at the end."""
        if epoch not in self.orders:
            self.orders[epoch] = self._order(epoch)
        return self.orders[epoch]

    def _order(self, epoch):
        shards, batch = self.options.get("num_shards", 1), self.options["batch_size"]
        shard = self.options.get("shard_id", 0)
        part = shard if self.options.get("stick_to_shard") else (shard + epoch) % shards
        begin, end = self.size * part // shards, self.size * (part + 1) // shards
        whole = list(range(self.size))
        if self.options.get("shuffle"):
            whole = self._shuffled(epoch)
        own = whole[begin:end]
        most = -(-self.size // shards) if self.options["pad_last_batch"] else len(own)
        if self.options["last_batch"] == "drop" and not self.options["pad_last_batch"]:
            return own[: len(own) // batch * batch], 0
        if not self.options["pad_last_batch"] and self.options["last_batch"] != "fill":
            return own, 0
        length = -(-most // batch) * batch
        last = own[-1] if own else whole[min(begin, self.size - 1)]
        return own + [last] * (length - len(own)), length - len(own)

    def _shuffled(self, epoch):
        """The order of all shards together, each shuffled as the pipeline does; a permutation."""
        options = {name: self.options[name] for name in ("seed", "shuffle", "num_shards", "stick_to_shard")}
        shards, whole = options["num_shards"], []
        for part in range(shards):
            shard = part if options["stick_to_shard"] else (part - epoch) % shards
            pipe = Pipeline(np.arange(self.size), [], 1, **options, shard_id=shard, prefetch=0)
            pipe.load_state_dict({**pipe.state_dict(), "epoch": epoch})
            while (batch := pipe._next()) is not None:
                whole += batch.info.indices
        assert sorted(whole) == list(range(self.size)), f"epoch {epoch} is no permutation: {whole}"
        return whole

    def batches(self, epoch):
        """For each batch its indices and repetitions; None where the stream breaks."""
        indices, padded = self.order(epoch)
        size = self.options["batch_size"]
        made = []
        for begin in range(0, len(indices), size):
            part = indices[begin : begin + size]
            if epoch in self.faults and begin <= self.faults[epoch] < begin + size:
                return [*made, None]
            made.append((part, max(0, begin + len(part) - (len(indices) - padded))))
        is_dropped = self.faults.get(epoch, -1) >= len(indices)
        return [*made, None] if is_dropped else made

    # The consumer.

    def run(self):
        self.pipe, self.place = self.make(), (0, 0)
        states = [self.pipe.state_dict()]
        actions = [self.take] * 12 + [self.stop_early, self.resume, self.remake, self.fork, self.change_threads]
        before = iruka.get_num_threads()
        self.states = states
        try:
            for _ in range(self.draw.randint(10, 60)):
                action = self.draw.choice(actions)
                self.steps.append((action.__name__, self.place))
                action()
                state = self.pipe.state_dict()
                assert (state["epoch"], state["batch"]) == self.place, f"{state} is not {self.place}"
                states.append(state)
                if self.place[0] >= EPOCHS:
                    break
        finally:
            iruka.set_num_threads(before)
            self.pipe.close()

    def check_counts(self):
        report = self.pipe.report()
        assert (report.samples, report.failed) == (self.samples, self.failed), (report, self.samples, self.failed)

    def take(self):
        epoch, number = self.place
        batches = self.batches(epoch)
        while number < len(batches):
            if batches[number] is None:
                self.expect(OSError, (epoch + 1, 0))
                return
            indices, padded = batches[number]
            own = indices[: max(len(indices) - padded, 1)]
            self.failed += sum(k in self.bad for k in own)
            number += 1
            if self.options["on_error"] == "raise" and self.bad & set(indices):
                self.expect((ValueError, OSError), (epoch, number))
                return
            good = [k for k in indices if k not in self.bad]
            if good or (self.options["on_error"] == "replace" and self.kind != "stream"):
                self.check(self.pipe._next(), epoch, number - 1, indices, padded)
                self.place = (epoch, number)
                return self.check_counts()
        assert self.pipe._next() is None
        self.place = (epoch + 1, 0)
        self.check_counts()

    def expect(self, errors, place):
        try:
            batch = self.pipe._next()
        except errors:
            self.place = place
            return self.check_counts()
        raise AssertionError(f"nothing was raised, but there is {batch and batch.info}")

    def check(self, batch, epoch, number, indices, padded):
        assert batch is not None and (batch.info.epoch, batch.info.number) == (epoch, number), batch and batch.info
        taken = batch.info.indices
        assert not self.bad & set(taken), f"bad samples in {taken}"
        if self.options["on_error"] == "replace":
            assert len(taken) == len(indices), f"{taken} for {indices}"
            assert all(a == b for a, b in zip(taken, indices, strict=True) if b not in self.bad)
            assert batch.info.padded == padded
        else:
            assert list(taken) == [k for k in indices if k not in self.bad]
        self.samples += len(taken) - batch.info.padded
        for k, pixels, drawn in zip(taken, batch.picture, np.asarray(batch.drawn).tolist(), strict=True):
            assert 0 <= drawn < 200
            if self.kind != "stream" or k in indices:
                is_own = self.options["on_error"] != "replace" or k in indices
                known = self.drawn.setdefault((epoch, k), drawn) if is_own else drawn
                assert known == drawn, f"sample {k} drew {drawn} and {known}"
            wanted = self.pictures[k][:, ::-1] if self.flips else self.pictures[k]
            np.testing.assert_array_equal(np.asarray(pixels), wanted + np.uint8(drawn))

    def stop_early(self):
        epoch, number = self.place
        self.pipe.reset()
        self.place = (epoch + 1, 0) if number else self.place

    def resume(self):
        state = self.draw.choice(self.states)
        self.pipe.load_state_dict(state)
        self.place = (state["epoch"], state["batch"])

    def remake(self):
        state = self.pipe.state_dict()
        if self.kind == "stream" or self.draw.random() < 0.5:  # a stream serves one pipeline at a time
            self.pipe.close()
        self.pipe = self.make()
        self.pipe.load_state_dict(state)
        self.samples = self.failed = 0

    def change_threads(self):
        iruka.set_num_threads(self.draw.randint(1, 4))

    def fork(self):
        is_killed = self.draw.random() < 0.3
        child = os.fork()
        if child == 0:
            signal.alarm(30)
            try:
                self.take()
                os._exit(0)
            except BaseException as error:
                print("in a child:", repr(error), flush=True)
                os._exit(1)
        if is_killed:
            time.sleep(self.draw.choice([0, 0.002, 0.01]))
            os.kill(child, signal.SIGKILL)
        status = os.waitpid(child, 0)[1]
        if not (is_killed and os.WIFSIGNALED(status)):
            assert status == 0, f"the child ended with {status}"
