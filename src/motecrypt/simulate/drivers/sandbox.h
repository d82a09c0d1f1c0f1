/* SPDX-License-Identifier: MIT
 * sandbox.h: takes from this process what a guest's firmware must never reach through a fault of a simulator:
 * from sandbox_enter on, the kernel (Linux, seccomp) refuses to open files and sockets and to start programs.
 * What is open already (pipes, a serial port, a pseudo-terminal, the EEPROM's file) stays usable, and memory
 * and time can be requested. A refused call fails with EPERM. It does not depend on the simulator.
 */
#ifndef MOTECRYPT_SANDBOX_H
#define MOTECRYPT_SANDBOX_H

#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "bounds.h"

#if defined(__x86_64__) && defined(__LP64__)
#define SANDBOX_MACHINE AUDIT_ARCH_X86_64
#elif defined(__aarch64__) && defined(__AARCH64EL__)
#define SANDBOX_MACHINE AUDIT_ARCH_AARCH64
#elif defined(__riscv) && __riscv_xlen == 64
#define SANDBOX_MACHINE AUDIT_ARCH_RISCV64
#elif defined(__i386__)
#define SANDBOX_MACHINE AUDIT_ARCH_I386
#elif defined(__arm__) && defined(__ARM_EABI__) && !defined(__ARMEB__)
#define SANDBOX_MACHINE AUDIT_ARCH_ARM
#endif

#ifdef SANDBOX_MACHINE

#define SANDBOX_LOAD(field) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, field)
#define SANDBOX_REFUSE BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM)
#define SANDBOX_REFUSE_UNLESS(value) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, 1, 0), SANDBOX_REFUSE
#define SANDBOX_ALLOW(value)                                                                                  \
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, 0, 1), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)

/* Not every machine has every call: those by an older name are left out where there is a newer one only. */
static struct sock_filter sandbox_filter[] = {
    SANDBOX_LOAD(offsetof(struct seccomp_data, arch)),
    SANDBOX_REFUSE_UNLESS(SANDBOX_MACHINE),
    SANDBOX_LOAD(offsetof(struct seccomp_data, nr)),
    /* what is open: read, write, wait, close */
    SANDBOX_ALLOW(__NR_read),
    SANDBOX_ALLOW(__NR_write),
    SANDBOX_ALLOW(__NR_readv),
    SANDBOX_ALLOW(__NR_writev),
    SANDBOX_ALLOW(__NR_pwrite64),
    SANDBOX_ALLOW(__NR_close),
    SANDBOX_ALLOW(__NR_ppoll),
#ifdef __NR_poll
    SANDBOX_ALLOW(__NR_poll),
#endif
#ifdef __NR_ppoll_time64
    SANDBOX_ALLOW(__NR_ppoll_time64),
#endif
    /* memory; a simulator that translates code needs pages that may run */
    SANDBOX_ALLOW(__NR_brk),
    SANDBOX_ALLOW(__NR_munmap),
    SANDBOX_ALLOW(__NR_mremap),
    SANDBOX_ALLOW(__NR_mprotect),
    SANDBOX_ALLOW(__NR_madvise),
#ifdef __NR_mmap
    SANDBOX_ALLOW(__NR_mmap),
#endif
#ifdef __NR_mmap2
    SANDBOX_ALLOW(__NR_mmap2),
#endif
    /* time and threads' locks */
    SANDBOX_ALLOW(__NR_clock_gettime),
    SANDBOX_ALLOW(__NR_gettimeofday),
    SANDBOX_ALLOW(__NR_clock_nanosleep),
    SANDBOX_ALLOW(__NR_nanosleep),
    SANDBOX_ALLOW(__NR_futex),
    SANDBOX_ALLOW(__NR_sched_yield),
#ifdef __NR_clock_gettime64
    SANDBOX_ALLOW(__NR_clock_gettime64),
    SANDBOX_ALLOW(__NR_clock_nanosleep_time64),
    SANDBOX_ALLOW(__NR_futex_time64),
#endif
    /* signals and the end */
    SANDBOX_ALLOW(__NR_rt_sigaction),
    SANDBOX_ALLOW(__NR_rt_sigprocmask),
    SANDBOX_ALLOW(__NR_rt_sigreturn),
    SANDBOX_ALLOW(__NR_restart_syscall),
    SANDBOX_ALLOW(__NR_exit),
    SANDBOX_ALLOW(__NR_exit_group),
#ifdef __NR_sigreturn
    SANDBOX_ALLOW(__NR_sigreturn),
#endif
    /* ask and empty a terminal: the low half of the second argument; all machines above are little-endian */
    SANDBOX_REFUSE_UNLESS(__NR_ioctl),
    SANDBOX_LOAD(offsetof(struct seccomp_data, args) + 8),
    SANDBOX_ALLOW(TCGETS),
    SANDBOX_ALLOW(TCFLSH),
    SANDBOX_REFUSE,
};

/* Whether the kernel confines us from now on; if not, errno holds the reason. */
static int sandbox_install(void) {
    struct sock_fprog program = {COUNT_OF(sandbox_filter), sandbox_filter};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) {
        return 0;
    }
    /* Without SPEC_ALLOW, kernels before 5.16 slow down every load after a store. */
#if defined(__NR_seccomp) && defined(SECCOMP_FILTER_FLAG_SPEC_ALLOW)
    if (syscall(__NR_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_SPEC_ALLOW, &program) == 0) {
        return 1;
    }
#endif
    return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}
#else
#define sandbox_install() (errno = ENOSYS, 0)
#endif

/* After all files are open and before the guest's first instruction. Where the kernel has no such filter,
 * it is reported once and the run continues. */
static void sandbox_enter(const char *driver) {
#ifndef SANDBOX_OFF /* for sanitizers, which read files of their own when they report */
    if (!sandbox_install()) {
        fprintf(stderr, "%s: this kernel confines no process (seccomp: %s): the firmware runs without\n", driver,
                strerror(errno));
    }
#else
    (void)driver;
#endif
}

#endif
