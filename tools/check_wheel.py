"""Tries a wheel as a user would: in an empty environment, without a compiler on PATH and without LLVM's libraries.

Usage: check_wheel.py WHEEL. Prints the wheel's size and contents; exits 1 with the reason when a check fails.
"""

import os
import pathlib
import re
import subprocess
import sys
import tempfile
import venv
import zipfile

# Libraries of every Linux with this glibc; the wheel must contain all others.
SYSTEM_LIBRARIES = re.compile(
    r"^(linux-vdso|libc|libm|libdl|libpthread|librt|libstdc\+\+|libgcc_s|ld-linux-x86-64)\.so(\.\d+)*$"
)
NOTICES = [
    "LICENSE",
    "THIRD_PARTY.md",
    "llvm.txt",
    "Apache-2.0.txt",
    "sleef.txt",
    "libpng.txt",
    "libjpeg-turbo.txt",
    "libwebp.txt",
    "libtiff.txt",
    "giflib.txt",
    "lerc.txt",
    "libdeflate.txt",
    "liblzma.txt",
    "zlib.txt",
    "zstd.txt",
    "openblas.txt",
    "xxhash.txt",
    "nanobind.txt",
    "robin-map.txt",
]

PROGRAM = """
import shutil
assert not any(shutil.which(name) for name in ("cc", "gcc", "g++", "clang", "clang++", "ld", "as"))
import iruka, numpy
k = iruka.ElementwiseKernel("float32 x, float32 y", "float32 z", "z = x + expf(y);", "wheel_check")
x = iruka.asarray(numpy.arange(1000, dtype=numpy.float32))
got = iruka.asnumpy(k(x, iruka.zeros_like(x)))
assert (got == numpy.arange(1000, dtype=numpy.float32) + 1).all(), got
assert float((iruka.ones((9, 9)) @ iruka.ones((9, 9)))[0, 0]) == 9 and float(iruka.linalg.det(iruka.eye(3))) == 1
for format in ("jpeg", "png", "webp", "tiff"):
    picture = iruka.image.imdecode(iruka.image.imencode(format, numpy.full((5, 7, 3), 200, "uint8")))
    assert picture.shape == (5, 7, 3) and abs(iruka.asnumpy(picture).astype(int) - 200).max() < 3, format
loaded = [line.split()[-1] for line in open("/proc/self/maps") if ".so" in line]
assert not any("libLLVM" in name or "libclang" in name for name in loaded)
print(iruka.__file__)
"""


def check(condition, message):
    if not condition:
        sys.exit(f"check_wheel: {message}")


def check_contents(wheel):
    with zipfile.ZipFile(wheel) as archive:
        entries = archive.infolist()
        metadata = archive.read(next(e for e in entries if e.filename.endswith(".dist-info/METADATA"))).decode()
    names = [entry.filename for entry in entries]
    for notice in NOTICES:
        check(
            any(".dist-info/licenses/" in name and name.endswith("/" + notice) for name in names),
            f"{notice} is missing",
        )
    required = sorted(re.findall(r"^Requires-Dist: ([\w-]+)", metadata, re.MULTILINE))
    check(required == ["ml_dtypes", "numpy"], f"it requires {required}")
    print(
        f"{wheel}: {os.path.getsize(wheel) / 2**20:.1f} MiB, "
        f"unpacked {sum(e.file_size for e in entries) / 2**20:.1f} MiB"
    )
    for entry in sorted(entries, key=lambda e: -e.file_size)[:8]:
        print(f"  {entry.file_size / 2**20:7.2f} MiB  {entry.filename}")


def check_libraries(package):
    """Checks with ldd that every dependency of Iruka's libraries is in the wheel or in the system's list."""
    for library in [*package.glob("_core*.so"), *package.glob("libiruka*.so")]:
        output = subprocess.run(["ldd", library], capture_output=True, text=True, check=True).stdout
        for line in output.splitlines():
            check("not found" not in line, f"{library.name} lacks {line.strip()}")
            name, _, target = line.strip().partition(" => ")
            name = os.path.basename(name.split()[0])
            inside = target.startswith(str(package.parent))
            check(inside or SYSTEM_LIBRARIES.match(name), f"{library.name} takes {line.strip()} from the system")


def check_symbols(package):
    """The module exports only its entry point, and the compiler's library no symbol of LLVM."""
    for library in package.glob("*.so*"):
        if library.name.startswith(("_core", "libiruka")):
            output = subprocess.run(
                ["nm", "-D", "--defined-only", library], capture_output=True, text=True, check=True
            ).stdout
            foreign = [
                line for line in output.splitlines() if re.search(r" (_ZN?K?4llvm|_ZN?K?5clang|LLVM|clang_)", line)
            ]
            check(not foreign, f"{library.name} exports {foreign[:3]}")


def main(wheel):
    check_contents(wheel)
    with tempfile.TemporaryDirectory() as place:
        folder = pathlib.Path(place).resolve()
        venv.create(folder / "env", with_pip=True)
        python = str(folder / "env" / "bin" / "python")
        pip = [python, "-m", "pip", "install", "-q", "--disable-pip-version-check"]
        subprocess.run([*pip, os.path.abspath(wheel)], check=True, cwd=folder)
        environment = {"PATH": str(folder / "env" / "bin"), "HOME": str(folder), "LANG": "C.UTF-8"}
        run = subprocess.run([python, "-I", "-c", PROGRAM], env=environment, cwd=folder, capture_output=True, text=True)
        check(run.returncode == 0, run.stdout + run.stderr)
        package = pathlib.Path(run.stdout.strip()).parent
        check(package.is_relative_to(folder), f"imported {package}")
        check_libraries(package)
        check_symbols(package)
    print("the wheel works without a compiler and without LLVM")


if __name__ == "__main__":
    main(*sys.argv[1:])
