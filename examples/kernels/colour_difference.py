"""Keeps one colour of a photograph: the difference of colours that people see, CIEDE2000, as a plain Python function.

`iruka.vectorize` is numpy.vectorize: a function of numbers, with branches, is called for every pixel.

    python examples/kernels/colour_difference.py [--output out/colour_difference.jpg]
"""

from math import atan2, cos, degrees, exp, hypot, radians, sin, sqrt

import numpy as np
from pictures import command_line, photograph, write

import iruka


def linear(s):
    """The light of an sRGB value 0...255."""
    s = s / 255
    return s / 12.92 if s <= 0.04045 else ((s + 0.055) / 1.055) ** 2.4


def root(t):
    return t ** (1 / 3) if t > 0.008856 else 7.787 * t + 16 / 116


@iruka.vectorize
def lab(red, green, blue):
    """CIE 1976 L*, a*, b* of an sRGB colour (white D65)."""
    r, g, b = linear(red), linear(green), linear(blue)
    x = root((0.412453 * r + 0.357580 * g + 0.180423 * b) / 0.95047)
    y = root(0.212671 * r + 0.715160 * g + 0.072169 * b)
    z = root((0.019334 * r + 0.119193 * g + 0.950227 * b) / 1.08883)
    return 116 * y - 16, 500 * (x - y), 200 * (y - z)


def hue(a, b):
    return degrees(atan2(b, a)) % 360 if a or b else 0.0


@iruka.vectorize
def ciede2000(l1, a1, b1, l2, a2, b2):
    """The formula of Sharma, Wu and Dalal (2005)."""
    mean_chroma = (hypot(a1, b1) + hypot(a2, b2)) / 2
    grey = 0.5 * (1 - sqrt(mean_chroma**7 / (mean_chroma**7 + 25.0**7)))
    a1, a2 = (1 + grey) * a1, (1 + grey) * a2
    c1, c2, h1, h2 = hypot(a1, b1), hypot(a2, b2), hue(a1, b1), hue(a2, b2)
    turn, mean_hue = h2 - h1, h1 + h2
    if c1 * c2 == 0:
        turn = 0.0
    elif abs(turn) > 180:
        turn -= 360 if turn > 0 else -360
        mean_hue = (mean_hue + 360) / 2 if mean_hue < 360 else (mean_hue - 360) / 2
    else:
        mean_hue /= 2
    bright, chroma = (l1 + l2) / 2 - 50, (c1 + c2) / 2
    t = 1 - 0.17 * cos(radians(mean_hue - 30)) + 0.24 * cos(radians(2 * mean_hue))
    t += 0.32 * cos(radians(3 * mean_hue + 6)) - 0.2 * cos(radians(4 * mean_hue - 63))
    dl = (l2 - l1) / (1 + 0.015 * bright**2 / sqrt(20 + bright**2))
    dc = (c2 - c1) / (1 + 0.045 * chroma)
    dh = 2 * sqrt(c1 * c2) * sin(radians(turn / 2)) / (1 + 0.015 * chroma * t)
    bend = 60 * exp(-(((mean_hue - 275) / 25) ** 2))
    return sqrt(dl**2 + dc**2 + dh**2 - 2 * sqrt(chroma**7 / (chroma**7 + 25.0**7)) * sin(radians(bend)) * dc * dh)


def difference(picture, colour):
    """float64 (height, width): how far each pixel of an sRGB picture is from a colour (red, green, blue)."""
    return ciede2000(*lab(picture[..., 0], picture[..., 1], picture[..., 2]), *lab(*colour))


def main():
    options = command_line(__doc__).parse_args()
    picture = photograph("astronaut.png")
    far = difference(picture, (200, 90, 50))  # the orange of the suit
    print(f"{100 * float((far < 20).mean()):.1f} % of the pixels are within 20 of the suit's orange")
    grey = picture.mean(axis=2, keepdims=True)
    part = np.s_[150:500, 60:410]
    write(options.output, picture[part], iruka.where((far < 20)[..., None], picture, grey)[part])


if __name__ == "__main__":
    main()
