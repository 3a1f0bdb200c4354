"""Exact nearest-neighbour field between two pictures, and one picture rebuilt from the patches of the other.

For every pixel of picture A this finds the pixel of picture B whose surrounding patch is nearest: the one with the
least sum of squared differences, the first in reading order where several are. Where a patch leaves its picture it sees
the nearest pixel inside. Every patch is compared with every other, so the answer is exact (PatchMatch, Barnes et al.,
ACM Transactions on Graphics 2009, finds a near one faster).

    python examples/patch_match.py A B OUT --patch-size 3
"""

import argparse
import sys
import time

import numpy as np

import iruka
from iruka import image

# Element i is pixel i of A. Both pictures have a border, so that no patch leaves them; each row of a patch is a run of
# `patch_size * channels` numbers. After each row, a patch that is already farther than the nearest so far is skipped.
nnf_kernel = iruka.ElementwiseKernel(
    in_params="raw float32 imgA, raw float32 imgB, int32 widthA, int32 widthB, int32 heightB, "
    "int32 channels, int32 patch_size",
    out_params="raw int32 nnf",
    preamble="""
    __device__ float patch_distance(const float* a, const float* b, int strideA, int strideB, int row, int rows,
                                    float least) {
        float distance = 0;
        for (int y = 0; y < rows && distance < least; y++) {
            for (int k = 0; k < row; k++) {
                float difference = a[k] - b[k];
                distance += difference * difference;
            }
            a += strideA;
            b += strideB;
        }
        return distance;
    }
    """,
    operation="""
    int strideA = (widthA + patch_size - 1) * channels;
    int strideB = (widthB + patch_size - 1) * channels;
    int xA = i % widthA;
    int yA = i / widthA;
    const float* a = &imgA[yA * strideA + xA * channels];
    int nearest_x = 0, nearest_y = 0;
    float least = 3.4e38f;
    for (int yB = 0; yB < heightB; yB++) {
        for (int xB = 0; xB < widthB; xB++) {
            const float* b = &imgB[yB * strideB + xB * channels];
            float distance = patch_distance(a, b, strideA, strideB, patch_size * channels, patch_size, least);
            if (distance < least) {
                least = distance;
                nearest_x = xB;
                nearest_y = yB;
            }
        }
    }
    nnf[i * 2] = nearest_x;
    nnf[i * 2 + 1] = nearest_y;
    """,
    name="nnf_kernel",
)


