/* SPDX-License-Identifier: MIT
 * line.h: the far end of a free-running firmware's UART: standard output and input, a serial port, or a new
 * pseudo-terminal; and the wall clock, for runs in real time. It does not depend on a chip.
 */
#ifndef MOTECRYPT_LINE_H
#define MOTECRYPT_LINE_H

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

enum { LINE_BYTES = 4096 };

struct line {
    const char *until;
    size_t until_matched;
    uint64_t max_output, sent;
    int stamps, reads_input;
    int seen_until, flooded; /* reasons to end */
    int port;                /* a serial port or the pseudo-terminal's master; -1: none */
    int is_pty;
    int joined;   /* somebody has the pseudo-terminal open */
    int opened;   /* and has just opened it */
    int vanished; /* the port has gone */
    const char *link;
    int helper_ends, helper_done; /* pipes to and from the process that removes the link */
    const char *name; /* of the pseudo-terminal */
    uint8_t input[LINE_BYTES], output[LINE_BYTES];
    size_t input_at, input_end, output_end;
    int at_line_start;
};

static struct line *line_of_exit;

static void line_flush(struct line *line) {
    size_t at = 0;
    while (at < line->output_end) {
        ssize_t n = write(STDOUT_FILENO, line->output + at, line->output_end - at);
        if (n < 0 && errno != EINTR) {
            exit(0); /* nobody listens any more */
        }
        at += n > 0 ? (size_t)n : 0;
    }
    line->output_end = 0;
}

static void line_put(struct line *line, const void *bytes, size_t count) {
    if (line->output_end + count > sizeof line->output) {
        line_flush(line);
    }
    memcpy(line->output + line->output_end, bytes, count);
    line->output_end += count;
}

static void line_match(struct line *line, char byte) {
    size_t length = strlen(line->until), keep;
    if (line->until[line->until_matched] == byte) {
        line->until_matched++;
    } else { /* the longest end of what was matched, and this byte, that the text begins with */
        for (keep = line->until_matched; keep > 0; keep--) {
            if (line->until[keep - 1] == byte &&
                memcmp(line->until, line->until + line->until_matched - (keep - 1), keep - 1) == 0) {
                break;
            }
        }
        line->until_matched = keep;
    }
    if (line->until_matched == length) {
        line->seen_until = true;
    }
}

static void line_to_port(struct line *line, uint8_t byte) {
    for (int tries = 0; tries < 1000; tries++) {
        struct pollfd room = {line->port, POLLOUT, 0};
        if (write(line->port, &byte, 1) == 1) {
            return;
        }
        if (errno != EAGAIN && errno != EINTR) {
            line->vanished = !line->is_pty;
            return;
        }
        poll(&room, 1, 1);
    }
    /* Nobody reads: a real UART's bytes fall on the floor as well. */
}

/* A byte leaves the firmware at `seconds` of its time. Returns 1 when there is a reason to end. */
static int line_send(struct line *line, uint8_t byte, double seconds) {
    if (line->seen_until) {
        return 1;
    }
    if (line->stamps && line->at_line_start) {
        line_flush(line);
        line->output_end = (size_t)snprintf((char *)line->output, sizeof line->output, "%13.6f  ", seconds);
    }
    line->at_line_start = byte == '\n';
    line_put(line, &byte, 1);
    if (line->until != NULL) {
        line_match(line, (char)byte);
    }
    if (++line->sent > line->max_output) {
        line->flooded = true;
    }
    if (line->port >= 0 && (!line->is_pty || line->joined)) {
        line_to_port(line, byte);
    }
    return line->seen_until || line->flooded;
}

static void line_watch_pty(struct line *line) {
    struct pollfd state = {line->port, POLLIN, 0};
    int joined = poll(&state, 1, 0) >= 0 && !(state.revents & POLLHUP);
    if (joined && !line->joined) {
        line->opened = true;
    }
    if (!joined && line->joined) {
        tcflush(line->port, TCIOFLUSH);
    }
    line->joined = joined;
}

static int line_read(struct line *line, int descriptor) {
    ssize_t n = read(descriptor, line->input, sizeof line->input);
    line->input_at = 0;
    line->input_end = n > 0 ? (size_t)n : 0;
    return n > 0 ? 1 : n == 0 || (errno != EAGAIN && errno != EINTR) ? -1 : 0;
}

/* Every millisecond or so: pass output on, see who is there, and take input when all before it is used up;
 * `listening`: the firmware's receiver is on (what is piped in waits for it). */
static void line_look(struct line *line, int listening) {
    line_flush(line);
    line->opened = 0;
    if (line->is_pty) {
        line_watch_pty(line);
    }
    if (line->input_at < line->input_end || line->opened) {
        return;
    }
    if (line->port >= 0 && (!line->is_pty || line->joined)) {
        int got = line_read(line, line->port);
        if (got > 0) {
            return;
        }
        line->vanished = got < 0 && !line->is_pty;
    }
    if (line->reads_input && listening) {
        struct pollfd ready = {STDIN_FILENO, POLLIN, 0};
        if (poll(&ready, 1, 0) > 0 && line_read(line, STDIN_FILENO) < 0) {
            line->reads_input = 0;
        }
    }
}

