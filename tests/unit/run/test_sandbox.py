"""Firmware cannot reach the computer: the drivers' sandbox, by itself and in each driver while it runs."""

from __future__ import annotations

import os
import signal
import struct
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from motecrypt.build.toolchain import libraries
from motecrypt.build.toolchain.drivers import DRIVERS, driver
from motecrypt.catalog import Catalog
from motecrypt.simulate.emulate.images import ARM, Segment, elf_of
from motecrypt.simulate.runners.arm import command as arm_command
from motecrypt.simulate.runners.session import Options

AVR = 83
AVR_LOOP = bytes.fromhex("7894 ffcf")  # sei, rjmp to itself
#: The stack pointer and the reset vector at 0x10000100, then a branch to itself.
PICO_LOOP = (
    (0x20001000).to_bytes(4, "little") + (0x10000109).to_bytes(4, "little") + bytes.fromhex("fee7 fee7")
)
DEADLINE_S = 30.0

TRIES = r"""
#define _GNU_SOURCE
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include "sandbox.h"
#define TRY(what) (errno = 0, (long)(what) < 0 && errno == EPERM ? 0 : printf("%s: errno %d\n", #what, errno))
int main(void) {
    char *none[] = {NULL};
    char byte = 0;
    int pipes[2];
    if (pipe(pipes) != 0) {
        return 9;
    }
    sandbox_enter("tries");
    TRY(open("/etc/passwd", O_RDONLY));
    TRY(open("canary", O_WRONLY | O_CREAT, 0600));
    TRY(syscall(__NR_openat, AT_FDCWD, "canary", O_WRONLY | O_CREAT, 0600));
    TRY(socket(AF_INET, SOCK_STREAM, 0));
    TRY(socket(AF_UNIX, SOCK_DGRAM, 0));
    TRY(execve("/bin/true", none, none));
    TRY(fork());
    TRY(unlink("kept"));
    TRY(rename("kept", "canary"));
    TRY(mkdir("canary", 0700));
    TRY(chmod("kept", 0777));
    TRY(kill(getppid(), 0));
    TRY(ptrace(PTRACE_TRACEME, 0, 0, 0));
    TRY(ioctl(0, TIOCSTI, &byte));
    TRY(dup(0));
    if (write(pipes[1], "x", 1) != 1 || read(pipes[0], &byte, 1) != 1 || byte != 'x') {
        puts("pipes do not work");
    }
    if (malloc(1 << 24) == NULL) {
        puts("no memory");
    }
    puts("done");
    return 0;
}
"""

# A kernel without the filter, for the program that it starts, or one with an older way to it alone.
REFUSES = r"""
#include "sandbox.h"
#ifndef REFUSED
#define REFUSED PR_SET_SECCOMP
#endif
int main(int argc, char **argv) {
    struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_seccomp, 3, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_prctl, 0, 3),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, REFUSED, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EINVAL),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {sizeof filter / sizeof filter[0], filter};
    (void)argc;
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
        prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0) {
        return 9;
    }
    execv(argv[1], argv + 1);
    return 8;
}
"""


def _compiled(source: str, folder: Path, *more: str) -> Path:
    name = folder / f"program{len(list(folder.glob('*.c')))}"
    name.with_suffix(".c").write_text(source)
    flags = ["-Wall", "-Wextra", "-Werror", "-Wno-unused-function", f"-I{DRIVERS}"]
    command = ["gcc", *flags, *more, str(name.with_suffix(".c")), "-o", str(name)]
    subprocess.run(command, check=True, timeout=60)
    return name


def test_the_kernel_refuses_files_sockets_and_programs(tmp_path: Path) -> None:
    (tmp_path / "kept").write_text("kept")
    program = _compiled(TRIES, tmp_path)
    done = subprocess.run([program], capture_output=True, text=True, timeout=20, cwd=tmp_path, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "done\n", "")
    assert not (tmp_path / "canary").exists() and (tmp_path / "kept").read_text() == "kept"


