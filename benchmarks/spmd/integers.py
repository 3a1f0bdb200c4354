"""Bodies on whole numbers: SHA-256, MurmurHash3, SplitMix64, Euclid."""

import hashlib

import numpy as np

from body import Body, Peer, body, equal, numba_peer, numpy_peer


def first_primes(count):
    primes, candidate = [], 2
    while len(primes) < count:
        if all(candidate % prime for prime in primes):
            primes.append(candidate)
        candidate += 1
    return primes


def root_bits(number, root):
    """The first 32 bits of the fraction of a whole number's root, exactly."""
    scaled = number << 32 * root
    low, high = 0, 1 << 40
    while low + 1 < high:  # the greatest whole number whose power does not exceed `scaled`
        middle = (low + high) // 2
        low, high = (middle, high) if middle**root <= scaled else (low, middle)
    return low & 0xFFFFFFFF


ROUND_CONSTANTS = [root_bits(prime, 3) for prime in first_primes(64)]
START = [root_bits(prime, 2) for prime in first_primes(8)]

SHA256 = """
__device__ const uint32_t kRound[64] = {%s};

__device__ uint32_t turned(uint32_t x, int count) { return x >> count | x << (32 - count); }

__device__ void compress(uint32_t* state, uint32_t* w) {
    uint32_t a = state[0], b = state[1], c = state[2], d = state[3];
    uint32_t e = state[4], f = state[5], g = state[6], h = state[7];
    for (int t = 0; t < 64; t++) {
        if (t >= 16) {
            uint32_t early = w[(t - 15) & 15], late = w[(t - 2) & 15];
            w[t & 15] += w[(t - 7) & 15] + (turned(early, 7) ^ turned(early, 18) ^ early >> 3) +
                         (turned(late, 17) ^ turned(late, 19) ^ late >> 10);
        }
        uint32_t first = h + (turned(e, 6) ^ turned(e, 11) ^ turned(e, 25)) + ((e & f) ^ (~e & g));
        first += kRound[t] + w[t & 15];
        uint32_t second = (turned(a, 2) ^ turned(a, 13) ^ turned(a, 22)) + ((a & b) ^ (a & c) ^ (b & c));
        h = g; g = f; f = e; e = d + first; d = c; c = b; b = a; a = first + second;
    }
    state[0] += a; state[1] += b; state[2] += c; state[3] += d;
    state[4] += e; state[5] += f; state[6] += g; state[7] += h;
}

__device__ uint32_t swapped(uint32_t x) { return x << 24 | (x & 0xff00) << 8 | (x >> 8 & 0xff00) | x >> 24; }
""" % ", ".join(f"0x{value:08x}u" for value in ROUND_CONSTANTS)


def sha256_by_numpy(words):
    """Digests (n, 8) of messages (n, 16), words in big-endian order."""
    u = np.uint32
    turned = lambda x, count: x >> u(count) | x << u(32 - count)
    padding = np.zeros(16, np.uint32)
    padding[0], padding[15] = 0x80000000, 512
    state = [np.full(len(words), value, np.uint32) for value in START]
    for block in (
        [np.ascontiguousarray(words[:, k]) for k in range(16)],
        [np.full(len(words), value, np.uint32) for value in padding],
    ):
        w = list(block)
        for t in range(16, 64):
            early, late = w[t - 15], w[t - 2]
            w.append(
                w[t - 16]
                + w[t - 7]
                + (turned(early, 7) ^ turned(early, 18) ^ early >> u(3))
                + (turned(late, 17) ^ turned(late, 19) ^ late >> u(10))
            )
        a, b, c, d, e, f, g, h = state
        for t in range(64):
            first = (
                h + (turned(e, 6) ^ turned(e, 11) ^ turned(e, 25)) + ((e & f) ^ (~e & g)) + u(ROUND_CONSTANTS[t]) + w[t]
            )
            second = (turned(a, 2) ^ turned(a, 13) ^ turned(a, 22)) + ((a & b) ^ (a & c) ^ (b & c))
            a, b, c, d, e, f, g, h = first + second, a, b, c, d + first, e, f, g
        state = [old + new for old, new in zip(state, (a, b, c, d, e, f, g, h))]
    return np.stack(state, -1)


