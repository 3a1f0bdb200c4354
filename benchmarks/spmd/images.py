"""Bodies on pictures: the articles' patch matching and local mean, HSV, medians."""

import importlib.resources

import numpy as np

from body import Body, body, equal, mostly, near, numba_peer, numpy_peer
from peers import intrinsics_peer, ispc_peer


def photograph(name, height, width):
    """float32 (height, width, 3), 0 to 255 in whole numbers: a photograph of scikit-image, else smooth noise."""
    try:
        from iruka import asnumpy, image

        path = importlib.resources.files("skimage") / "data" / name
        full = asnumpy(image.imread(str(path)))[..., :3]
        rows = np.linspace(0, full.shape[0] - 1, height).astype(int)
        columns = np.linspace(0, full.shape[1] - 1, width).astype(int)
        return np.ascontiguousarray(full[rows][:, columns], dtype=np.float32)
    except ImportError:
        rng = np.random.default_rng(len(name))
        steps = rng.integers(-6, 7, (height, width, 3)).cumsum(0).cumsum(1)
        return (np.abs(steps) % 511 - 255).__abs__().astype(np.float32)


# As the article has it.
PATCH_MATCH = dict(
    in_params="raw float32 imgA, raw float32 imgB,\
               uint16 widthA, uint16 heightA,\
               uint16 widthB, uint16 heightB,\
               uint16 pr",
    out_params="raw uint16 nnf",
    preamble="""
    __device__ int get_x_idx(int i, int width) {
        return i%width;
    }
    __device__ int get_y_idx(int i, int width) {
        return i/width;
    }
    __device__ float inter_patch_MSE(int widthA, int heightA,
                                     int widthB, int heightB,
                                     int x_A, int y_A,
                                     int x_B, int y_B,
                                     CArray<float, 3> &imgA,
                                     CArray<float, 3> &imgB, int pr) {
        int ix_A;
        int iy_A;
        int ix_B;
        int iy_B;
        int i_A;
        int i_B;
        float MSE = 0;
        for (int dy = pr*(-1); dy <= pr; dy++){
            for (int dx = pr*(-1); dx <= pr; dx++){
                ix_A = x_A + dx;
                iy_A = y_A + dy;
                ix_B = x_B + dx;
                iy_B = y_B + dy;
                ix_A = max(0, min(widthA - 1, ix_A));
                iy_A = max(0, min(heightA - 1, iy_A));
                ix_B = max(0, min(widthB - 1, ix_B));
                iy_B = max(0, min(heightB - 1, iy_B));

                i_A = ix_A + widthA * iy_A;
                i_B = ix_B + widthB * iy_B;

                MSE += powf(imgA[i_A*3] - imgB[i_B*3], 2);
                MSE += powf(imgA[i_A*3+1] - imgB[i_B*3+1], 2);
                MSE += powf(imgA[i_A*3+2] - imgB[i_B*3+2], 2);
            }
        }
        MSE = MSE / ((pr*2+1) * 3);
        return MSE;
    }
    """,
    operation="""
    int x_A = get_x_idx(i, widthA);
    int y_A = get_y_idx(i, widthA);

    float min_MSE = 1e6;
    float MSE;
    int nnp[2];
    for (int y_B = 0; y_B < heightB; y_B++) {
        for (int x_B = 0; x_B < widthB; x_B++) {
            MSE = inter_patch_MSE(widthA, heightA,
                                  widthB, heightB,
                                  x_A, y_A, x_B, y_B,
                                  imgA, imgB, pr);
            if (MSE < min_MSE) {
                min_MSE = MSE;
                nnp[0] = x_B;
                nnp[1] = y_B;
            }
        }
    }
    nnf[i*2] = nnp[0];
    nnf[i*2+1] = nnp[1];
    """,
)