@pytest.mark.parametrize(
    ("refused", "said"),
    [
        ("999", "done\n"),  # a kernel before 3.17: the call is by prctl
        ("PR_SET_NO_NEW_PRIVS", "tries: this kernel confines no process (seccomp: Invalid argument): "),
    ],
)
def test_a_kernel_that_knows_less(refused: str, said: str, tmp_path: Path) -> None:
    (tmp_path / "kept").write_text("kept")
    wrapper = _compiled(REFUSES, tmp_path, f"-DREFUSED={refused}")
    command = [wrapper, _compiled(TRIES if refused == "999" else ENTERS, tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=20, cwd=tmp_path, check=False)
    assert done.returncode == 0 and (done.stdout + done.stderr).startswith(said)


ENTERS = '#include "sandbox.h"\nint main(void) { sandbox_enter("tries"); return 0; }'

#: The system calls that a confined driver may use, besides TCGETS and TCFLSH of a terminal.
ALLOWED = """
read write readv writev pwrite64 close ppoll poll ppoll_time64 brk munmap mremap mprotect
madvise mmap mmap2 clock_gettime gettimeofday clock_nanosleep nanosleep futex sched_yield
clock_gettime64 clock_nanosleep_time64 futex_time64 rt_sigaction rt_sigprocmask rt_sigreturn
restart_syscall exit exit_group sigreturn
"""
TELLS = r"""
#include "sandbox.h"
#define SHOW(...) printf(__VA_ARGS__)
int main(void) {
    SHOW("arch %u\nioctl %d\nget %d\nflush %d\n", SANDBOX_MACHINE, __NR_ioctl, (int)TCGETS, (int)TCFLSH);
    SHOW("allow %u\nrefuse %u\n", SECCOMP_RET_ALLOW, SECCOMP_RET_ERRNO | EPERM);
@
    for (size_t i = 0; i < sizeof sandbox_filter / sizeof sandbox_filter[0]; i++) {
        const struct sock_filter *f = &sandbox_filter[i];
        SHOW("do %u %u %u %u\n", f->code, f->jt, f->jf, f->k);
    }
    return 0;
}
"""
LOAD_WORD, JUMP_IF_EQUAL, RETURN = 0x20, 0x15, 0x06  # of a filter (linux/bpf_common.h)


def _verdict(filter_: list[list[int]], data: bytes) -> int:
    """What the kernel does with a call: struct seccomp_data is number, architecture, place, six arguments."""
    at = value = 0
    while True:
        code, if_equal, if_not, k = filter_[at]
        at += 1
        if code == LOAD_WORD:
            value = int.from_bytes(data[k : k + 4], "little")
        elif code == JUMP_IF_EQUAL:
            at += if_equal if value == k else if_not
        else:
            assert code == RETURN
            return k


def test_each_call_that_is_allowed_is_one_that_a_driver_needs(tmp_path: Path) -> None:
    numbers = "".join(
        f'#ifdef __NR_{name}\n    SHOW("call %d\\n", __NR_{name});\n#endif\n' for name in ALLOWED.split()
    )
    program = _compiled(TELLS.replace("@\n", numbers), tmp_path)
    done = subprocess.run([program], capture_output=True, text=True, timeout=20, check=True)
    lines = [line.split() for line in done.stdout.splitlines()]
    told = {words[0]: int(words[1]) for words in lines if words[0] not in ("call", "do")}
    filter_ = [[int(word) for word in words[1:]] for words in lines if words[0] == "do"]
    allowed = {int(words[1]) for words in lines if words[0] == "call"}
    assert len(allowed) >= 25

    def verdict(number: int, machine: int, argument: int = 0) -> str:
        data = struct.pack("<iIQ6Q", number, machine, 0, 7, argument, 7, 7, 7, 7)
        return {told["allow"]: "allowed", told["refuse"]: "refused"}[_verdict(filter_, data)]

    for number in range(1024):
        assert verdict(number, told["arch"]) == ("allowed" if number in allowed else "refused")
        assert verdict(number, told["arch"] ^ 1) == "refused"
    for argument in range(0x5400, 0x5480):
        answer = "allowed" if argument in (told["get"], told["flush"]) else "refused"
        assert verdict(told["ioctl"], told["arch"], argument) == answer
        assert verdict(told["ioctl"], told["arch"], 0xA5A5_0000_0000 | argument) == answer


def _avr_elf(folder: Path) -> list[str]:
    (folder / "loop.elf").write_bytes(elf_of([Segment(0, AVR_LOOP)], AVR, 0))
    return [str(driver("simavr")), "--mcu", "atmega328p", "--clock", "16000000", str(folder / "loop.elf")]


def _avr_free(folder: Path) -> list[str]:
    (folder / "loop").write_bytes(AVR_LOOP)
    options = ["--mcu", "atmega328p", "--clock", "16000000", "--image", str(folder / "loop")]
    return [str(driver("avr_run")), *options]


def _pico_free(folder: Path) -> list[str]:
    (folder / "loop.elf").write_bytes(elf_of([Segment(0x10000100, PICO_LOOP)], ARM, 0x10000109))
    command = arm_command(Catalog.load().device("pico"), folder / "loop.elf", Options())
    at = command.index("--events")
    return [str(part) for part in [*command[:at], *command[at + 2 :], "--free"]]


@contextmanager
def _running(command: list[str]) -> Iterator[subprocess.Popen[str]]:
    with subprocess.Popen(command, stdin=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        try:
            yield process
        finally:
            process.kill()


def _status(process: subprocess.Popen[str]) -> dict[str, str]:
    """What the kernel says of a process, once it is confined or the deadline is over."""
    ends = time.monotonic() + DEADLINE_S
    while True:
        text = Path(f"/proc/{process.pid}/status").read_text()
        told = dict(line.split(":\t", 1) for line in text.splitlines() if ":\t" in line)
        if told.get("Seccomp") == "2" or time.monotonic() > ends or process.poll() is not None:
            return told
        time.sleep(0.02)


@pytest.mark.parametrize("prepare", [_avr_elf, _avr_free, _pico_free])
def test_every_driver_of_firmware_is_confined(prepare: Callable[[Path], list[str]], tmp_path: Path) -> None:
    command = [*prepare(tmp_path), *(["--max-cycles", str(1 << 62)] if prepare is not _pico_free else [])]
    with _running(command) as process:
        told = _status(process)
        assert (told.get("Seccomp"), told.get("NoNewPrivs")) == ("2", "1"), process.poll()
        assert told.get("Seccomp_filters", "1") == "1"


def test_without_the_filter_it_says_so_once_and_goes_on(tmp_path: Path) -> None:
    command = [str(_compiled(REFUSES, tmp_path)), *_avr_free(tmp_path), "--max-cycles", "100000"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=20, check=False)
    assert done.returncode == 0, done
    said, end = done.stderr.splitlines()
    assert (
        said
        == "avr_run: this kernel confines no process (seccomp: Invalid argument): the firmware runs without"
    )
    assert '"event":"limit"' in end


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_the_link_to_a_pseudo_terminal_goes_however_the_driver_ends(number: int, tmp_path: Path) -> None:
    link = tmp_path / "port"
    with _running([*_avr_free(tmp_path), "--pty", str(link)]) as process:
        assert _status(process).get("Seccomp") == "2"
        assert link.is_symlink()
        os.kill(process.pid, number)
        process.wait(DEADLINE_S)
        ends = time.monotonic() + DEADLINE_S
        while link.is_symlink() and time.monotonic() < ends:
            time.sleep(0.02)
        assert not link.is_symlink()


def test_a_link_that_leads_elsewhere_by_now_stays(tmp_path: Path) -> None:
    link = tmp_path / "port"
    with _running([*_avr_free(tmp_path), "--pty", str(link)]) as process:
        assert _status(process).get("Seccomp") == "2"
        link.unlink()
        link.symlink_to("/dev/null")
        process.terminate()
        process.wait(DEADLINE_S)
    assert link.readlink() == Path("/dev/null")


VCD = """
#include <avr/io.h>
#include <avr_mcu_section.h>
AVR_MCU(16000000, "atmega328p");
AVR_MCU_VCD_FILE("@", 1000);
const struct avr_mmcu_vcd_trace_t trace _MMCU_ = {AVR_MCU_VCD_SYMBOL("X"), .what = (void *)&GPIOR0,};
int main(void) { for (;;) GPIOR0++; }
"""


def test_no_section_of_an_elf_file_makes_the_simulator_write_a_file(tmp_path: Path) -> None:
    """libsimavr's own reader writes a trace to whatever file the section .mmcu names."""
    canary = tmp_path / "c.vcd"
    (tmp_path / "f.c").write_text(VCD.replace("@", "c.vcd"))
    include = f"-I{libraries.headers('simavr') / 'simavr' / 'avr'}"
    command = ["avr-gcc", "-mmcu=atmega328p", "-Os", include, "f.c", "-o", "f.elf"]
    subprocess.run(command, check=True, timeout=60, cwd=tmp_path)
    assert b"c.vcd" in (tmp_path / "f.elf").read_bytes()
    options = ["--mcu", "atmega328p", "--clock", "16000000", "--max-cycles", "100000", "f.elf"]
    done = subprocess.run(
        [driver("simavr"), *options], capture_output=True, text=True, timeout=20, cwd=tmp_path, check=False
    )
    assert "no answer within 100000 cycles" in done.stderr
    assert not canary.exists()
