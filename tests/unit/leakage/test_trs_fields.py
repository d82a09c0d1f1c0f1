"""Files of Riscure's Inspector (.trs), field by field."""

import struct

import numpy as np
import pytest
from power_toys import refused

from motecrypt.attack.leakage import trs
from motecrypt.attack.leakage.files import read_traces

TRACES, SAMPLES, CODING, DATA_BYTES, TITLE, BLOCK = 0x41, 0x42, 0x43, 0x44, 0x45, 0x5F
INPUT_AT, INPUT_BYTES, SET, EACH = 0x6B, 0x6E, 0x76, 0x77
SMALL = {TRACES: b"\2", SAMPLES: b"\3", CODING: b"\1", DATA_BYTES: b"\2", INPUT_AT: b"\0", INPUT_BYTES: b"\2"}
ROWS = b"\x0a\x0b\1\2\3" + b"\x0c\x0d\4\5\6"


def written(path, fields=SMALL, rows=ROWS):
    """A .trs file of these fields; None: the tag is left out."""
    there = {tag: value for tag, value in fields.items() if value is not None}
    path.write_bytes(b"".join(bytes([tag, len(there[tag])]) + there[tag] for tag in there) + b"\x5f\0" + rows)
    return path


def parameters(*found):
    """A list of parameters: their names, types, and what follows."""
    texts = [
        struct.pack("<H", len(name)) + name.encode() + bytes([code]) + more for name, code, more in found
    ]
    return struct.pack("<H", len(found)) + b"".join(texts)


def test_a_small_trs_file(tmp_path):
    found = read_traces(written(tmp_path / "t.trs"))
    assert found.samples.tolist() == [[1, 2, 3], [4, 5, 6]] and found.inputs.tolist() == [[10, 11], [12, 13]]


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({TRACES: None}, "not a .trs file: its header has no number of traces"),
        ({SAMPLES: None}, "not a .trs file: its header has no number of samples"),
        ({CODING: None}, "not a .trs file: its header has no sample coding"),
        ({TRACES: b"\0"}, "0 traces: there is nothing to analyse"),
        ({SAMPLES: b"\0"}, "2 traces of 0 samples: there is nothing to analyse"),
        ({TRACES: b"\0\0\0\x80"}, "2,147,483,648 traces of 3 samples: there is nothing"),
        ({SAMPLES: b"\0\0\0\x80"}, "2 traces of 2,147,483,648 samples: there is nothing"),
        ({TRACES: b"\xff\xff\xff\x7f"}, "2,147,483,647 traces of 3 samples need over 2 GB"),
        ({CODING: b"\3"}, "sample coding 0x3 is not of the format"),
        ({INPUT_BYTES: b"\3"}, "parameter INPUT is outside the 2 bytes of data of a trace"),
        ({INPUT_AT: b"\1"}, "parameter INPUT is outside the 2 bytes of data of a trace"),
        ({INPUT_BYTES: None}, "where the input is in the 2 bytes of data of a trace (parameters: none)"),
        ({TITLE: b"\4"}, "cut off: 2 traces of 9 bytes are announced, 10 bytes are there"),
        ({TITLE: b"\1"}, "cut off: 2 traces of 6 bytes are announced, 10 bytes are there"),
        ({SET: b"\1"}, "the list of parameters in its header is cut off"),
        ({SET: parameters(("SEED", 0x04, b"\1\0abc"))}, "the list of parameters in its header is cut off"),
        ({SET: parameters(("SEED", 0x05, b"\1\0abcd"))}, "parameter type 0x05 is not of the format"),
        ({EACH: parameters(("INPUT", 0x01, b"\2\0"))}, "the list of parameters in its header is cut off"),
        ({EACH: parameters(("KEY", 0x08, b"\1\0\0\0"))}, "cut off: 2 traces of 11 bytes"),
        (
            {EACH: parameters(("KEY", 0x01, b"\1\0\0\0")), DATA_BYTES: None},
            "parameter INPUT is outside the 1 bytes of data of a trace",
        ),
        ({EACH: parameters(("INPUT", 0x02, b"\1\0\0\0"))}, "parameter INPUT must be bytes"),
        ({EACH: parameters(("KEY", 0x02, b"\1\0\0\0"))}, "parameter KEY must be bytes"),
        ({EACH: parameters(("OUTPUT", 0x02, b"\1\0\0\0"))}, "parameter OUTPUT must be bytes"),
        (
            {EACH: parameters(("TVLA:SET_INDEX", 0x01, b"\0\0\0\0"))},
            "parameter TVLA:SET_INDEX must be one number from 0 to 255 for each trace",
        ),
        ({EACH: parameters(("TVLA:SET_INDEX", 0x01, b"\2\0\0\0"))}, "TVLA:SET_INDEX must be one number"),
        ({EACH: parameters(("TVLA:SET_INDEX", 0x02, b"\1\0\0\0"))}, "TVLA:SET_INDEX must be one number"),
    ],
)
def test_a_trs_file_with_a_wrong_field_is_refused(tmp_path, fields, said):
    assert said in refused(written(tmp_path / "t.trs", SMALL | fields))


def test_the_classes_of_a_trs_file_are_one_byte_each(tmp_path):
    each = parameters(("TVLA:SET_INDEX", 0x01, b"\1\0\1\0"))
    assert read_traces(written(tmp_path / "t.trs", SMALL | {EACH: each})).labels.tolist() == [11, 13]


