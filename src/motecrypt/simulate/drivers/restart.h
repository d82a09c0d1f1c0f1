/* SPDX-License-Identifier: MIT
 * restart.h: one process starts its firmware again and again. It prepares everything once and then forks. A
 * child runs the firmware, confined as usual, and ends with RESTART_CODE on request; the next child begins
 * with the same state as the first, independent of what the firmware changed. Any other end of a child ends
 * the whole driver. It does not depend on the simulator.
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

static int restart_descriptor; /* each byte there asks for another start; 0: there is one start only */

/* In the parent, as the child has ended: the same way. */
static void restart_end_as(int status) {
    static const struct rlimit none; /* the child has left its own core */
    if (WIFSIGNALED(status)) {
        setrlimit(RLIMIT_CORE, &none);
        signal(WTERMSIG(status), SIG_DFL);
        raise(WTERMSIG(status));
    }
    _exit(WEXITSTATUS(status));
}

/* Before the sandbox and the firmware's first instruction. Returns in each child. */
static void restart_point(void) {
    while (restart_descriptor) {
        int status;
        pid_t child;
        fflush(NULL);
        child = fork();
        if (child == 0) {
            prctl(PR_SET_PDEATHSIG, SIGKILL);
            return;
        }
        if (waitpid(child, &status, 0) < 0) { /* nor is there a child where fork has failed */
            perror("another start");
            exit(EXIT_FAILURE);
        }
        if (!WIFEXITED(status) || WEXITSTATUS(status) != RESTART_CODE) {
            restart_end_as(status);
        }
    }
}

/* Waits for input; another start ends the process instead. */
static void restart_or_input(void) {
    struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};
    struct pollfd ready[] = {input, {.fd = restart_descriptor, .events = POLLIN}};
    char byte;
    poll(ready, 2, -1);
    if ((ready[1].revents & POLLIN) && read(restart_descriptor, &byte, 1) == 1) {
        fflush(NULL);
        _exit(RESTART_CODE);
    }
}

#endif