@body
def patch_match():
    height, width = 134, 200
    a, b = photograph("coffee.png", height, width), photograph("astronaut.png", height, width)
    few = width * 10  # what the slow ones do of the picture
    sampled = np.random.default_rng(0).choice(height * width, 40, replace=False)
    windows = [
        np.lib.stride_tricks.sliding_window_view(
            np.pad(each, ((1, 1), (1, 1), (0, 0)), "edge"), (3, 3), (0, 1)
        ).reshape(height * width, 27)
        for each in (a, b)
    ]
    patches = [np.ascontiguousarray(each) for each in windows]

    def by_numpy():
        nearest = np.empty((len(sampled), 2), np.uint16)
        for row, k in enumerate(sampled):
            difference = patches[1] - patches[0][k]
            least = np.einsum("ij,ij->i", difference, difference).argmin()
            nearest[row] = least % width, least // width
        return [nearest]

    def by_numba(numba):
        nnf = np.empty((height, width, 2), np.uint16)

        @numba.njit
        def distance(a, b, x_a, y_a, x_b, y_b):
            total = np.float32(0)
            for dy in range(-1, 2):
                for dx in range(-1, 2):
                    ya, xa = max(0, min(height - 1, y_a + dy)), max(0, min(width - 1, x_a + dx))
                    yb, xb = max(0, min(height - 1, y_b + dy)), max(0, min(width - 1, x_b + dx))
                    for channel in range(3):
                        difference = a[ya, xa, channel] - b[yb, xb, channel]
                        total += difference * difference
            return total

        @numba.njit(parallel=True)
        def match(a, b, nnf):
            for k in numba.prange(few):
                y_a, x_a = k // width, k % width
                least = np.float32(1e6)
                for y_b in range(height):
                    for x_b in range(width):
                        found = distance(a, b, x_a, y_a, x_b, y_b)
                        if found < least:
                            least = found
                            nnf[y_a, x_a, 0], nnf[y_a, x_a, 1] = x_b, y_b

        def call():
            match(a, b, nnf)
            return [nnf.reshape(-1, 2)[:few]]

        return call

    pairs = (height * width) ** 2
    return Body(
        title="patch matching, the article's text, 3x3 patches, 200x134 against 200x134",
        kernel=PATCH_MATCH,
        inputs=[a, b, width, height, width, height, 1],
        outputs=[np.zeros((height, width, 2), np.uint16)],
        size=height * width,
        items=pairs,
        unit="pairs/s",
        flops=pairs * 27 * 3,  # a subtraction, a product and a sum for each number
        peers={
            "numpy": numpy_peer(
                by_numpy,
                share=len(sampled) / (height * width),
                pick=lambda outputs: [outputs[0].reshape(-1, 2)[sampled]],
            ),
            "numba": numba_peer(
                by_numba, share=few / (height * width), pick=lambda outputs: [outputs[0].reshape(-1, 2)[:few]]
            ),
            "intrinsics": intrinsics_peer(
                "patch_match", [a, b, height, width], [np.zeros((height, width, 2), np.uint16)]
            ),
            "ispc": ispc_peer("patch_match", [a, b, height, width], [np.zeros((height, width, 2), np.uint16)]),
        },
        close=equal,  # sums of squares of whole numbers below 2^24 are exact
        small_inputs=[a, b, width, height, 2, 1, 1],
        scalar_size=few,
    )


# As the article has it.
LOCAL_MEAN = dict(
    in_params="raw float32 input, int16 width, int16 height",
    out_params="float32 output",
    preamble="""
    __device__ int get_x_idx(int i, int width) {
        return i%width;
    }
    __device__ int get_y_idx(int i, int width) {
        return i/width;
    }
    __device__ float calc_local_mean(int x_idx, int y_idx,
                                     int width, int height,
                                     CArray<float, 2> &input) {
        float mean = 0;
        int count = 0;
        for (int dy = -1; dy <= 1; dy++) {
            for (int dx = -1; dx <= 1; dx++) {
                int x = x_idx + dx;
                int y = y_idx + dy;
                if (x < 0 || x >= width || y < 0 || y >= height) continue;
                int idx[] = {y, x};
                mean += input[idx];
                count += 1;
            }
        }
        return mean / count;
    }
    """,
    operation="""
    int x_idx = get_x_idx(i, width);
    int y_idx = get_y_idx(i, width);
    output = calc_local_mean(x_idx, y_idx, width, height, input);
    """,
)


@body
def local_mean():
    height, width = 1200, 1600
    x = np.random.default_rng(0).random((height, width), dtype=np.float32)
    out = np.zeros_like(x)

    def by_numpy():
        padded, counted = np.pad(x, 1), np.pad(np.ones_like(x), 1)
        total, count = np.zeros_like(x), np.zeros_like(x)
        for dy in range(3):
            for dx in range(3):
                total += padded[dy : dy + height, dx : dx + width]
                count += counted[dy : dy + height, dx : dx + width]
        return [total / count]

    def by_numba(numba):
        @numba.njit(parallel=True)
        def mean(x, out):
            for y in numba.prange(height):
                for column in range(width):
                    total, count = np.float32(0), 0
                    for dy in range(-1, 2):
                        for dx in range(-1, 2):
                            if 0 <= y + dy < height and 0 <= column + dx < width:
                                total += x[y + dy, column + dx]
                                count += 1
                    out[y, column] = total / np.float32(count)

        def call():
            mean(x, out)
            return [out]

        return call

    return Body(
        title="3x3 local mean with borders, the article's text, 1600x1200",
        kernel=LOCAL_MEAN,
        inputs=[x, width, height],
        outputs=[np.zeros_like(x)],
        items=x.size,
        unit="pixels/s",
        peers={
            "numpy": numpy_peer(by_numpy),
            "numba": numba_peer(by_numba),
            "ispc": ispc_peer("local_mean", [x, height, width], [np.zeros_like(x)]),
        },
        close=near(1e-6),
    )


