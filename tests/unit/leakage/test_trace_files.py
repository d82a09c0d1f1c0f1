"""Trace files: what is written is read again, a .trs byte for byte, and nothing else is read."""

import io
import pickle
import random
import struct
from contextlib import contextmanager
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from power_toys import refused, sbox_traces

from motecrypt.attack.leakage import arrays, trs
from motecrypt.attack.leakage.files import read_traces, write_traces
from motecrypt.attack.leakage.traces import Traces
from motecrypt.base.errors import InputError
from motecrypt.base.paths import written_atomically


def whole(n=30, samples=24, *, many_keys=False, small=False):
    made = sbox_traces(n, 2.0, 5, samples, many_keys=many_keys)
    return replace(
        made,
        samples=(made.samples * (2 if small else 20) + 30).clip(0, 255).astype(np.uint8)
        if many_keys
        else made.samples,
        outputs=made.inputs[:, ::-1].copy(),
        labels=(np.arange(n) % 2).astype(np.uint8),
        marks=0x100 + 2 * np.arange(samples, dtype=np.uint32),
    )


def same(left, right, fields):
    return [field for field in fields if not np.array_equal(getattr(left, field), getattr(right, field))]


CORE = ("samples", "inputs", "keys", "outputs")
ALL = (*CORE, "marks", "labels", "model", "noise_sd", "seed")


@pytest.mark.parametrize("traces", [whole(), whole(many_keys=True), whole(many_keys=True, small=True)])
@pytest.mark.parametrize(("name", "kept"), [("t.trs", ALL), ("t.npz", ALL), ("capture", CORE)])
def test_what_is_written_is_read_again(tmp_path, traces, name, kept):
    write_traces(traces, tmp_path / name)
    found = read_traces(tmp_path / name)
    assert same(traces, found, kept) == []
    assert found.samples.dtype == traces.samples.dtype
    if name == "capture":
        assert found.model == "capture" and not found.marks.any()


@pytest.mark.parametrize("name", ["t.trs", "t.npz"])
def test_a_seed_of_0_is_kept(tmp_path, name):
    write_traces(replace(whole(), seed=0), tmp_path / name)
    assert read_traces(tmp_path / name).seed == 0


@pytest.mark.parametrize(("samples", "kept"), [(32_767, True), (32_768, False)])
def test_a_trs_file_has_as_many_marks_as_a_parameter_has_values(tmp_path, samples, kept):
    """Its length is a signed number of 16 bits; more are left out."""
    write_traces(whole(2, samples), tmp_path / "t.trs")
    assert read_traces(tmp_path / "t.trs").marks.any() == kept


@pytest.mark.parametrize("name", ["t.trs", "t.npz", "capture"])
def test_traces_without_outputs_or_keys(tmp_path, name):
    plain = replace(whole(), outputs=None, labels=None, seed=None, keys=np.zeros(0, np.uint8))
    write_traces(plain, tmp_path / name)
    found = read_traces(tmp_path / name)
    assert found.outputs is None and found.labels is None and found.seed is None
    assert found.keys.size == 0 and np.array_equal(found.samples, plain.samples)


