/* SPDX-License-Identifier: MIT
 * arm_pipe.h: the driver's three pipes: the firmware's UART on standard input and output, and events, one
 * JSON object a line, on a descriptor of the caller's choice (the format of all drivers: runners/session.py).
 * Lock-step: input is waited for only when the firmware itself waits for it, so that simulated time depends
 * on what is sent and never on when.
 */
#ifndef MOTECRYPT_ARM_PIPE_H
#define MOTECRYPT_ARM_PIPE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

#include "restart.h"

enum {
    PIPE_FRAME_END = 0x7e,   /* protocol.py */
    PIPE_MAX_FLOOD = 1 << 17 /* bytes out without any in: the longest answer, all of it escaped */
};

struct pipe {
    uint8_t in[BUFSIZ];
    size_t in_next, in_end;
    uint32_t out_since_input;
    int frame_open;    /* bytes since the last delimiter */
    int frame_whole;   /* a whole frame went out since the last input */
    int request_open;  /* the last input ended within a frame */
    int request_whole; /* a whole frame came with the last input, and nothing behind it */
    FILE *events;
};

enum pipe_input { PIPE_INPUT, PIPE_CLOSED, PIPE_NONE };

/* Takes a byte from the firmware. Returns 0, or 1 when it has sent far too much without being asked. */
static inline int pipe_put(struct pipe *pipe, uint8_t byte) {
    putchar(byte);
    if (byte != PIPE_FRAME_END) {
        pipe->frame_open = true;
    } else if (pipe->frame_open) {
        pipe->frame_open = 0;
        pipe->frame_whole = true;
    }
    return ++pipe->out_since_input > PIPE_MAX_FLOOD;
}

static inline int pipe_queued(const struct pipe *pipe) {
    return pipe->in_next < pipe->in_end;
}

/* Follows the frames of what has come. */
static inline void pipe_follow(struct pipe *pipe) {
    pipe->request_whole = 0;
    for (size_t at = 0; at < pipe->in_end; at++) {
        pipe->request_whole = pipe->in[at] == PIPE_FRAME_END && pipe->request_open;
        pipe->request_open = pipe->in[at] != PIPE_FRAME_END;
    }
}

/* Waits for input when none is left, as long as that takes; not where the firmware has a whole request and has not
 * answered it: nobody sends more. */
static inline enum pipe_input pipe_wait(struct pipe *pipe) {
    ssize_t got;
    fflush(stdout);
    if (pipe->request_whole && !pipe->frame_whole) {
        return PIPE_NONE;
    }
    if (restart_descriptor) {
        restart_or_input();
    }
    got = read(STDIN_FILENO, pipe->in, sizeof pipe->in);
    pipe->in_next = 0;
    pipe->in_end = got > 0 ? (size_t)got : 0;
    pipe->out_since_input = 0;
    pipe->frame_whole = 0;
    pipe_follow(pipe);
    return got > 0 ? PIPE_INPUT : PIPE_CLOSED;
}

static inline uint8_t pipe_take(struct pipe *pipe) {
    return pipe_queued(pipe) ? pipe->in[pipe->in_next++] : 0;
}

#endif
