/* SPDX-License-Identifier: MIT
 * sandbox.h: takes from this process what a guest's firmware must never reach through a fault of a simulator:
 * from sandbox_enter on, the kernel (Linux, seccomp) refuses to open files and sockets and to start programs.
 * What is open already (pipes, a serial port, a pseudo-terminal, the EEPROM's file) stays usable, and memory
 * and time can be asked for. A refused call fails with EPERM. It knows no simulator.
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

/* Not every machine has every call: those by an older name are left out where there is a newer one only. */
static const int sandbox_allowed[] = {
    /* what is open: read, write, wait, close */
    __NR_read,
    __NR_write,
    __NR_readv,
    __NR_writev,
    __NR_pwrite64,
    __NR_close,
    __NR_ppoll,
#ifdef __NR_poll
    __NR_poll,
#endif
#ifdef __NR_ppoll_time64
    __NR_ppoll_time64,
#endif
    /* memory; a simulator that translates code needs pages that may run */
    __NR_brk,
    __NR_munmap,
    __NR_mremap,
    __NR_mprotect,
    __NR_madvise,
#ifdef __NR_mmap
    __NR_mmap,
#endif
#ifdef __NR_mmap2
    __NR_mmap2,
#endif
    /* time and threads' locks */
    __NR_clock_gettime,
    __NR_gettimeofday,
    __NR_clock_nanosleep,
    __NR_nanosleep,
    __NR_futex,
    __NR_sched_yield,
#ifdef __NR_clock_gettime64
    __NR_clock_gettime64,
    __NR_clock_nanosleep_time64,
    __NR_futex_time64,
#endif
    /* signals and the end */
    __NR_rt_sigaction,
    __NR_rt_sigprocmask,
    __NR_rt_sigreturn,
    __NR_restart_syscall,
    __NR_exit,
    __NR_exit_group,
#ifdef __NR_sigreturn
    __NR_sigreturn,
#endif
};

enum { SANDBOX_CALLS = sizeof sandbox_allowed / sizeof sandbox_allowed[0] };

#ifdef SANDBOX_MACHINE
/* Returns 0, or -1 with errno when the kernel refuses. */
static int sandbox_install(void) {
    static const uint32_t terminal[] = {TCGETS, TCFLSH}; /* of ioctl: ask and empty a terminal */
    static struct sock_filter filter[2 * SANDBOX_CALLS + 24];
    struct sock_fprog program = {0, filter};
    unsigned short n = 0;
    filter[n++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch));
    filter[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SANDBOX_MACHINE, 1, 0);
    filter[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM);
    filter[n++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
    for (int i = 0; i < SANDBOX_CALLS; i++) {
        filter[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)sandbox_allowed[i], 0, 1);
        filter[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    }
    filter[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_ioctl, 1, 0);
    filter[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM);
    /* The low half of the second argument; all machines above are little-endian. */
    filter[n++] =
        (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args) + 8);
    for (size_t i = 0; i < sizeof terminal / sizeof terminal[0]; i++) {
        filter[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, terminal[i], 0, 1);
        filter[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    }
    filter[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM);
    program.len = n;
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) {
        return -1;
    }
    /* Without SPEC_ALLOW, kernels before 5.16 slow down every load after a store. */
#if defined(__NR_seccomp) && defined(SECCOMP_FILTER_FLAG_SPEC_ALLOW)
    if (syscall(__NR_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_SPEC_ALLOW, &program) == 0) {
        return 0;
    }
#endif
    return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0);
}
#else
static int sandbox_install(void) {
    errno = ENOSYS;
    return -1;
}
#endif

/* After all files are open and before the guest's first instruction. Where the kernel has no such filter,
 * that is said once and the run goes on. */
static void sandbox_enter(const char *driver) {
#ifndef SANDBOX_OFF /* for sanitizers, which read files of their own when they report */
    if (sandbox_install() != 0) {
        fprintf(stderr, "%s: this kernel confines no process (seccomp: %s): the firmware runs without\n", driver,
                strerror(errno));
    }
#else
    (void)driver;
#endif
}

#endif