def test_a_trs_file_byte_for_byte(tmp_path):
    made = Traces(
        samples=np.array([[1, 2], [3, 127]], np.uint8),
        inputs=np.array([[0xAA], [0xBB]], np.uint8),
        keys=np.array([0xCC], np.uint8),
        marks=np.zeros(2, np.uint32),
        model="weight",
        seed=9,
    )
    write_traces(made, tmp_path / "t.trs")
    definitions = b"\x02\x00\x05\x00INPUT\x01\x01\x00\x00\x00\x03\x00KEY\x01\x01\x00\x01\x00"
    more = b"\x03\x00\x05\x00MODEL\x20\x06\x00weight\x08\x00NOISE_SD\x18\x01\x00" + bytes(8)
    more += b"\x04\x00SEED\x08\x01\x00\x09" + bytes(7)
    expected = b"\x41\x04\x02\0\0\0\x42\x04\x02\0\0\0\x43\x01\x01\x45\x01\x00"
    expected += b"\x47\x1a" + b"motecrypt: weight, noise 0" + b"\x49\x0binstruction\x4a\x04bits\x4f\x01\x02"
    expected += b"\x6b\x04\0\0\0\0\x6e\x04\x01\0\0\0\x6d\x04\x01\0\0\0\x70\x04\x01\0\0\0\x44\x02\x02\x00"
    expected += b"\x77" + bytes([len(definitions)]) + definitions + b"\x76" + bytes([len(more)]) + more
    expected += b"\x5f\x00" + b"\xaa\xcc\x01\x02" + b"\xbb\xcc\x03\x7f"
    assert (tmp_path / "t.trs").read_bytes() == expected


def test_the_classes_of_a_trs_file_are_where_its_header_says(tmp_path):
    """Other programs find TVLA:SET_INDEX by the offset and the size that the header states."""
    made = Traces(
        samples=np.array([[1, 2], [3, 127]], np.uint8),
        inputs=np.array([[0xAA, 0xAB], [0xBB, 0xBC]], np.uint8),
        keys=np.array([0xCC], np.uint8),
        marks=np.zeros(2, np.uint32),
        labels=np.array([0, 1], np.uint8),
        outputs=np.array([[0xD0], [0xD1]], np.uint8),
    )
    write_traces(made, tmp_path / "t.trs")
    data = (tmp_path / "t.trs").read_bytes()
    assert b"\x0e\x00TVLA:SET_INDEX\x02\x01\x00\x04\x00" in data  # a short, one of them, after 4 bytes
    assert b"\x44\x02\x06\x00" in data  # a trace has 6 bytes of data
    assert data.endswith(b"\xaa\xab\xcc\xd0\0\0\x01\x02" + b"\xbb\xbc\xcc\xd1\x01\0\x03\x7f")


def write_version_1(path, input_bytes=2):
    """As oscilloscopes' programs write: a title, the data at stated offsets, shorts, a long field."""
    fields = [
        (0x41, struct.pack("<i", 2)),
        (0x42, struct.pack("<i", 3)),
        (0x43, b"\x02"),
        (0x44, b"\x04\x00"),
    ]
    fields += [(0x45, b"\x05"), (0x6B, b"\x02\0\0\0"), (0x6E, struct.pack("<i", input_bytes))]
    fields += [(0x6D, b"\0\0\0\0"), (0x70, b"\x01\0\0\0")]
    head = b"".join(bytes([tag, len(value)]) + value for tag, value in fields)
    head += b"\x47\x82\x2c\x01" + b"x" * 300 + b"\x5f\x00"
    rows = b"one  " + b"\x07\0\x01\x02" + struct.pack("<3h", -5, 300, 0)
    rows += b"two  " + b"\x07\0\x03\x04" + struct.pack("<3h", 1, 2, 3)
    path.write_bytes(head + rows)


def test_a_trs_file_of_version_1(tmp_path):
    write_version_1(tmp_path / "t.trs")
    found = read_traces(tmp_path / "t.trs")
    assert found.samples.tolist() == [[-5, 300, 0], [1, 2, 3]] and found.samples.dtype == np.float32
    assert found.inputs.tolist() == [[1, 2], [3, 4]] and found.keys.tolist() == [7]
    assert (found.model, found.seed, found.outputs) == ("capture", None, None)


def test_a_trs_file_whose_input_ends_a_byte_too_late_is_refused(tmp_path):
    write_version_1(tmp_path / "t.trs", 3)
    with pytest.raises(InputError, match="parameter INPUT is outside the 4 bytes of data of a trace"):
        read_traces(tmp_path / "t.trs")


