/* SPDX-License-Identifier: MIT
 * restart.h: one process starts its firmware again and again. It makes all ready once and then forks: a child runs
 * the firmware, confined as ever, and ends with RESTART_CODE when it is told to; the next one begins with the very
 * state that the first began with, whatever the firmware did. Any other end of a child is the whole driver's end. It
 * knows no simulator.
 */
#ifndef MOTECRYPT_RESTART_H
#define MOTECRYPT_RESTART_H

#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

enum { RESTART_CODE = 77 };

static int restart_descriptor = -1; /* each byte there asks for another start; -1: there is one start only */

/* In the parent, as the child has ended: the same way. */
static void restart_end_as(int status) {
    if (WIFSIGNALED(status)) {
        struct rlimit none = {0, 0};
        setrlimit(RLIMIT_CORE, &none); /* the child has left its own */
        signal(WTERMSIG(status), SIG_DFL);
        raise(WTERMSIG(status));
    }
    _exit(WIFEXITED(status) ? WEXITSTATUS(status) : 1);
}

/* Before the sandbox and the firmware's first instruction. Returns in each child. */
static void restart_point(void) {
    pid_t parent = getpid();
    while (restart_descriptor >= 0) {
        int status;
        pid_t child;
        fflush(NULL);
        child = fork();
        if (child == 0) {
            prctl(PR_SET_PDEATHSIG, SIGKILL);
            if (getppid() != parent) {
                _exit(1);
            }
            return;
        }
        if (child < 0 || waitpid(child, &status, 0) < 0) {
            perror("another start");
            exit(1);
        }
        if (!WIFEXITED(status) || WEXITSTATUS(status) != RESTART_CODE) {
            restart_end_as(status);
        }
    }
}

/* Wait for input, for ever where `timeout_ms` is -1; another start ends the process instead. Returns 0 when none has
 * come in time. */
static int restart_or_input(int timeout_ms) {
    struct pollfd ready[] = {{STDIN_FILENO, POLLIN, 0}, {restart_descriptor, POLLIN, 0}};
    int count = poll(ready, 2, timeout_ms);
    char byte;
    if (count > 0 && (ready[1].revents & POLLIN) && read(restart_descriptor, &byte, 1) == 1) {
        fflush(NULL);
        _exit(RESTART_CODE);
    }
    return count != 0;
}

#endif