/* Removes the link to the pseudo-terminal, unless it leads elsewhere by now. */
static void line_unlink(const struct line *line) {
    char target[PATH_MAX];
    ssize_t n = readlink(line->link, target, sizeof target);
    if (n > 0 && (size_t)n == strlen(line->name) && memcmp(target, line->name, (size_t)n) == 0) {
        unlink(line->link);
    }
}

/* A process of its own removes the link when this one has ended for any reason: by then this one may touch
 * no file (sandbox.h). It runs no firmware, and keeps only the pipe open that signals the end. */
static int line_leave_to_helper(struct line *line) {
    int ends[2], done[2];
    pid_t helper;
    if (pipe(ends) != 0 || pipe(done) != 0 || (helper = fork()) < 0) {
        return -1;
    }
    if (helper == 0) {
        char byte;
        long most = sysconf(_SC_OPEN_MAX);
        setsid(); /* Ctrl-C is for the simulator */
        signal(SIGTERM, SIG_IGN);
        signal(SIGINT, SIG_IGN);
        for (int i = 0; i < (most > 0 && most < 4096 ? most : 4096); i++) {
            if (i != ends[0] && i != done[1]) {
                close(i);
            }
        }
        while (read(ends[0], &byte, 1) < 0 && errno == EINTR) {
        }
        line_unlink(line);
        _exit(0);
    }
    close(ends[0]);
    close(done[1]);
    line->helper_ends = ends[1];
    line->helper_done = done[0];
    fcntl(line->helper_ends, F_SETFD, FD_CLOEXEC);
    fcntl(line->helper_done, F_SETFD, FD_CLOEXEC);
    line_of_exit = line;
    return 0;
}

/* The helper ends when the pipe to it is closed; the pipe from it closes when it has ended. */
static void line_wait_for_helper(void) {
    char byte;
    close(line_of_exit->helper_ends);
    while (read(line_of_exit->helper_done, &byte, 1) < 0 && errno == EINTR) {
    }
}

static int line_make_pty(struct line *line, const char *path) {
    struct termios mode;
    int slave;
    if (openpty(&line->port, &slave, NULL, NULL, NULL) != 0 || tcgetattr(slave, &mode) != 0) {
        return -1;
    }
    line->name = ptsname(line->port);
    cfmakeraw(&mode);
    tcsetattr(slave, TCSANOW, &mode);
    close(slave); /* so that the master is notified when someone opens it */
    fcntl(line->port, F_SETFL, O_NONBLOCK);
    fcntl(line->port, F_SETFD, FD_CLOEXEC);
    line->is_pty = true;
    if (strcmp(path, "pty") != 0) {
        if (symlink(line->name, path) != 0) {
            return -1;
        }
        line->link = path;
        if (line_leave_to_helper(line) != 0) {
            line_unlink(line);
            return -1;
        }
        atexit(line_wait_for_helper);
    }
    return 0;
}

static int line_open_port(struct line *line, const char *path) {
    struct termios mode;
    line->port = open(path, O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
    if (line->port < 0 || tcgetattr(line->port, &mode) != 0) {
        return -1;
    }
    cfmakeraw(&mode);
    cfsetspeed(&mode, B115200);
    tcsetattr(line->port, TCSANOW, &mode);
    return 0;
}

static int line_open(struct line *line, const char *port, const char *pty) {
    line->port = -1;
    line->at_line_start = true;
    if (port != NULL) {
        return line_open_port(line, port);
    }
    return pty != NULL ? line_make_pty(line, pty) : 0;
}

/* --- the wall clock -------------------------------------------------------------------------------- */

struct pace {
    int64_t start_us;
    uint64_t start_cycle, clock_hz;
};

static int64_t pace_now_us(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

static void pace_start(struct pace *pace, uint64_t cycle, uint64_t clock_hz) {
    pace->start_us = pace_now_us();
    pace->start_cycle = cycle;
    pace->clock_hz = clock_hz;
}

/* Never ahead of the wall clock, and behind only when the machine is too busy. */
static void pace_wait(struct pace *pace, uint64_t cycle) {
    int64_t ahead_us =
        (int64_t)((cycle - pace->start_cycle) * 1000000 / pace->clock_hz) - (pace_now_us() - pace->start_us);
    if (ahead_us > 0) {
        struct timespec rest = {ahead_us / 1000000, ahead_us % 1000000 * 1000};
        nanosleep(&rest, NULL);
    } else if (ahead_us < -100000) { /* too far behind to catch up in bursts: time is lost instead */
        pace_start(pace, cycle, pace->clock_hz);
    }
}

#endif