HSV = """
    float high = max(r, max(g, b)), low = min(r, min(g, b));
    float range = high - low, hue = 0;
    if (range > 0) {
        if (high == r) hue = (g - b) / range + (g < b ? 6.0f : 0.0f);
        else if (high == g) hue = (b - r) / range + 2;
        else hue = (r - g) / range + 4;
    }
    float saturation = high > 0 ? range / high : 0;
"""


def hsv_by_numpy(rgb):
    """Hue in sixths of a turn, saturation, value, float32."""
    r, g, b = rgb[..., 0], rgb[..., 1], rgb[..., 2]
    high, low = rgb.max(-1), rgb.min(-1)
    spread = high - low
    with np.errstate(divide="ignore", invalid="ignore"):
        hue = np.where(
            high == r,
            (g - b) / spread + np.where(g < b, np.float32(6), np.float32(0)),
            np.where(high == g, (b - r) / spread + np.float32(2), (r - g) / spread + np.float32(4)),
        )
        return np.where(spread > 0, hue, np.float32(0)), np.where(high > 0, spread / high, np.float32(0)), high


def hsv_by_numba(numba):
    @numba.njit
    def convert(r, g, b):
        high, low = max(r, g, b), min(r, g, b)
        spread, hue = high - low, np.float32(0)
        if spread > 0:
            if high == r:
                hue = (g - b) / spread + (np.float32(6) if g < b else np.float32(0))
            elif high == g:
                hue = (b - r) / spread + np.float32(2)
            else:
                hue = (r - g) / spread + np.float32(4)
        return hue, (spread / high if high > 0 else np.float32(0)), high

    return convert


@body
def hsv_float32():
    rgb = np.ascontiguousarray(photograph("coffee.png", 1024, 1536) / np.float32(255))
    out = np.zeros_like(rgb)

    def by_numpy():
        hue, saturation, value = hsv_by_numpy(rgb)
        return [np.stack([hue * np.float32(60), saturation, value], -1)]

    def by_numba(numba):
        convert = hsv_by_numba(numba)

        @numba.njit(parallel=True)
        def picture(rgb, out):
            for y in numba.prange(rgb.shape[0]):
                for x in range(rgb.shape[1]):
                    hue, saturation, value = convert(rgb[y, x, 0], rgb[y, x, 1], rgb[y, x, 2])
                    out[y, x, 0], out[y, x, 1], out[y, x, 2] = hue * np.float32(60), saturation, value

        def call():
            picture(rgb, out)
            return [out]

        return call

    pixels = rgb.size // 3
    return Body(
        title="RGB to HSV, float32, three channels interleaved, 1536x1024",
        kernel=dict(
            in_params="raw float32 rgb",
            out_params="raw float32 hsv",
            operation="float r = rgb[i * 3], g = rgb[i * 3 + 1], b = rgb[i * 3 + 2];"
            + HSV
            + "hsv[i * 3] = hue * 60; hsv[i * 3 + 1] = saturation; hsv[i * 3 + 2] = high;",
        ),
        inputs=[rgb],
        outputs=[np.zeros_like(rgb)],
        size=pixels,
        items=pixels,
        unit="pixels/s",
        peers={
            "numpy": numpy_peer(by_numpy),
            "numba": numba_peer(by_numba),
            "intrinsics": intrinsics_peer("hsv", [rgb, pixels], [np.zeros_like(rgb)]),
            "ispc": ispc_peer("hsv", [rgb, pixels], [np.zeros_like(rgb)]),
        },
        close=near(1e-6),
    )


