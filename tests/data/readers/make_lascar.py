"""Save lascar.npz with lascar 1.1: `python make_lascar.py FOLDER`."""

import sys
from pathlib import Path

from lascar import BasicAesSimulationContainer

BasicAesSimulationContainer(3, noise=0.5, additional_time_samples=0)[:].save(Path(sys.argv[1]) / "lascar.npz")