def test_arrays_of_others_by_their_usual_names(tmp_path):
    np.savez(
        tmp_path / "t.npz", trace_array=np.ones((4, 3)), plaintext=np.ones((4, 16), int), Key=np.arange(16)
    )
    found = read_traces(tmp_path / "t.npz")
    assert found.samples.dtype == np.float32 and found.keys.tolist() == list(range(16))
    project = tmp_path / "p_data" / "traces"
    project.mkdir(parents=True)
    np.save(project / "2026_traces.npy", np.asfortranarray(np.arange(12.5, 24.5).reshape(4, 3)))
    np.save(project / "2026_textin.npy", np.full((4, 16), 7))
    found = read_traces(tmp_path)
    assert found.samples[1].tolist() == [15.5, 16.5, 17.5] and found.inputs[3, 15] == 7


@pytest.mark.parametrize(
    ("arrays", "said"),
    [
        ({"samples": np.ones((4, 3))}, "no array of inputs"),
        ({"inputs": np.ones((4, 3))}, "no array of samples"),
        ({"samples": np.ones(4), "inputs": np.ones((4, 3))}, "samples must be a table"),
        ({"samples": np.ones((0, 3)), "inputs": np.ones((0, 3))}, "it is empty"),
        ({"samples": np.ones((4, 3)), "inputs": np.full((4, 3), 256)}, "inputs must be bytes"),
        ({"samples": np.ones((4, 3)), "inputs": np.full((4, 3), 0.5)}, "inputs must be bytes"),
        (
            {"samples": np.full((4, 3), np.nan), "inputs": np.ones((4, 3))},
            "sample 0 of trace 0 is not",
        ),
        ({"samples": np.array([[{}]]), "inputs": np.ones((1, 3))}, "Python objects"),
        (
            {"samples": np.ones((4, 3), complex), "inputs": np.ones((4, 3))},
            "samples must be a table of numbers",
        ),
    ],
)
def test_arrays_that_are_no_traces_are_refused(tmp_path, arrays, said):
    np.savez(tmp_path / "t.npz", **arrays)
    assert said in refused(tmp_path / "t.npz")


def test_numbers_that_do_not_match_are_refused(tmp_path):
    np.savez(tmp_path / "t.npz", samples=np.ones((4, 3)), inputs=np.ones((5, 3)))
    with pytest.raises(InputError, match="4 traces need 4 rows of inputs"):
        read_traces(tmp_path / "t.npz")


def test_what_is_no_trace_file_is_refused(tmp_path):
    assert "no form of trace files" in refused(tmp_path / "t.csv")
    assert "cannot be read" in refused(tmp_path / "t.trs")
    assert "no file *traces.npy" in refused(tmp_path)
    (tmp_path / "t.npz").write_bytes(b"PK")
    assert "not an .npz file" in refused(tmp_path / "t.npz")
    for prefix in "ab":
        np.save(tmp_path / f"{prefix}_traces.npy", np.ones((2, 2)))
    assert "give the path of one: a_traces.npy, b_traces.npy" in refused(tmp_path)
    with pytest.raises(InputError, match="no form of trace files"):
        write_traces(whole(), tmp_path / "t.csv")


def test_sizes_are_checked_before_memory_is_taken(tmp_path):
    head = io.BytesIO()
    kind = {"descr": "<f4", "fortran_order": False, "shape": (1 << 20, 1 << 20)}
    np.lib.format.write_array_header_1_0(head, kind)
    (tmp_path / "x_traces.npy").write_bytes(head.getvalue())
    assert "over 2 GB of memory" in refused(tmp_path / "x_traces.npy")
    write_traces(whole(), tmp_path / "t.trs")
    data = bytearray((tmp_path / "t.trs").read_bytes())
    data[8:12] = struct.pack("<i", 1 << 30)
    (tmp_path / "t.trs").write_bytes(data)
    assert "over 2 GB of memory" in refused(tmp_path / "t.trs")
    data[8:12] = struct.pack("<i", 25)
    (tmp_path / "t.trs").write_bytes(data)
    announced = "cut off: 30 traces of 150 bytes are announced, 4,380 bytes are there"
    assert announced in refused(tmp_path / "t.trs")


