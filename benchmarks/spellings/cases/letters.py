"""Bytes of text: letters, UTF-8, patterns, edit distances."""

import numpy as np

from ..computation import Computation, computation


@computation(full=(300_000, 256), small=(2, 3), odd=(13, 37))
def fold_case(rows, width):
    text = np.random.default_rng(1).integers(0, 256, (rows, width), dtype=np.uint8)
    small = (text >= ord("A")) & (text <= ord("Z"))
    table = np.arange(256, dtype=np.uint8)
    table[ord("A") : ord("Z") + 1] += 32
    return Computation(
        title=f"letters made small, {rows}x{width} bytes",
        data=dict(text=text, letter=text, table=table, rows=rows, width=width, count=text.size),
        outputs=dict(folded=np.zeros_like(text)),
        expected=lambda: {"folded": np.where(small, text + np.uint8(32), text)},
        native=("text", "count", "folded"),
    )


@computation(full=(200_000, 64), small=(2, 3), odd=(101, 37))
def utf8_length(rows, width):
    rng = np.random.default_rng(2)
    alphabet = [letter.encode() for letter in "abcdefghijklmnop äöüß αβγ いるか 🐬"]
    text = np.zeros((rows, width), np.uint8)
    lengths = np.zeros(rows, np.int32)
    words = []  # a few texts, drawn for all rows
    for _ in range(256):
        word, letters = b"", 0
        for letter in rng.integers(0, len(alphabet), rng.integers(0, width + 1)):
            if len(word) + len(alphabet[letter]) > width:
                break
            word, letters = word + alphabet[letter], letters + 1
        words.append((np.frombuffer(word.ljust(width, b"\0"), np.uint8), letters))
    drawn = rng.integers(0, len(words), rows)
    text[:] = np.array([word for word, _ in words])[drawn]

    def expected():
        lengths[:] = [len(bytes(row).rstrip(b"\0").decode()) for row in text]
        return {"length": lengths}

    return Computation(
        title=f"characters of UTF-8, {rows} rows of up to {width} bytes",
        data=dict(text=text, width=width, rows=rows),
        outputs=dict(length=np.zeros(rows, np.int32)),
        expected=expected,
        native=("text", "width", "rows", "length"),
    )


@computation(full=(200_000, 64), small=(2, 3), odd=(101, 37))
def count_pattern(rows, width):
    rng = np.random.default_rng(3)
    text = np.frombuffer(b"the t", np.uint8)[rng.integers(0, 5, (rows, width))]
    return Computation(
        title=f'occurrences of "the", {rows} rows of {width} bytes',
        data=dict(text=text, pattern=np.frombuffer(b"the", np.uint8), width=width, pattern_width=3, rows=rows),
        outputs=dict(found=np.zeros(rows, np.int32)),
        expected=lambda: {"found": np.array([bytes(row).count(b"the") for row in text], np.int32)},
        native=("text", "width", "rows", "found"),
    )


@computation(full=(300_000,), small=(3,), odd=(1001,))
def edit_distance(count):
    rng = np.random.default_rng(4)
    a = rng.integers(ord("a"), ord("g"), (count, 12), dtype=np.uint8)
    b = np.where(rng.random(a.shape) < 0.6, np.roll(a, 1, 1), rng.integers(ord("a"), ord("g"), a.shape, dtype=np.uint8))

    def expected():
        table = np.zeros((13, 13, count), np.int32)
        table[0], table[:, 0] = np.arange(13)[:, None], np.arange(13)[:, None]
        for p in range(1, 13):
            for q in range(1, 13):
                by_change = table[p - 1, q - 1] + (a[:, p - 1] != b[:, q - 1])
                table[p, q] = np.minimum(np.minimum(table[p - 1, q], table[p, q - 1]) + 1, by_change)
        return {"distance": table[12, 12]}

    return Computation(
        title=f"edit distances of words of 12 letters, {count} pairs",
        data=dict(a=a, b=b, length=12, count=count),
        outputs=dict(distance=np.zeros(count, np.int32)),
        expected=expected,
        native=("a", "b", "count", "distance"),
    )
