"""Fits the orbit of a planet to measured velocities of its star: Kepler's equation, solved millions of times.

Where a planet stands on an eccentric orbit follows from E - e sin E = M, which has no closed form. Here a function of
numbers solves it by Newton's method, under Numba's `vectorize`. The planet is HD 80606 b; velocities are synthesised
from its published orbit, with noise of 5 m/s.

    python examples/kernels/kepler.py [--output out/kepler.png]
"""

import math

import numpy as np
from pictures import colours, command_line, plot, write

import iruka

PERIOD, AMPLITUDE, ECCENTRICITY, PERIASTRON = 111.44, 475.0, 0.933, 301.0  # days, m/s, -, degrees


@iruka.vectorize(["float32(float32, float32)", "float64(float64, float64)"], target="parallel")
def eccentric_anomaly(mean, eccentricity):
    mean -= 2 * math.pi * round(mean / (2 * math.pi))
    anomaly = mean + 0.85 * math.copysign(eccentricity, mean)
    for _ in range(30):
        sine, cosine = eccentricity * math.sin(anomaly), eccentricity * math.cos(anomaly)
        residual, slope = anomaly - sine - mean, 1 - cosine
        step = residual / (slope - 0.5 * residual * sine / slope)  # Halley's
        anomaly -= step
        if abs(step) < 1e-7:  # the next step would be of 1e-21
            break
    return anomaly


@iruka.vectorize(["float64(float64, float64, float64)"], target="parallel")
def velocity(anomaly, eccentricity, periastron):
    """The star's velocity as a part of its amplitude, from Kepler's anomaly."""
    true = 2 * math.atan2(
        math.sqrt(1 + eccentricity) * math.sin(anomaly / 2), math.sqrt(1 - eccentricity) * math.cos(anomaly / 2)
    )
    return math.cos(true + periastron) + eccentricity * math.cos(periastron)


def velocities(days, period, amplitude, eccentricity, periastron):
    """m/s at `days` after the passage of periastron (in degrees); all arguments broadcast."""
    anomaly = eccentric_anomaly(2 * np.pi / period * days, eccentricity)
    return amplitude * velocity(anomaly, eccentricity, np.pi / 180 * periastron)


def misfits(days, measured, error, periods, eccentricities):
    """float64 (periods, eccentricities): the mean square of what the orbits leave unexplained, in errors."""
    model = velocities(days, periods[:, None, None], AMPLITUDE, eccentricities[:, None], PERIASTRON)
    return (((measured - model) / error) ** 2).mean(axis=2)


def main():
    options = command_line(__doc__).parse_args()
    rng = np.random.default_rng(2)
    days = iruka.asarray(np.sort(rng.uniform(-400, 400, 120)))
    measured = velocities(days, PERIOD, AMPLITUDE, ECCENTRICITY, PERIASTRON) + iruka.asarray(rng.normal(0, 5, 120))
    periods, eccentricities = iruka.linspace(110.5, 112.5, 240), iruka.linspace(0.86, 0.98, 320)
    misfit = misfits(days, measured, 5.0, periods, eccentricities)
    row, column = divmod(int(misfit.argmin()), eccentricities.size)
    print(f"{misfit.size * days.size} solutions of Kepler's equation")
    print(f"period {float(periods[row]):.2f} days, eccentricity {float(eccentricities[column]):.3f}")
    best = velocities(iruka.linspace(-120, 120, 480), periods[row], AMPLITUDE, eccentricities[column], PERIASTRON)
    write(options.output, colours(-iruka.log(misfit)), plot([best], 240))


if __name__ == "__main__":
    main()
