"""A map of relaxation times from echoes of magnetic resonance: a fit for every pixel by apply_along_axis.

After a pulse the signal of tissue decays as exp(-t / T2). An image is taken at each of 16 times; T2 is the slope of a
line through the logarithms. The fit is written for one pixel, as for NumPy. The tissue is the Shepp-Logan phantom.

    python examples/kernels/t2_map.py [--output out/t2_map.png]
"""

import numpy as np
from pictures import colours, command_line, photograph, write

import iruka

ECHOES = np.linspace(10, 160, 16)  # milliseconds


def relaxation_time(signal, least=20.0):
    """T2 in milliseconds of one pixel's echoes; 0 where there is no tissue."""
    if signal[0] < least:
        return 0.0
    use = np.maximum(signal, 1)
    slope, _ = np.polyfit(ECHOES, np.log(use), 1, w=use)  # weak echoes count less
    return -1 / slope


def t2_map(echoes):
    """float64 (height, width) of an array (height, width, 16)."""
    return iruka.apply_along_axis(relaxation_time, 2, echoes)


def scan(noise=3.0):
    """float64 (height, width, 16): the echoes of the phantom, and its true T2."""
    density = iruka.asnumpy(photograph("phantom.png", "gray"))[40:360:2, 40:360:2].astype(float)
    truth = np.select([density == 0, density < 60, density < 120], [0, 90, 60], 140)
    with np.errstate(divide="ignore"):
        decay = np.where(density[..., None] > 0, np.exp(-ECHOES / truth[..., None]), 0)
    rng = np.random.default_rng(3)
    real, imaginary = rng.normal(0, noise, (2, *decay.shape))
    return np.hypot((density[..., None] + 40 * (density[..., None] > 0)) * decay + real, imaginary), truth


def main():
    options = command_line(__doc__).parse_args()
    echoes, truth = scan()
    times = t2_map(iruka.asarray(echoes))
    for value in (60, 90, 140):
        print(f"tissue of {value} ms: {float(np.median(iruka.asnumpy(times)[truth == value])):.1f} ms measured")
    write(options.output, echoes[..., 0], echoes[..., 8], colours(times, 0, 160))


if __name__ == "__main__":
    main()
