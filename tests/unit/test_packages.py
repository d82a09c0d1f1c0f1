"""The packages: built twice to the same bytes, listed whole, and useful where there is no compiler."""

from __future__ import annotations

import hashlib
import importlib.machinery
import importlib.util
import json
import os
import re
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parents[2]


def script() -> ModuleType:
    loader = importlib.machinery.SourceFileLoader("package", str(ROOT / ".ci" / "package"))
    spec = importlib.util.spec_from_loader("package", loader)
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    kept, sys.dont_write_bytecode = sys.dont_write_bytecode, True
    try:
        loader.exec_module(module)
    finally:
        sys.dont_write_bytecode = kept
    return module


@pytest.fixture(scope="module")
def dist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What the command makes, without the link's cores: contract/test_prebuilt_cores.py."""
    folder = tmp_path_factory.mktemp("dist")
    (folder / "motecrypt-0.0.0-py3-none-any.whl").write_bytes(b"of an older version")
    done = subprocess.run(
        [sys.executable, "-P", ROOT / ".ci" / "package", folder],
        env={**os.environ, "MOTECRYPT_CORES": "none"},
        capture_output=True,
        text=True,
        timeout=280,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return folder


@pytest.mark.long
def test_the_archives_carry_all_and_their_sums(dist: Path) -> None:
    names = sorted(path.name for path in dist.iterdir())
    wheel = next(name for name in names if name.endswith(".whl"))
    sdist = next(name for name in names if name.endswith(".tar.gz"))
    assert names == sorted([wheel, sdist, "SHA256SUMS", "sbom.cdx.json"]) and "0.0.0" not in wheel
    sums = dict(reversed(line.split("  ")) for line in (dist / "SHA256SUMS").read_text().splitlines())
    assert sums == {name: hashlib.sha256((dist / name).read_bytes()).hexdigest() for name in sums}
    assert set(sums) == {wheel, sdist, "sbom.cdx.json"}
    inside = zipfile.ZipFile(dist / wheel).namelist()
    with tarfile.open(dist / sdist) as archive:
        packed = {name.partition("/")[2] for name in archive.getnames()}
    code = {name for name in inside if name.startswith("motecrypt/")}
    assert {f"src/{name}" for name in code} <= packed and {"pyproject.toml", "LICENSE", "README.md"} <= packed
    there = {
        str(path.relative_to(ROOT / "src"))
        for path in (ROOT / "src" / "motecrypt").rglob("*")
        if path.is_file() and path.suffix != ".pyc"
    }
    assert code == there


@pytest.mark.long
def test_the_bill_of_materials_lists_what_is_locked(dist: Path) -> None:
    bill = json.loads((dist / "sbom.cdx.json").read_text())
    assert (bill["bomFormat"], bill["specVersion"]) == ("CycloneDX", "1.5")
    assert re.fullmatch(r"urn:uuid:[0-9a-f-]{36}", bill["serialNumber"])
    wheel = next(dist.glob("*.whl"))
    own = bill["metadata"]["component"]
    assert own["hashes"] == [{"alg": "SHA-256", "content": hashlib.sha256(wheel.read_bytes()).hexdigest()}]
    assert own["version"] in wheel.name
    components = {each["bom-ref"]: each for each in bill["components"]}
    assert len(components) == len(bill["components"])
    base = script().locked(ROOT / "src/motecrypt/data/locks/base.txt")
    assert {name for name, _ in base} >= {"click", "cryptography", "numpy"}
    for name, version in base:
        assert components[f"pkg:pypi/{name}@{version}"]["scope"] == "required"
    assert set(bill["dependencies"][0]["dependsOn"]) == {
        f"pkg:pypi/{name}@{version}" for name, version in base
    }
    packages = {each["name"] for ref, each in components.items() if ref.startswith("pkg:deb/")}
    assert {"gcc-avr", "gcc-arm-none-eabi"} <= packages
    assert all(len(each["hashes"][0]["content"]) == 64 for each in components.values() if "hashes" in each)
    assert "pkg:pypi/pytest" not in json.dumps(bill), "tools of the tests are not installed by anyone"


def test_builds_that_differ_are_refused(tmp_path: Path) -> None:
    for folder, text in (("a", "1"), ("b", "2")):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "x.whl").write_text(text)
    package, one = script(), [tmp_path / "a" / "x.whl"]
    package.same(one, one, "")
    with pytest.raises(SystemExit, match=r"x\.whl differs from one checkout to another"):
        package.same(one, [tmp_path / "b" / "x.whl"], "from one checkout to another")
    with pytest.raises(SystemExit, match="differs"):
        package.same(one, [], "")


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (["--version"], 0),
        (["list", "devices"], 0),
        (["records", "--stored", "--device", "uno"], 0),
        (["doctor"], 0),
        (["measure", "--cipher", "rc4"], 2),
    ],
)
def test_where_no_compiler_is_views_work_and_measuring_names_the_packages(
    words: list[str], code: int, tmp_path: Path
) -> None:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("MOTECRYPT")}
    done = subprocess.run(
        [sys.executable, "-m", "motecrypt", *words],
        cwd=tmp_path,
        env={
            **kept,
            "PATH": str(tmp_path),
            "PYTHONPATH": str(ROOT / "src"),
            "MOTECRYPT_CACHE": str(tmp_path / "cache"),
            "MOTECRYPT_DB": str(tmp_path / "r.db"),
        },
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == code, done.stderr
    if code:
        assert "gcc-avr" in done.stderr and done.stderr.count("\n") == 1 and not done.stdout
    else:
        assert done.stdout and "Traceback" not in done.stderr
