"""Trace files as other programs save them (tests/data/readers) are read, or refused in one line."""

import shutil
import zipfile
from pathlib import Path

import numpy as np
import pytest

from command_line import run
from motecrypt.attack.leakage.files import read_traces
from motecrypt.base.errors import InputError

READERS = Path(__file__).resolve().parents[2] / "data" / "readers"
KEY = list(range(16))
TEXT = [list(range(16)), list(range(1, 17))]


def refused(path):
    with pytest.raises(InputError) as caught:
        read_traces(path)
    said = str(caught.value)
    assert "\n" not in said and str(path) in said
    return said


def unpacked(folder, name="chipwhisperer.zip"):
    with zipfile.ZipFile(READERS / name) as archive:
        archive.extractall(folder)
    return folder / "capture.cwp"


def arrays(folder, number, name):
    (found,) = (folder / "capture_data" / "traces").glob(f"*_{number}{name}.npy")
    return found


# --- ChipWhisperer


@pytest.mark.parametrize("given", ["capture.cwp", ".", "capture_data", "capture_data/traces"])
def test_a_project_has_the_traces_of_all_its_captures(tmp_path, given):
    unpacked(tmp_path)
    found = read_traces(tmp_path / given)
    assert found.samples.shape == (60, 4) and found.keys.tolist() == KEY
    assert found.samples[29].tolist() == [29 / 8, 30 / 8, 31 / 8, 4] and found.samples[59, 0] == 59 / 8
    assert found.inputs[59].tolist() == [(59 * 16 + place) % 256 for place in range(16)]
    assert np.array_equal(found.outputs, found.inputs[:, ::-1])


def test_a_single_capture_has_no_spare_rows(tmp_path):
    unpacked(tmp_path)
    traces = arrays(tmp_path, 1, "traces")
    assert len(np.load(traces)) > 30  # rows to spare
    found = read_traces(traces)
    assert found.samples.shape == (30, 4) and found.samples[0, 0] == 30 / 8
    next(traces.parent.glob("config_*_1.cfg")).unlink()
    assert read_traces(traces).samples.shape == (30, 4)  # as many as there are inputs


def test_keys_and_answers_that_were_not_recorded(tmp_path):
    project = unpacked(tmp_path, "chipwhisperer-no-key.zip")
    for name in ("keylist", "knownkey", "textout"):
        assert np.load(arrays(tmp_path, 0, name), allow_pickle=True).dtype == object
    found = read_traces(project)
    assert found.samples.shape == (3, 4) and found.keys.size == 0 and found.outputs is None


def test_a_known_key_counts_where_traces_have_none(tmp_path):
    project = unpacked(tmp_path, "chipwhisperer-no-key.zip")
    np.save(arrays(tmp_path, 0, "knownkey"), bytearray(KEY))
    assert read_traces(project).keys.tolist() == KEY


def test_each_capture_may_have_a_key_of_its_own_for_all_its_traces(tmp_path):
    project = unpacked(tmp_path)
    for number, key in enumerate((KEY, KEY[::-1])):
        none = np.full(30, None, dtype=object)
        np.save(arrays(tmp_path, number, "keylist"), none)
        np.save(arrays(tmp_path, number, "knownkey"), bytearray(key))
    found = read_traces(project).keys
    assert found.tolist() == [KEY] * 30 + [KEY[::-1]] * 30


def test_texts_of_bytes(tmp_path):
    """With `bytes` in place of `bytearray`, NumPy saves texts of a fixed length."""
    project = unpacked(tmp_path, "chipwhisperer-no-key.zip")
    texts = [bytes(TEXT[0]), bytes(16), bytes(TEXT[1])]
    np.save(arrays(tmp_path, 0, "textin"), texts)
    assert read_traces(project).inputs.tolist() == [TEXT[0], [0] * 16, TEXT[1]]


