"""Save chipwhisperer*.zip with ChipWhisperer 6.0.0, NumPy 1.26.4: `python make_chipwhisperer.py FOLDER`."""

import sys
import tempfile
from pathlib import Path

import chipwhisperer as cw
import numpy as np

TARGET = Path(sys.argv[1]).resolve()
KEY = bytearray(range(16))


def save(name, count, key, answers, captures):
    """Save a project: a capture ends after 30 traces, as ChipWhisperer ends one after 10,000."""
    with tempfile.TemporaryDirectory() as folder:
        project = cw.create_project(str(Path(folder) / "capture.cwp"))
        project.traces.seg_len, project.traces.seg_ind_max = 30, 29
        for number in range(count):
            text = bytearray((number * 16 + place) % 256 for place in range(16))
            wave = np.arange(number, number + 4) / 8
            project.traces.append(cw.Trace(wave, text, text[::-1] if answers else None, key))
        for _ in range(captures - len(project.segments)):
            project.segments.append(project.segments.new())
        project.save()
        project.export(str(TARGET / name))


save("chipwhisperer.zip", 60, KEY, answers=True, captures=3)
save("chipwhisperer-no-key.zip", 3, None, answers=False, captures=1)
