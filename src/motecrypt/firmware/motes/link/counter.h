/* counter.h: a message counter in non-volatile memory that no loss of power makes repeat. */
#ifndef MOTECRYPT_COUNTER_H
#define MOTECRYPT_COUNTER_H

#include <stdint.h>

enum counter_status {
    COUNTER_OK = 0,
    COUNTER_DAMAGED = 1, /* none of the slots holds a number, and they are not fresh: refuse to send */
    COUNTER_USED_UP = 2  /* all 2^32 - 1 are used: a new key is needed */
};

struct counter {
    uint32_t next, reserved;
    uint8_t slot; /* the slot to overwrite next: never the one that holds the highest number */
};

/* Read the slots. Skips what was reserved before the power went. */
uint8_t counter_init(struct counter *counter);

/* Give out a number that was never given out before. */
uint8_t counter_take(struct counter *counter, uint32_t *number);

#endif
