/* tftp_bed.c: firmware/tftp as a library, with what tests look at. Its callbacks are the test's. */
#include "tftp.h"

#include <stddef.h>

struct bed {
    struct tftp tftp; /* first, so that a callback's argument is its bed */
    struct tftp_calls calls;
    uint8_t packet[TFTP_HEAD + TFTP_BLOCK_MAX];
};

const size_t bed_bytes = sizeof(struct bed);

/* The number of the block that is on its way, or that came last. */
uint16_t *bed_block(struct bed *bed) {
    return &bed->tftp.block;
}

void bed_begin(struct bed *bed, void *const *calls, uint16_t room, uint16_t block_max, uint32_t timeout_ms,
               uint8_t ack_bytes) {
    bed->calls.put = (uint8_t (*)(struct tftp *, const uint8_t *, uint16_t))(uintptr_t)calls[0];
    bed->calls.open = (uint8_t (*)(struct tftp *, const char *, uint8_t, uint32_t *))(uintptr_t)calls[1];
    bed->calls.read = (uint8_t (*)(struct tftp *, uint32_t, uint8_t *, uint16_t *))(uintptr_t)calls[2];
    bed->calls.write = (uint8_t (*)(struct tftp *, uint32_t, const uint8_t *, uint16_t))(uintptr_t)calls[3];
    bed->calls.close = (uint8_t (*)(struct tftp *, uint8_t))(uintptr_t)calls[4];
    bed->tftp.calls = &bed->calls;
    bed->tftp.packet = bed->packet;
    bed->tftp.room = room;
    bed->tftp.block_max = block_max;
    bed->tftp.timeout_ms = timeout_ms;
    bed->tftp.ack_bytes = ack_bytes;
    tftp_begin(&bed->tftp);
}
