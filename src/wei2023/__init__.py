"""The replication of Wei, Ghosh, Shroff, Ying, Zhou (AISTATS 2023) on the library :mod:`nscmdp`."""

from pathlib import Path

from nscmdp.kernels import sources

sources.OTHERS[__name__] = Path(__file__).parent
