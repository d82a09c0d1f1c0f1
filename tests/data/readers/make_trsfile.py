"""Save trsfile-*.trs with trsfile 2.2.6: `python make_trsfile.py FOLDER`."""

import sys
from pathlib import Path

from trsfile import Header, SampleCoding, Trace, trs_open
from trsfile.parametermap import TraceParameterMap
from trsfile.traceparameter import ByteArrayParameter, IntegerArrayParameter

FOLDER = Path(sys.argv[1])
SAMPLES = [-3, 0, 100]


def texts(number):
    """Sixteen bytes of input, and the same backwards."""
    text = bytes(range(number, number + 16))
    return text, text[::-1]


for coding in SampleCoding:
    with trs_open(str(FOLDER / f"trsfile-{coding.name.lower()}.trs"), "w") as traces:
        for number in range(2):
            text, back = texts(number)
            parameters = TraceParameterMap(
                {
                    "INPUT": ByteArrayParameter(text),
                    "OUTPUT": ByteArrayParameter(back),
                    "KEY": ByteArrayParameter(bytes(16)),
                }
            )
            traces.append(Trace(coding, SAMPLES, parameters))

places = {Header.INPUT_OFFSET: 0, Header.INPUT_LENGTH: 16, Header.OUTPUT_OFFSET: 16, Header.OUTPUT_LENGTH: 16}
for name, headers in (("trsfile-raw.trs", {}), ("trsfile-raw-places.trs", places)):
    with trs_open(str(FOLDER / name), "w", headers=headers) as traces:
        traces.extend([Trace(SampleCoding.FLOAT, SAMPLES, raw_data=b"".join(texts(n))) for n in range(2)])

with trs_open(str(FOLDER / "trsfile-numbers.trs"), "w") as traces:
    traces.append(
        Trace(SampleCoding.BYTE, SAMPLES, TraceParameterMap({"INPUT": IntegerArrayParameter([300, 2])}))
    )

with trs_open(str(FOLDER / "trsfile-empty.trs"), "w"):
    pass