@pytest.mark.parametrize("name", ["t.trs", "t.npz"])
def test_no_damage_is_more_than_one_line(tmp_path, name):
    """Cut at many places, and with bytes changed: either it is read, or one line says what is wrong."""
    write_traces(whole(n=4, samples=20), tmp_path / name)
    data = (tmp_path / name).read_bytes()
    choose = random.Random(3)
    for cut in {*range(0, min(len(data), 400), 7), len(data) - 1}:
        (tmp_path / name).write_bytes(data[:cut])
        refused(tmp_path / name)
    for _ in range(150):
        damaged = bytearray(data)
        for _ in range(choose.randrange(1, 4)):
            damaged[choose.randrange(min(len(data), 300))] = choose.randrange(256)
        (tmp_path / name).write_bytes(damaged)
        try:
            read_traces(tmp_path / name)
        except InputError as error:
            assert "\n" not in str(error)


@pytest.mark.parametrize(("block", "rows"), [(1, 1), (146, 1), (291, 1), (292, 2), (500, 3), (1 << 20, 31)])
def test_large_files_are_written_block_by_block(tmp_path, monkeypatch, block, rows):
    made, writes = whole(n=31), []
    write_traces(made, tmp_path / "a.trs")

    @contextmanager
    def noted(path):
        with written_atomically(path) as file:
            yield SimpleNamespace(write=lambda data: writes.append(file.write(data)))

    monkeypatch.setattr(trs, "written_atomically", noted)
    monkeypatch.setattr(trs, "_BLOCK_BYTES", block)
    write_traces(made, tmp_path / "b.trs")
    assert (tmp_path / "a.trs").read_bytes() == (tmp_path / "b.trs").read_bytes()
    rest = 31 % rows
    assert writes[1:] == [146 * rows] * (31 // rows) + ([146 * rest] if rest else [])


ENDINGS = ["t.csv", "t.npy", "t.txt", "t.TRS", "t.zip", "t.npzip"]


@pytest.mark.parametrize("name", ENDINGS)
def test_no_other_ending_is_written_or_read(tmp_path, name):
    for step in (lambda path: write_traces(whole(), path), read_traces):
        with pytest.raises(InputError, match=r"no form of trace files has this ending; give NAME\.trs"):
            step(tmp_path / name)
    assert not list(tmp_path.iterdir())


def test_a_trs_file_names_no_part_that_is_not_there(tmp_path):
    write_traces(replace(whole(), outputs=None, keys=np.zeros(0, np.uint8)), tmp_path / "t.trs")
    data = (tmp_path / "t.trs").read_bytes()
    assert b"INPUT" in data and b"KEY" not in data and b"OUTPUT" not in data


@pytest.mark.parametrize("count", [1, 2])
def test_chipwhisperers_known_key_is_that_of_the_first_trace(tmp_path, count):
    made = whole(count, many_keys=True)
    write_traces(made, tmp_path / "capture")
    (known,) = (tmp_path / "capture").glob("*knownkey.npy")
    assert np.load(known).tolist() == made.keys[0].tolist()


# --- arrays of NumPy


@pytest.mark.parametrize("version", [(1, 0), (2, 0), (3, 0)])
def test_each_version_of_numpys_format_is_read(tmp_path, version):
    path = tmp_path / "x.npy"
    with path.open("wb") as file:
        np.lib.format.write_array(file, np.arange(6).reshape(2, 3), version=version)
    with path.open("rb") as file:
        assert arrays.read_array(path, file, "x").tolist() == [[0, 1, 2], [3, 4, 5]]


@pytest.mark.parametrize("version", [(0, 0), (0, 9), (1, 1), (2, 1), (3, 1), (4, 0)])
def test_a_version_that_numpy_never_had_is_refused(tmp_path, version):
    path = tmp_path / "x.npy"
    np.save(path, np.zeros(3))
    path.write_bytes(b"\x93NUMPY" + bytes(version) + path.read_bytes()[8:])
    with (
        path.open("rb") as file,
        pytest.raises(InputError, match="x is not an array that NumPy wrote: version"),
    ):
        arrays.read_array(path, file, "x")


@pytest.mark.parametrize("shape", [(-1,), (-3, 4), (2, -1), (-1, -6), (-2, -3)])
def test_an_array_of_a_negative_size_is_refused(tmp_path, shape):
    head = io.BytesIO()
    kind = {"descr": "<f4", "fortran_order": False, "shape": shape}
    np.lib.format.write_array_header_1_0(head, kind)
    (tmp_path / "x_traces.npy").write_bytes(head.getvalue() + bytes(64))
    assert "x_traces.npy has a negative size" in refused(tmp_path / "x_traces.npy")


@pytest.mark.parametrize(
    "pickled",
    [
        b"",
        b"\xff\xff",  # no code
        pickle.dumps(None),  # no list
        pickle.dumps([{}]),
        pickle.dumps([None, 1]),
        pickle.dumps(["text"]),
    ],
)
def test_other_objects_than_a_list_of_none_are_refused(tmp_path, pickled):
    path = tmp_path / "x.npy"
    head = io.BytesIO()
    np.lib.format.write_array_header_1_0(head, {"descr": "|O", "fortran_order": False, "shape": (1,)})
    path.write_bytes(head.getvalue() + pickled)
    with path.open("rb") as file, pytest.raises(InputError, match="x has Python objects"):
        arrays.read_array(path, file, "x")


@pytest.mark.parametrize("count", [1, 2, 5000])
@pytest.mark.parametrize("protocol", [2, 4])
def test_a_list_of_none_was_not_recorded(tmp_path, count, protocol):
    path = tmp_path / "x.npy"
    head = io.BytesIO()
    np.lib.format.write_array_header_1_0(head, {"descr": "|O", "fortran_order": False, "shape": (count,)})
    path.write_bytes(head.getvalue() + pickle.dumps(np.array([None] * count, object), protocol))
    with path.open("rb") as file:
        assert arrays.read_array(path, file, "x") is None


PLAIN = {"samples": np.ones((4, 3)), "inputs": np.ones((4, 2))}


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"samples": np.ones((0, 3))}, "0 traces of 3 samples: it is empty"),
        ({"samples": np.ones((4, 0))}, "4 traces of 0 samples: it is empty"),
        ({"inputs": np.full((4, 2), -1)}, "inputs must be bytes"),
        ({"keys": np.full((4, 2), 256)}, "keys must be bytes"),
        ({"outputs": np.full((4, 2), np.nan)}, "outputs must be bytes"),
        ({"keys": np.ones((4, 2, 1))}, "keys must be a table of numbers"),
        ({"outputs": np.ones(4)}, "outputs must be a table of numbers"),
        ({"inputs": np.full((4, 2), "a")}, "inputs must be a table of numbers"),
        ({"keys": np.ones((5, 2))}, "4 traces need 4 rows of keys, not 5"),
        ({"outputs": np.ones((3, 2))}, "4 traces need 4 rows of outputs, not 3"),
        ({"labels": np.ones(3, int)}, "labels must be a number from 0 to 255 for each of 4 traces"),
        ({"labels": np.ones((4, 1), int)}, "labels must be a number from 0 to 255 for each of 4 traces"),
        ({"labels": np.array([0, 1, 0, 256])}, "labels must be a number from 0 to 255"),
        ({"labels": np.array([0, 1, 0, -1])}, "labels must be a number from 0 to 255"),
        ({"samples": np.array([[1, 2], [3, 4], [5, np.inf], [7, 8]])}, "sample 1 of trace 2 is not a finite"),
        ({"samples": np.array([[1, 2], [3, 4], [5, 6], [1e39, 8]])}, "sample 0 of trace 3 is not a finite"),
    ],
)
def test_arrays_that_do_not_fit_together_are_refused(tmp_path, more, said):
    np.savez(tmp_path / "t.npz", **(PLAIN | more))
    assert said in refused(tmp_path / "t.npz")