@pytest.mark.parametrize(
    ("code", "kind"),
    [(1, "u1"), (2, "<i2"), (4, "<i4"), (8, "<i8"), (0x14, "<f4"), (0x18, "<f8"), (0x20, "u1"), (0x31, "u1")],
)
def test_inputs_are_read_in_each_type_of_parameters(tmp_path, code, kind):
    """After a parameter of two bytes that nobody asks for, and before one more byte of data."""
    size = np.dtype(kind).itemsize
    each = parameters(("OTHER", 1, b"\2\0\0\0"), ("INPUT", code, b"\2\0\2\0"))
    rows = b"".join(
        b"xy" + np.array(values, kind).tobytes() + b"z" + bytes([*values, 9]) for values in ((1, 2), (3, 255))
    )
    fields = SMALL | {DATA_BYTES: bytes([2 + 2 * size + 1]), EACH: each, CODING: b"\1"}
    path = written(tmp_path / "t.trs", fields | {INPUT_BYTES: None}, rows)
    assert read_traces(path).inputs.tolist() == [[1, 2], [3, 255]]
    assert read_traces(path).samples.tolist() == [[1, 2, 9], [3, -1, 9]]


@pytest.mark.parametrize(
    ("code", "value", "seed"),
    [
        (8, struct.pack("<q", 7), 7),
        (1, b"\7", 7),
        (0x18, struct.pack("<d", 7.5), 7),
        (8, struct.pack("<q", -1), None),
        (8, struct.pack("<2q", 1, 2), None),
        (0x18, struct.pack("<d", float("nan")), None),
        (0x18, struct.pack("<d", float("inf")), None),
    ],
)
def test_numbers_of_a_set(tmp_path, code, value, seed):
    count = len(value) // np.dtype({8: "i8", 1: "u1", 0x18: "f8"}[code]).itemsize
    more = struct.pack("<H", count) + value
    given = parameters(("SEED", code, more), ("NOISE_SD", code, more), ("MODEL", 0x20, b"\4\0h\xff l"))
    found = read_traces(written(tmp_path / "t.trs", SMALL | {SET: given}))
    assert (found.seed, int(found.noise_sd), found.model) == (seed, seed or 0, "h\ufffd l")


@pytest.mark.parametrize(("count", "taken"), [(2, False), (3, True), (4, False)])
def test_marks_of_a_set_are_one_for_each_sample(tmp_path, count, taken):
    given = parameters(("MARKS", 0x04, struct.pack(f"<H{count}i", count, *range(1, count + 1))))
    found = read_traces(written(tmp_path / "t.trs", SMALL | {SET: given}))
    assert found.marks.tolist() == ([1, 2, 3] if taken else [0, 0, 0])


def test_a_key_of_the_whole_set_counts_where_traces_have_none(tmp_path):
    given = {SET: parameters(("KEY", 0x01, b"\2\0\x11\x22"))}
    assert read_traces(written(tmp_path / "t.trs", SMALL | given)).keys.tolist() == [0x11, 0x22]
    each = {EACH: parameters(("KEY", 0x01, b"\1\0\0\0"))}
    assert read_traces(written(tmp_path / "t.trs", SMALL | given | each)).keys.tolist() == [[10], [12]]


@pytest.mark.parametrize("extent", [1, 2, 3, 4, 7])
def test_a_long_field_has_a_length_of_its_own(tmp_path, extent):
    path = written(tmp_path / "t.trs")
    text = bytes([0x47, 0x80 | extent]) + (200).to_bytes(extent, "little") + b"x" * 200
    path.write_bytes(text + path.read_bytes())
    assert read_traces(path).inputs.tolist() == [[10, 11], [12, 13]]


@pytest.mark.parametrize("size", [0, 0x7F, 0x80, 0xFF, 0x100, 0x10000])
def test_a_field_is_written_as_it_is_read(tmp_path, size):
    data = trs._field(0x47, b"x" * size)
    assert data[:2] == (bytes([0x47, size]) if size < 0x80 else b"\x47\x84")
    with (tmp_path / "f").open("w+b") as file:
        file.write(data + b"\x5f\0")
        file.seek(0)
        assert list(trs._fields(tmp_path / "f", file)) == [(0x47, b"x" * size)]


@pytest.mark.parametrize("most", [23, 24])
def test_a_header_without_end_is_not_read_on(tmp_path, monkeypatch, most):
    path = written(tmp_path / "t.trs", SMALL | {0x47: b"x" * 18})  # all fields have 24 bytes
    monkeypatch.setattr(trs, "_HEADER_BYTES_MOST", most)
    if most == 24:
        assert len(read_traces(path)) == 2
    else:
        assert "not a .trs file: its header is over 23 bytes" in refused(path)


def test_limits_of_headers_and_blocks():
    assert (trs._HEADER_BYTES_MOST, trs._BLOCK_BYTES, trs.MEMORY_MOST) == (16 << 20, 64 << 20, 2 << 30)


@pytest.mark.parametrize(
    ("cut", "said"),
    [
        (0, "its header has no end"),
        (1, "its header has no end"),
        (2, "its header is cut off at tag 0x41"),
        (3, "its header has no end"),
        (18, "its header has no end"),
    ],
)
def test_where_a_header_is_cut_off_is_told(tmp_path, cut, said):
    path = written(tmp_path / "t.trs")
    path.write_bytes(path.read_bytes()[:cut])
    assert said in refused(path)
