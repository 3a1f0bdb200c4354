"""Hears a radio station: FM demodulation of complex samples, as a function of arrays that `fuse` makes one kernel.

A receiver delivers complex numbers (I and Q). The frequency at a time is the angle between a sample and the next one.
The signal is synthesised: a melody on a carrier, noise, and a fading signal in the second half.

    python examples/kernels/fm_radio.py [--output out/fm_radio.png]
"""

import numpy as np
from pictures import command_line, plot, write

import iruka

RATE, DEVIATION = 240_000, 75_000.0  # samples per second; Hz at full volume


@iruka.fuse
def demodulated(samples, squelch):
    """The sound, -1...1, and zero where the signal is weaker than `squelch`."""
    steps = samples[1:] * samples[:-1].conj()
    sound = iruka.angle(steps) * (RATE / (2 * np.pi * DEVIATION))
    return iruka.where(abs(steps) > squelch**2, sound, 0)


def loudness(sound, rate):
    """The volume of each hundredth of a second."""
    return iruka.sqrt((sound[: sound.size // (rate // 100) * (rate // 100)].reshape(-1, rate // 100) ** 2).mean(axis=1))


def melody(seconds):
    """float64 of -1...1: four tones after each other."""
    time = np.arange(int(seconds * RATE)) / RATE
    tones = np.array([440.0, 554.37, 659.25, 880.0])[(time * 4 / seconds).astype(int)]
    return 0.8 * np.sin(2 * np.pi * np.cumsum(tones) / RATE)


def received(sound, noise=0.05):
    """complex64: the station's signal at the receiver."""
    rng = np.random.default_rng(5)
    phase = 2 * np.pi * DEVIATION / RATE * np.cumsum(sound)
    strength = np.linspace(1.6, 0.1, sound.size)
    noises = rng.normal(0, noise, (2, sound.size))
    return (strength * np.exp(1j * phase) + noises[0] + 1j * noises[1]).astype(np.complex64)


def main():
    options = command_line(__doc__).parse_args()
    sound = melody(2.0)
    samples = iruka.asarray(received(sound))
    heard = demodulated(samples, 0.3)
    first = np.s_[: sound.size // 2]
    error = float(((heard[first] - iruka.asarray(sound[1:][first])) ** 2).mean())
    print(f"{samples.size} samples, signal to noise {10 * np.log10(np.mean(sound[first] ** 2) / error):.1f} dB")
    print(f"{100 * float((heard == 0).mean()):.1f} % are silenced")
    shown = np.s_[100_000:102_400:4]
    write(options.output, np.vstack([plot([samples.real[shown], samples.imag[shown]], 120), plot([heard[shown]], 120)]))


if __name__ == "__main__":
    main()