def test_what_is_beside_samples_and_inputs_is_taken_or_as_if_it_were_not_there(tmp_path):
    def read(**more):
        np.savez(tmp_path / "t.npz", **(PLAIN | more))
        return read_traces(tmp_path / "t.npz")

    assert read(marks=np.array([1, 2, 3])).marks.tolist() == [1, 2, 3]
    for marks in (np.array([1, 2]), np.array([1.5, 2, 3]), np.ones((3, 1), int)):
        assert read(marks=marks).marks.tolist() == [0, 0, 0]
    assert read(labels=np.array([True, False, True, False])).labels.tolist() == [1, 0, 1, 0]
    assert read(labels=np.array([0, 255, 1, 2])).labels.tolist() == [0, 255, 1, 2]
    assert read(labels=np.array([0.0, 1, 0, 1])).labels is None
    assert read(outputs=np.zeros((4, 0))).outputs is None
    assert read(model=np.array("weight")).model == "weight"
    date = np.array(np.datetime64("2026-01-01"))
    for model in (np.array(["weight"]), np.array(7), np.array(b"weight"), date):
        assert read(model=model).model == "capture"
    none = read()
    assert (none.keys.size, none.labels, none.model, none.noise_sd, none.seed) == (
        0,
        None,
        "capture",
        0.0,
        None,
    )