class ExactPatchMatch:
    """Matches the patches of `imgA` with those of `imgB`.

    patch_size: side of a patch in pixels, odd.
    imgA, imgB: NumPy's or Iruka's arrays (height, width) or (height, width, channels) with the same channels.

    Distances are sums in float32, exact for 8-bit pictures while a patch has at most 258 numbers (9 x 9 in colour).
    """

    def __init__(self, patch_size, imgA, imgB):
        if patch_size < 1 or patch_size % 2 == 0:
            raise ValueError(f"ExactPatchMatch: patch_size must be odd and positive, not {patch_size}")
        self.patch_size = patch_size
        self.imgA, self.imgB = iruka.asnumpy(imgA), iruka.asnumpy(imgB)
        shapes = self.imgA.shape, self.imgB.shape
        if any(len(shape) not in (2, 3) or 0 in shape for shape in shapes) or shapes[0][2:] != shapes[1][2:]:
            raise ValueError(
                "ExactPatchMatch: the pictures must be (height, width) or (height, width, channels) with "
                f"the same channels, not {shapes[0]} and {shapes[1]}"
            )
        self._borderedA, self._borderedB = self._with_border(self.imgA), self._with_border(self.imgB)
        self.nnf = None

    def _with_border(self, img):
        """float32 (height + 2r, width + 2r, channels), the edge repeated."""
        radius = self.patch_size // 2
        if img.ndim == 2:
            img = img[..., None]
        return np.pad(img.astype(np.float32), ((radius, radius), (radius, radius), (0, 0)), "edge")

    def get_nnf(self, strip=None, progress=None):
        """The field by the kernel: int32 (heightA, widthA, 2) of x and y in B. `progress(rows done, rows)` is called
        after every `strip` rows (default: all at once)."""
        heightA, widthA = self.imgA.shape[:2]
        heightB, widthB = self.imgB.shape[:2]
        strip = strip or heightA
        imgA, imgB = iruka.asarray(self._borderedA), iruka.asarray(self._borderedB)
        nnf = iruka.zeros((heightA, widthA, 2), dtype=iruka.int32)
        for top in range(0, heightA, strip):
            bottom = min(top + strip, heightA)
            nnf_kernel(
                imgA[top : bottom + self.patch_size - 1],
                imgB,
                widthA,
                widthB,
                heightB,
                imgA.shape[2],
                self.patch_size,
                nnf[top:bottom],
                size=(bottom - top) * widthA,
            )
            if progress:
                progress(bottom, heightA)
        self.nnf = iruka.asnumpy(nnf)
        return self.nnf

    def get_nnf_numpy(self, rows=None, progress=None):
        """The field by NumPy, for all of A or only its `rows`: (len(rows), widthA, 2). All patches of B are stacked
        once; each pixel of A then is one subtraction from the stack, one sum of squares, one argmin."""
        size = self.patch_size
        heightA, widthA = self.imgA.shape[:2]
        widthB = self.imgB.shape[1]
        all_rows = rows is None
        rows = range(heightA) if all_rows else rows
        patches = np.lib.stride_tricks.sliding_window_view(self._borderedB, (size, size), (0, 1))
        stack = patches.reshape(self.imgB.shape[0] * widthB, -1)
        patchesA = np.lib.stride_tricks.sliding_window_view(self._borderedA, (size, size), (0, 1))
        difference = np.empty_like(stack)
        nnf = np.empty((len(rows), widthA, 2), np.int32)
        for done, y in enumerate(rows):
            for x in range(widthA):
                np.subtract(stack, patchesA[y, x].ravel(), out=difference)
                nearest = np.einsum("ij,ij->i", difference, difference).argmin()
                nnf[done, x] = nearest % widthB, nearest // widthB
            if progress:
                progress(done + 1, len(rows))
        if all_rows:
            self.nnf = nnf
        return nnf

    def reconstruct(self):
        """A rebuilt from patches of B, in A's shape and B's dtype: the nearest patches are laid over one another and
        averaged. Call get_nnf first."""
        if self.nnf is None:
            raise ValueError("ExactPatchMatch.reconstruct: call get_nnf() or get_nnf_numpy() first")
        size, radius = self.patch_size, self.patch_size // 2
        height, width = self.imgA.shape[:2]
        x, y = self.nnf[..., 0], self.nnf[..., 1]
        total = np.zeros(self._borderedA.shape)
        count = np.zeros(self._borderedA.shape[:2] + (1,))
        for dy in range(size):
            for dx in range(size):
                total[dy : dy + height, dx : dx + width] += self._borderedB[y + dy, x + dx]
                count[dy : dy + height, dx : dx + width] += 1
        mean = (total / count)[radius : radius + height, radius : radius + width].reshape(self.imgA.shape)
        dtype = self.imgB.dtype
        return mean.round().astype(dtype) if np.issubdtype(dtype, np.integer) else mean.astype(dtype)


def main():
    parser = argparse.ArgumentParser(description="Rebuilds picture A from the patches of picture B.")
    parser.add_argument("A", help="the picture to rebuild (JPEG or PNG)")
    parser.add_argument("B", help="the picture whose patches are used")
    parser.add_argument("OUT", help="where the rebuilt picture goes")
    parser.add_argument("--patch-size", type=int, default=3, help="side of a patch, odd (default: 3)")
    parser.add_argument("--gray", action="store_true", help="match grey pictures")
    parser.add_argument("--numpy", action="store_true", help="match with NumPy and not with the kernel")
    arguments = parser.parse_args()
    mode = "gray" if arguments.gray else "rgb"
    imgA, imgB = image.imread(arguments.A, mode=mode), image.imread(arguments.B, mode=mode)
    try:
        match = ExactPatchMatch(arguments.patch_size, imgA, imgB)
    except ValueError as error:
        sys.exit(str(error))
    start = time.perf_counter()
    match.get_nnf_numpy() if arguments.numpy else match.get_nnf()
    print(f"elapsed time [s] : {time.perf_counter() - start:.3f}")
    image.imwrite(arguments.OUT, iruka.asarray(match.reconstruct()))


if __name__ == "__main__":
    main()
