"""Takes the noise from a photograph and keeps its edges: the bilateral filter of Tomasi and Manduchi (1998).

Each pixel becomes a weighted mean of its neighbours. A neighbour counts less if it is far away or has another grey.

    python examples/kernels/bilateral.py [--output out/bilateral.jpg]
"""

import numpy as np
from pictures import command_line, photograph, write

import iruka

bilateral = iruka.ElementwiseKernel(
    "raw const float32 image, int32 width, int32 height, int32 radius, float32 near, float32 alike",
    "float32 out",
    """
    int x = i % width, y = i / width;
    float grey = image[i], sum = 0, weights = 0;
    for (int dy = -radius; dy <= radius; dy++) {
        for (int dx = -radius; dx <= radius; dx++) {
            if (x + dx < 0 || x + dx >= width || y + dy < 0 || y + dy >= height) continue;
            float other = image[i + dy * width + dx];
            float weight = expf(-near * (dx * dx + dy * dy) - alike * (other - grey) * (other - grey));
            sum += weight * other;
            weights += weight;
        }
    }
    out = sum / weights;
    """,
    "bilateral",
)


def denoised(picture, radius=5, distance=2.5, contrast=45.0):
    """float32 (height, width), filtered; `distance` (pixels) and `contrast` (greys) say how fast weights fall."""
    height, width = picture.shape
    out = iruka.empty_like(picture)
    return bilateral(picture, width, height, radius, 0.5 / distance**2, 0.5 / contrast**2, out)


def signal_to_noise(picture, truth):
    """The peak signal-to-noise ratio in decibels."""
    return 10 * np.log10(255**2 / float(((picture - truth) ** 2).mean()))


def main():
    options = command_line(__doc__).parse_args()
    truth = photograph("camera.png", "gray").astype(np.float32)
    noise = np.random.default_rng(0).normal(0, 20, truth.shape).astype(np.float32)
    noisy = truth + iruka.asarray(noise)
    clean = denoised(noisy)
    print(f"noisy:    {signal_to_noise(noisy, truth):.1f} dB")
    print(f"filtered: {signal_to_noise(clean, truth):.1f} dB")
    middle = np.s_[60:260, 130:330]
    write(options.output, noisy[middle], clean[middle])


if __name__ == "__main__":
    main()