NUMBERS = [(0, 0), (7, 7), (0.5, 0.5), ((1 << 63) - 1, (1 << 63) - 1), ([3], 3)]
NO_NUMBERS = [-1, np.nan, np.inf, -np.inf, [1, 2], [], "7", 1j]


@pytest.mark.parametrize(("given", "expected"), [*NUMBERS, *((given, None) for given in NO_NUMBERS)])
def test_a_single_number_is_finite_and_not_negative(tmp_path, given, expected):
    assert trs.single(np.array(given)) == expected and trs.single(None) is None
    np.savez(tmp_path / "t.npz", **PLAIN, seed=np.array(given), noise_sd=np.array(given))
    found = read_traces(tmp_path / "t.npz")
    assert found.seed == (None if expected is None else int(expected))
    assert found.noise_sd == float(expected or 0) and type(found.noise_sd) is float


@pytest.mark.parametrize("name", ["t.trs", "t.npz"])
def test_a_seed_of_63_bits_is_kept_exactly_and_a_longer_one_refused(tmp_path, name):
    write_traces(replace(whole(), seed=(1 << 63) - 1), tmp_path / name)
    assert read_traces(tmp_path / name).seed == (1 << 63) - 1
    with pytest.raises(InputError, match="keeps a seed over 9,223,372,036,854,775,807; give a smaller one"):
        write_traces(replace(whole(), seed=1 << 63), tmp_path / name)


@pytest.mark.parametrize(
    ("samples", "kind"),
    [
        ([[0, 255]], np.uint8),
        ([[0, 256]], np.float32),
        ([[-1, 255]], np.float32),
        ([[True, False]], np.uint8),
        ([[1.0, 2.0]], np.float32),
    ],
)
def test_whole_numbers_of_a_byte_stay_bytes(tmp_path, samples, kind):
    np.savez(tmp_path / "t.npz", samples=np.array(samples), inputs=np.ones((1, 2)))
    found = read_traces(tmp_path / "t.npz").samples
    assert found.dtype == kind and found.tolist() == samples


@pytest.mark.parametrize("keys", [[[1, 2]], [[1, 2], [1, 2]], [[1, 2], [1, 3]], [[1, 2], [1, 2], [3, 2]]])
def test_equal_keys_are_one(tmp_path, keys):
    np.savez(tmp_path / "t.npz", samples=np.ones((len(keys), 2)), inputs=np.ones((len(keys), 2)), keys=keys)
    same = all(key == keys[0] for key in keys)
    assert read_traces(tmp_path / "t.npz").keys.tolist() == (keys[0] if same else keys)


