"""The package of the validation study stands in benchmarks/, outside what is installed."""

import sys

from helpers import ROOT

sys.path.insert(0, str(ROOT / "benchmarks"))
