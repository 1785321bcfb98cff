// torch 1.8 was for Python 3.9 at most: its pybind11 walks over frames, which later Pythons hide. For PyPy it does not.
#pragma once

#define PYPY_VERSION "0"