@pytest.mark.parametrize(
    ("name", "more"),
    [("u1", [[0, 127], [1, 2]]), ("u1", [[0, 128], [1, 2]]), ("f4", [[0.5, 1], [2, 3]])],
)
def test_the_coding_of_samples_is_the_shortest(tmp_path, name, more):
    made = Traces(
        samples=np.array(more, {"u1": np.uint8, "f4": np.float32}[name]),
        inputs=np.array([[1], [2]], np.uint8),
        keys=np.array([[3], [4]], np.uint8),
        marks=np.zeros(2, np.uint32),
    )
    write_traces(made, tmp_path / "t.trs")
    coding = 0x14 if name == "f4" else 0x01 if more[0][1] < 128 else 0x02
    assert bytes([0x43, 1, coding]) in (tmp_path / "t.trs").read_bytes()
    found = read_traces(tmp_path / "t.trs")
    assert found.samples.tolist() == more and found.keys.tolist() == [[3], [4]]


@pytest.mark.parametrize(("kind", "count"), [("<f8", 500), ("<f4", 1000), ("u1", 1000), ("S6", 666)])
def test_arrays_that_would_fill_the_memory_are_refused(tmp_path, monkeypatch, kind, count):
    monkeypatch.setattr(trs, "MEMORY_MOST", 4000)
    for more in (0, 1):
        path = tmp_path / f"{more}.npy"
        np.save(path, np.zeros(count + more, kind))
        with path.open("rb") as file:
            if more:
                with pytest.raises(InputError, match="of memory"):
                    arrays.read_array(path, file, "x")
            else:
                assert len(arrays.read_array(path, file, "x")) == count


@pytest.mark.parametrize("name", ["t.trs", "t.npz", "capture"])
def test_samples_are_held_as_float32_and_may_fill_the_memory(tmp_path, monkeypatch, name):
    """Also those of a file with less for each; no other array is as large."""
    made = whole(8, 20, many_keys=True)
    assert made.samples.dtype == np.uint8
    write_traces(made, tmp_path / name)
    monkeypatch.setattr(trs, "MEMORY_MOST", 8 * 20 * 4)
    assert len(read_traces(tmp_path / name)) == 8
    monkeypatch.setattr(trs, "MEMORY_MOST", 8 * 20 * 4 - 1)
    assert "of memory" in refused(tmp_path / name)


@pytest.mark.parametrize("name", ["t.trs", "t.npz", "capture"])
def test_no_python_object_is_written(tmp_path, name):
    """Another program would execute it when it reads the file."""
    made = whole()
    for field in ("inputs", "outputs", "keys"):
        objects = np.full(made.inputs.shape, None, object)
        with pytest.raises((TypeError, ValueError)):
            write_traces(replace(made, **{field: objects}), tmp_path / name)
    assert not [path for path in tmp_path.rglob("*") if path.is_file() and b"\x80\x04" in path.read_bytes()]


def test_a_trace_of_2_gb_is_refused(tmp_path):
    """The largest record that NumPy has is a byte smaller. The file has a hole instead of samples."""
    path = tmp_path / "t.trs"
    samples = (1 << 29) - 1
    fields = [
        (0x41, struct.pack("<i", 1)),
        (0x42, struct.pack("<i", samples)),
        (0x43, b"\x14"),
        (0x44, b"\x04\x00"),
    ]
    fields += [(0x6B, bytes(4)), (0x6E, struct.pack("<i", 4))]
    head = b"".join(bytes([tag, len(value)]) + value for tag, value in fields) + b"\x5f\x00"
    with path.open("wb") as file:
        file.write(head)
        file.truncate(len(head) + 4 + 4 * samples)
    assert "a trace has 2,147,483,648 bytes, which is too many" in refused(path)