@body
def hsv_uint8():
    rgb = photograph("coffee.png", 1024, 1536).astype(np.uint8)
    out = np.zeros_like(rgb)

    def by_numpy():
        hue, saturation, value = hsv_by_numpy(rgb.astype(np.float32))
        half = np.float32(0.5)
        return [
            np.stack([hue * np.float32(30) + half, saturation * np.float32(255) + half, value], -1).astype(np.uint8)
        ]

    def by_numba(numba):
        convert = hsv_by_numba(numba)

        @numba.njit(parallel=True)
        def picture(rgb, out):
            half = np.float32(0.5)
            for y in numba.prange(rgb.shape[0]):
                for x in range(rgb.shape[1]):
                    hue, saturation, value = convert(
                        np.float32(rgb[y, x, 0]), np.float32(rgb[y, x, 1]), np.float32(rgb[y, x, 2])
                    )
                    out[y, x, 0] = np.uint8(hue * np.float32(30) + half)
                    out[y, x, 1] = np.uint8(saturation * np.float32(255) + half)
                    out[y, x, 2] = np.uint8(value)

        def call():
            picture(rgb, out)
            return [out]

        return call

    pixels = rgb.size // 3
    return Body(
        title="RGB to HSV, uint8, three channels interleaved, 1536x1024",
        kernel=dict(
            in_params="raw uint8 rgb",
            out_params="raw uint8 hsv",
            operation="float r = rgb[i * 3], g = rgb[i * 3 + 1], b = rgb[i * 3 + 2];"
            + HSV
            + "hsv[i * 3] = hue * 30 + 0.5f; hsv[i * 3 + 1] = saturation * 255 + 0.5f; hsv[i * 3 + 2] = high;",
        ),
        inputs=[rgb],
        outputs=[np.zeros_like(rgb)],
        size=pixels,
        items=pixels,
        unit="pixels/s",
        peers={"numpy": numpy_peer(by_numpy), "numba": numba_peer(by_numba)},
        close=mostly(1e-3, most=1),
    )


TAPS = """
    int x = i % width, y = i / width;
    int left = max(x - 1, 0), right = min(x + 1, width - 1), above = max(y - 1, 0), below = min(y + 1, height - 1);
    float window[5] = {image[y * width + x], image[y * width + left], image[y * width + right],
                       image[above * width + x], image[below * width + x]};
"""


def median(title, text, by_hand):
    height, width = 1024, 1536
    image = np.ascontiguousarray(photograph("coffee.png", height, width)[..., 1])
    image += np.random.default_rng(0).normal(0, 20, image.shape).astype(np.float32)
    out = np.zeros_like(image)

    def by_numpy():
        padded = np.pad(image, 1, "edge")
        taps = [
            padded[1 + dy : 1 + dy + height, 1 + dx : 1 + dx + width]
            for dy, dx in ((0, 0), (0, -1), (0, 1), (-1, 0), (1, 0))
        ]
        return [np.sort(np.stack(taps, -1), axis=-1)[..., 2].copy()]

    def by_numba(numba):
        middle = by_hand(numba)

        @numba.njit(parallel=True)
        def picture(image, out):
            for y in numba.prange(height):
                for x in range(width):
                    out[y, x] = middle(
                        image[y, x],
                        image[y, max(x - 1, 0)],
                        image[y, min(x + 1, width - 1)],
                        image[max(y - 1, 0), x],
                        image[min(y + 1, height - 1), x],
                    )

        def call():
            picture(image, out)
            return [out]

        return call

    return Body(
        title=title,
        kernel=dict(
            in_params="raw float32 image, int32 width, int32 height", out_params="float32 out", operation=TAPS + text
        ),
        inputs=[image, width, height],
        outputs=[np.zeros_like(image)],
        items=image.size,
        unit="pixels/s",
        peers={"numpy": numpy_peer(by_numpy), "numba": numba_peer(by_numba)},
        close=equal,
    )


@body
def median_network():
    def by_hand(numba):
        @numba.njit
        def middle(e, a, b, c, d):
            low, high = max(min(a, b), min(c, d)), min(max(a, b), max(c, d))
            return max(min(low, high), min(max(low, high), e))

        return middle

    return median(
        "5-tap median, network of min and max, float32, 1536x1024",
        """
    float low = max(min(window[1], window[2]), min(window[3], window[4]));
    float high = min(max(window[1], window[2]), max(window[3], window[4]));
    out = max(min(low, high), min(max(low, high), window[0]));
    """,
        by_hand,
    )


@body
def median_sort():
    def by_hand(numba):
        @numba.njit
        def middle(a, b, c, d, e):
            window = (a, b, c, d, e)
            for candidate in window:  # the value with two below it, ties shared out
                below, same = 0, 0
                for other in window:
                    below += other < candidate
                    same += other == candidate
                if below <= 2 < below + same:
                    return candidate
            return a

        return middle

    return median(
        "5-tap median, insertion sort of a local array, float32, 1536x1024",
        """
    for (int k = 1; k < 5; k++) {
        float value = window[k];
        int place = k;
        while (place > 0 && window[place - 1] > value) {
            window[place] = window[place - 1];
            place--;
        }
        window[place] = value;
    }
    out = window[2];
    """,
        by_hand,
    )
