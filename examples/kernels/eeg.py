"""Takes the hum of the mains and the drift out of an EEG of many channels: recursive filters by guvectorize.

A recursive filter (IIR) computes each sample from those before it, so the samples of a channel cannot be computed side
by side; the channels can. The EEG is synthesised: alpha waves, slow drift, noise of the electrodes and hum of 50 Hz.

    python examples/kernels/eeg.py [--output out/eeg.png]
"""

import numpy as np
from pictures import command_line, plot, write

import iruka

RATE = 500.0  # samples per second


@iruka.guvectorize(
    ["void(float32[:], float32[:, :], float32[:])", "void(float64[:], float64[:, :], float64[:])"], "(n),(s,c)->(n)"
)
def filtered(x, sections, out):
    """Sections of second order one after the other, in the transposed direct form II: b0, b1, b2, a0 = 1, a1, a2."""
    for k in range(len(x)):
        out[k] = x[k]
    for s in sections:
        b0, b1, b2, a1, a2 = s[0], s[1], s[2], s[4], s[5]
        first = second = 0.0
        for k in range(len(x)):
            value = out[k]
            result = b0 * value + first
            first = b1 * value - a1 * result + second
            second = b2 * value - a2 * result
            out[k] = result


def section(kind, frequency, quality):
    """A filter of second order by Bristow-Johnson's formulas: lets only `frequency` through, or all else ("notch")."""
    angle = 2 * np.pi * frequency / RATE
    alpha = np.sin(angle) / (2 * quality)
    b = (alpha, 0, -alpha) if kind == "pass" else (1, -2 * np.cos(angle), 1)
    return np.array([*b, 1 + alpha, -2 * np.cos(angle), 1 - alpha]) / (1 + alpha)


def recording(channels, seconds):
    """float64 (channels, samples) in microvolts."""
    rng = np.random.default_rng(7)
    time, phase = np.arange(int(seconds * RATE)) / RATE, rng.uniform(0, 2 * np.pi, (channels, 1))
    bursts = np.clip(np.sin(2 * np.pi * 0.3 * time + phase), 0, 1)
    drift = np.cumsum(rng.normal(0, 1.0, (channels, time.size)), axis=1)
    hum = 30 * np.sin(2 * np.pi * 50 * time + phase) + 8 * np.sin(2 * np.pi * 150 * time)
    alpha = 20 * bursts * np.sin(2 * np.pi * 10 * time + 3 * phase)
    return alpha + drift + hum + rng.normal(0, 4, alpha.shape)


def main():
    options = command_line(__doc__).parse_args()
    raw = iruka.asarray(recording(64, 30))
    sections = np.stack([section("notch", 50, 20), section("notch", 150, 20), section("pass", 10, 1.0)])
    alpha = filtered(raw, iruka.asarray(sections))
    before, after = (float(x[:, 1000:].std(axis=1).mean()) for x in (raw, alpha))  # after the filters have settled
    print(f"before: {before:.1f} µV, after: {after:.1f} µV")
    shown = np.s_[3, 5000:5640]
    write(options.output, np.vstack([plot([raw[shown] - raw[shown].mean()]), plot([alpha[shown]], 120)]))


if __name__ == "__main__":
    main()