def test_captures_that_are_saved_again_or_disabled(tmp_path):
    """A second save leaves the files of the first in the folder; a disabled capture stays there, too."""
    project = unpacked(tmp_path)
    for file in list((tmp_path / "capture_data" / "traces").glob("*_0*")):
        shutil.copy(file, file.with_name(file.name.replace("_0", "_9")))
    assert len(read_traces(tmp_path)) == 60
    project.write_text(project.read_text().replace("enabled0 = True", "enabled0 = False"))
    assert read_traces(project).samples[0, 0] == 30 / 8
    project.write_text(project.read_text().replace("/", "\\").replace("enabled1 = True", "enabled1 = False"))
    assert "no capture with traces is enabled" in refused(project)


def test_a_folder_may_be_named_as_a_project_is(tmp_path):
    folder = tmp_path / "night.cwp"
    folder.mkdir()
    unpacked(folder)
    assert read_traces(folder).samples.shape == (60, 4)


def test_a_capture_without_traces_is_passed_over(tmp_path):
    """The next one counts; so do options that are there twice, of which the last one holds."""
    project = unpacked(tmp_path)
    (config,) = (tmp_path / "capture_data" / "traces").glob("config_*_0.cfg")
    config.write_text(config.read_text() + "numTraces = 0\n")
    found = read_traces(project)
    assert found.samples.shape == (30, 4) and found.samples[0, 0] == 30 / 8
    text = project.read_text()
    project.write_text(text.replace("enabled1 = True", "enabled1 = True\nenabled1 = False"))
    assert "no capture with traces is enabled" in refused(project)
    project.write_text(text + "[Trace Management]\nenabled1 = 'False'\n")
    assert "no capture with traces is enabled" in refused(project)


def test_a_capture_of_one_trace_is_joined(tmp_path):
    project = unpacked(tmp_path)
    for name in ("traces", "textin", "textout", "keylist"):
        file = arrays(tmp_path, 1, name)
        np.save(file, np.load(file, allow_pickle=True)[:1].astype(float if name == "traces" else np.uint8))
    (config,) = (tmp_path / "capture_data" / "traces").glob("config_*_1.cfg")
    config.write_text(config.read_text().replace("numTraces = 30", "numTraces = 1"))
    found = read_traces(project)
    assert len(found) == 31 and found.keys.tolist() == KEY and len(found.outputs) == 31


def test_without_a_configuration_inputs_of_another_shape_count_no_traces(tmp_path):
    np.save(tmp_path / "a_traces.npy", np.ones((4, 3)))
    np.save(tmp_path / "a_textin.npy", np.zeros(0))
    assert "inputs must be a table of numbers, not (0,)" in refused(tmp_path)
    np.save(tmp_path / "a_textin.npy", np.zeros((3, 2)))
    assert "4 traces need 4 rows of inputs, not 3" in refused(tmp_path)
    spare = np.ones((4, 3))
    spare[3] = 0
    np.save(tmp_path / "a_traces.npy", spare)
    assert len(read_traces(tmp_path)) == 3


def changed(table):
    def change(folder, project):
        np.save(arrays(folder, 1, table), np.zeros((30, 5)))

    return change


def objects(folder, project):
    np.save(arrays(folder, 1, "keylist"), np.array([None] * 29 + [bytearray(16)], object), allow_pickle=True)


def no_keys(folder, project):
    for name in ("keylist", "knownkey"):
        np.save(arrays(folder, 1, name), np.array([None] * 30), allow_pickle=True)


def unloaded(folder, project):
    np.save(arrays(folder, 1, "traces"), None, allow_pickle=True)


def more_announced(folder, project):
    (config,) = (folder / "capture_data" / "traces").glob("config_*_1.cfg")
    config.write_text(config.read_text().replace("numTraces = 30", "numTraces = 300"))


def rows_of(table, count):
    def change(folder, project):
        np.save(arrays(folder, 1, table), np.zeros((count, 16), np.uint8))

    return change


def boxes(folder, project):
    np.save(arrays(folder, 1, "textin"), np.zeros((30, 4, 4), np.uint8))


def flat(folder, project):
    np.save(arrays(folder, 1, "traces"), np.zeros(30))


def moved(folder, project):
    (folder / "capture_data").rename(folder / "else_data")


def another_program(folder, project):
    project.write_text("[core]\n")


def counted(line):
    def change(folder, project):
        (config,) = (folder / "capture_data" / "traces").glob("config_*_1.cfg")
        config.write_text(config.read_text().replace("numTraces = 30", line))

    return change