@body
def sha256():
    count = 2**15
    messages = np.random.default_rng(0).integers(0, 2**32, (count, 16), dtype=np.uint32)
    digests = np.zeros((count, 8), np.uint32)

    def by_hashlib():
        data = messages.tobytes()
        found = b"".join([hashlib.sha256(data[k : k + 64]).digest() for k in range(0, len(data), 64)])
        return [np.frombuffer(found, np.uint32).reshape(count, 8)]

    def by_numba(numba):
        constants, start, u = np.array(ROUND_CONSTANTS, np.uint32), np.array(START, np.uint32), np.uint32

        @numba.njit
        def turned(x, turns):
            return u(x >> u(turns)) | u(x << u(32 - turns))

        @numba.njit
        def compress(state, w):
            a, b, c, d, e, f, g, h = state[0], state[1], state[2], state[3], state[4], state[5], state[6], state[7]
            for t in range(64):
                if t >= 16:
                    early, late = w[(t - 15) & 15], w[(t - 2) & 15]
                    w[t & 15] += (
                        w[(t - 7) & 15]
                        + (turned(early, 7) ^ turned(early, 18) ^ (early >> u(3)))
                        + (turned(late, 17) ^ turned(late, 19) ^ (late >> u(10)))
                    )
                first = u(
                    h + (turned(e, 6) ^ turned(e, 11) ^ turned(e, 25)) + ((e & f) ^ (~e & g)) + constants[t] + w[t & 15]
                )
                second = u((turned(a, 2) ^ turned(a, 13) ^ turned(a, 22)) + ((a & b) ^ (a & c) ^ (b & c)))
                h, g, f, e, d, c, b, a = g, f, e, u(d + first), c, b, a, u(first + second)
            for k, value in enumerate((a, b, c, d, e, f, g, h)):
                state[k] += value

        @numba.njit
        def swapped(x):
            return u(x << u(24)) | u((x & u(0xFF00)) << u(8)) | u((x >> u(8)) & u(0xFF00)) | u(x >> u(24))

        @numba.njit(parallel=True)
        def digest(messages, digests):
            for i in numba.prange(count):
                state, w = start.copy(), np.zeros(16, np.uint32)
                for k in range(16):
                    w[k] = swapped(messages[i, k])
                compress(state, w)
                w[:] = u(0)
                w[0], w[15] = u(0x80000000), u(512)
                compress(state, w)
                for k in range(8):
                    digests[i, k] = swapped(state[k])

        def call():
            digest(messages, digests)
            return [digests]

        return call

    return Body(
        title="SHA-256 of a 64-byte message, two compressions, 2^15 messages",
        kernel=dict(
            in_params="raw uint32 messages",
            out_params="raw uint32 digests",
            preamble=SHA256,
            operation="""
            uint32_t state[8] = {%s};
            uint32_t w[16];
            for (int k = 0; k < 16; k++) w[k] = swapped(messages[i * 16 + k]);
            compress(state, w);
            for (int k = 0; k < 16; k++) w[k] = 0;
            w[0] = 0x80000000u;
            w[15] = 512;
            compress(state, w);
            for (int k = 0; k < 8; k++) digests[i * 8 + k] = swapped(state[k]);
            """
            % ", ".join(f"0x{value:08x}u" for value in START),
        ),
        inputs=[messages],
        outputs=[np.zeros_like(digests)],
        size=count,
        items=count,
        unit="messages/s",
        reference="hashlib",
        peers={
            "hashlib": Peer(lambda: by_hashlib),
            "numpy": numpy_peer(lambda: [sha256_by_numpy(messages.byteswap()).byteswap()]),
            "numba": numba_peer(by_numba),
        },
        close=equal,
    )


