"""Python loads this at its start in a build with UndefinedBehaviorSanitizer: its reports go to the files of
AddressSanitizer's.

GCC's two libraries have a function of one name that takes log_path, and the first of them answers for both. The second
would write to standard error, which pytest keeps to itself when a report ends its process.
"""

import ctypes
import os

_path = os.environ.get("UBSAN_OPTIONS", "").partition("log_path=")[2]
if _path:
    getattr(ctypes.CDLL("libubsan.so.1"), "__sanitizer_set_report_path")(_path.encode())