def long_name(folder, project):
    project.write_text(f"[Trace Management]\ntracefile0 = {'x' * 5000}\n")


NO_COUNTS = ["", *(f"numTraces = {count}" for count in ("many", "-1", "+3", "3.0", "٣", ""))]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (changed("traces"), "differ in samples per trace"),
        (changed("keylist"), "keys of its captures differ in length"),
        (objects, "Python objects"),
        (no_keys, "1 of its 2 captures have no keys"),
        (unloaded, "has no traces; record some"),
        (more_announced, "announces 300"),
        (rows_of("textin", 29), "60 traces need 60 rows of inputs, not 59"),
        (rows_of("textin", 1), "60 traces need 60 rows of inputs, not 31"),
        (rows_of("textout", 1), "60 traces need 60 rows of outputs, not 31"),
        (rows_of("keylist", 2), "60 traces need 60 rows of keys, not 32"),
        (boxes, "textin.npy: must be a table, not (30, 4, 4); save the project again"),
        (flat, "has no traces; record some"),
        (moved, "is not there; keep capture_data next to it"),
        (another_program, "not of ChipWhisperer: it has no section"),
        *((counted(line), "has no number of traces") for line in NO_COUNTS),
        (long_name, "is not there"),
    ],
)
def test_projects_that_do_not_fit_are_refused(tmp_path, change, said):
    project = unpacked(tmp_path)
    change(tmp_path, project)
    with pytest.raises(InputError) as caught:
        read_traces(project)
    assert said in str(caught.value) and str(tmp_path) in str(caught.value) and "\n" not in str(caught.value)


def test_a_folder_of_several_projects_needs_a_name(tmp_path):
    shutil.copy(unpacked(tmp_path), tmp_path / "other.cwp")
    assert "give the path of one: capture.cwp, other.cwp" in refused(tmp_path)


def test_the_command_takes_a_project_and_refuses_other_files(tmp_path, capsys):
    project = unpacked(tmp_path)
    code, _, err = run(capsys, "leak", str(project))
    assert code == 2 and "the traces have no classes" in err
    code, _, err = run(capsys, "leak", str(READERS / "chipwhisperer.zip"))
    assert code == 2 and err.count("\n") == 1 and "give traces: NAME.trs, NAME.npz, NAME.cwp" in err


# --- trsfile and lascar


@pytest.mark.parametrize("coding", ["byte", "short", "int", "float"])
def test_trsfile_with_parameters(coding):
    found = read_traces(READERS / f"trsfile-{coding}.trs")
    assert found.samples.tolist() == [[-3, 0, 100]] * 2 and found.keys.tolist() == [0] * 16
    assert found.inputs.tolist() == TEXT and found.outputs.tolist() == [text[::-1] for text in TEXT]


@pytest.mark.parametrize("name", ["trsfile-raw-places.trs", "trsfile0-places.trs"])
def test_trsfile_with_raw_data_and_their_places(name):
    """Version 2 makes one parameter LEGACY_DATA of raw data; the header's places still say what it has."""
    found = read_traces(READERS / name)
    assert found.samples.tolist() == [[-3, 0, 100]] * 2 and found.keys.size == 0
    assert found.inputs.tolist() == TEXT and found.outputs.tolist() == [text[::-1] for text in TEXT]


@pytest.mark.parametrize(
    ("name", "said"),
    [
        (
            "trsfile-raw.trs",
            "where the input is in the 32 bytes of data of a trace (parameters: LEGACY_DATA)",
        ),
        ("trsfile0.trs", "where the input is in the 32 bytes of data of a trace (parameters: none)"),
        ("trsfile-numbers.trs", "parameter INPUT must be bytes"),
        ("trsfile-empty.trs", "0 traces: there is nothing to analyse"),
    ],
)
def test_trsfile_without_what_is_needed_is_refused(name, said):
    assert said in refused(READERS / name)


def test_lascar_with_named_columns_of_values():
    found = read_traces(READERS / "lascar.npz")
    assert found.samples.shape == (3, 16) and found.keys.tolist() == KEY
    assert found.inputs.shape == (3, 16) and len(np.unique(found.inputs, axis=0)) == 3