@body
def murmur():
    count, u = 2**21, np.uint32
    x = np.random.default_rng(0).integers(0, 2**32, count, dtype=np.uint32)
    out = np.zeros_like(x)

    def mix(h):
        h = (h ^ (h >> u(16))) * u(0x85EBCA6B)
        h = (h ^ (h >> u(13))) * u(0xC2B2AE35)
        return h ^ (h >> u(16))

    def by_numba(numba):
        @numba.njit(parallel=True)
        def hashed(x, out):
            for i in numba.prange(count):
                h = x[i]
                h = u((h ^ (h >> u(16))) * u(0x85EBCA6B))
                h = u((h ^ (h >> u(13))) * u(0xC2B2AE35))
                out[i] = h ^ (h >> u(16))

        def call():
            hashed(x, out)
            return [out]

        return call

    return Body(
        title="MurmurHash3's 32-bit finaliser, 2^21 elements",
        kernel=dict(
            in_params="uint32 x",
            out_params="uint32 h",
            operation="h = x; h ^= h >> 16; h *= 0x85ebca6bu; h ^= h >> 13; h *= 0xc2b2ae35u; h ^= h >> 16;",
        ),
        inputs=[x],
        outputs=[np.zeros_like(x)],
        items=count,
        unit="hashes/s",
        peers={"numpy": numpy_peer(lambda: [mix(x)]), "numba": numba_peer(by_numba)},
        close=equal,
    )


@body
def splitmix64():
    count, u = 2**20, np.uint64
    x = np.random.default_rng(0).integers(0, 2**64, count, dtype=np.uint64)

    def by_numpy():
        z = x.copy()
        for _ in range(4):
            z += u(0x9E3779B97F4A7C15)
            z = (z ^ (z >> u(30))) * u(0xBF58476D1CE4E5B9)
            z = (z ^ (z >> u(27))) * u(0x94D049BB133111EB)
            z ^= z >> u(31)
        return [z]

    return Body(
        title="SplitMix64 four times, 64-bit products, 2^20 elements",
        kernel=dict(
            in_params="uint64 x",
            out_params="uint64 z",
            operation="""
                    z = x;
                    for (int k = 0; k < 4; k++) {
                        z += 0x9e3779b97f4a7c15ull;
                        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
                        z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
                        z ^= z >> 31;
                    }
                    """,
        ),
        inputs=[x],
        outputs=[np.zeros_like(x)],
        items=count,
        unit="elements/s",
        peers={"numpy": numpy_peer(by_numpy)},
        close=equal,
    )


def euclid(dtype, title):
    count = 2**17
    x, y = (np.random.default_rng(seed).integers(1, 2**31 - 1, count).astype(dtype) for seed in (0, 1))
    return Body(
        title=title,
        kernel=dict(
            in_params=f"{dtype} x, {dtype} y",
            out_params=f"{dtype} divisor",
            operation=f"""
            {dtype}_t a = x, b = y;
            while (b != 0) {{
                {dtype}_t rest = a % b;
                a = b;
                b = rest;
            }}
            divisor = a;
            """,
        ),
        inputs=[x, y],
        outputs=[np.zeros_like(x)],
        items=count,
        unit="pairs/s",
        peers={"numpy": numpy_peer(lambda: [np.gcd(x, y)])},
        close=equal,
    )


@body
def gcd_int32():
    return euclid("int32", "greatest common divisor, a remainder a step, int32, 2^17 pairs")


@body
def gcd_int64():
    return euclid("int64", "greatest common divisor, a remainder a step, int64, 2^17 pairs")


@body
def polynomial_int64():
    count = 2**20
    x = np.random.default_rng(0).integers(-(2**40), 2**40, count)
    return Body(
        title="int64 sums, products and shifts, 2^20 elements",
        kernel=dict(
            in_params="int64 x",
            out_params="int64 z",
            operation="z = ((x * 3 + 7) * x >> 5) - (x & 255) * (x >> 13) + max(x, (int64_t)12345);",
        ),
        inputs=[x],
        outputs=[np.zeros_like(x)],
        items=count,
        unit="elements/s",
        peers={"numpy": numpy_peer(lambda: [((x * 3 + 7) * x >> 5) - (x & 255) * (x >> 13) + np.maximum(x, 12345)])},
        close=equal,
    )
