"""Save trsfile0-*.trs, of version 1, with trsfile 0.3.2: `python make_trsfile_0.py FOLDER`."""

import sys
from pathlib import Path

from trsfile import Header, SampleCoding, Trace, TracePadding, trs_open

FOLDER = Path(sys.argv[1])
PLACES = {Header.INPUT_OFFSET: 0, Header.INPUT_LENGTH: 16, Header.OUTPUT_OFFSET: 16, Header.OUTPUT_LENGTH: 16}

for name, headers in (("trsfile0.trs", {}), ("trsfile0-places.trs", PLACES)):
    with trs_open(str(FOLDER / name), "w", headers=headers, padding_mode=TracePadding.AUTO) as traces:
        texts = [bytes(range(number, number + 16)) for number in range(2)]
        traces.extend([Trace(SampleCoding.FLOAT, [-3, 0, 100], data=text + text[::-1]) for text in texts])
