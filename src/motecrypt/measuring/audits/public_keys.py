"""Secret taint of public-key operations on the host: secret keys, seeds, randomness under valgrind."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from pathlib import Path

from motecrypt.attack.audits import taint
from motecrypt.attack.audits.taint import Sighting, TaintVerdict
from motecrypt.base import process
from motecrypt.base.model import Implementation, Operation
from motecrypt.build.setup import have
from motecrypt.build.toolchain import BuildRequest, build
from motecrypt.build.toolchain.drivers import driver
from motecrypt.catalog import Catalog
from motecrypt.catalog.publickey import INPUTS, ON_A_MESSAGE, PublicKeyAlgorithm
from motecrypt.measuring.audits import Unavailable
from motecrypt.measuring.audits.taint import read_report
from motecrypt.measuring.bench.publickey import cases_of

#: Inputs that nobody else may know. The parts of a signature's or a ciphertext's check are public.
SECRETS = ("seed", "secret", "random")
MESSAGE_BYTES = 16


@dataclass(frozen=True)
class PublicKeyTaint:
    """What memcheck saw of one operation: the verdict, the places that it rests on, and those set aside
    because they act on public values."""

    algorithm: str
    operation: Operation
    implementation: str
    verdict: TaintVerdict
    sightings: tuple[Sighting, ...]
    public: tuple[Sighting, ...]


def secret_parts(algorithm: PublicKeyAlgorithm, operation: Operation) -> list[tuple[int, int]]:
    """Offset and length of each secret part of the operation's inputs; none where all of it is public."""
    found: list[tuple[int, int]] = []
    start = 0
    for name in INPUTS[operation]:
        size = algorithm.sizes[name]
        if name in SECRETS:
            at = start
            for offset, count in algorithm.public_in_secret if name == "secret" else ():
                found += [(at, start + offset - at)] if start + offset > at else []
                at = start + offset + count
            found += [(at, start + size - at)] if start + size > at else []
        start += size
    return found


def follow(catalog: Catalog, algorithm: PublicKeyAlgorithm, body: Implementation) -> PublicKeyTaint:
    """Run an operation on this computer and follow its secrets.

    Raises
    ------
    Unavailable
        valgrind is missing, or the run failed.
    BuildError
        It does not build on this computer.
    """
    if not have("taint"):
        raise Unavailable("valgrind is missing: apt-get install --no-install-recommends valgrind")
    (operation,) = body.operations
    host = catalog.device("host")
    library = build(BuildRequest(host, body, next(iter(host.placements)))).elf
    case = cases_of(algorithm, operation, MESSAGE_BYTES if operation in ON_A_MESSAGE else 0)[0]
    parts = [str(number) for part in secret_parts(algorithm, operation) for number in part]
    with tempfile.TemporaryDirectory(prefix="motecrypt-") as folder:
        inputs, message, report = (Path(folder) / name for name in ("inputs", "message", "report.xml"))
        inputs.write_bytes(case.given)
        message.write_bytes(case.message)
        memcheck = ["valgrind", "--tool=memcheck", "-q", "--error-limit=no", "--leak-check=no"]
        memcheck += ["--num-callers=16", "--xml=yes", f"--xml-file={report}"]
        program = [driver("taint_public_key"), library, inputs, message, algorithm.output_bytes(operation)]
        outcome = process.run([*memcheck, *map(str, program), *parts], work_s=process.LONG_S)
        if not outcome.ok:
            raise Unavailable(f"under valgrind: {outcome.first_error}")
        seen = read_report(report.read_text(encoding="utf-8", errors="replace"))["encrypt"]
    public = tuple(one for one in seen if one.function in algorithm.public_functions)
    rest = [one for one in seen if one not in public]
    verdict, found, _ = taint.judge({"encrypt": rest}, has_tag=False)
    return PublicKeyTaint(algorithm.name, operation, body.name, verdict, found, public)
