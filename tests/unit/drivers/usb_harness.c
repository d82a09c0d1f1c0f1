/* usb_harness.c: RP2040's USB controller and the host at its other end, without a core: the test is the device. */
#include "arm_rp2040_usb.h"

#include "harness.h"

enum { MOST = 4096 };

static struct rp2040_usb usb;
static uint8_t taken[MOST], given[MOST];
static unsigned taken_count, given_count, given_at;

static void take(void *context, uint8_t byte) {
    if (context == &usb && taken_count < MOST) {
        taken[taken_count++] = byte;
    }
}

static bool give(void *context, uint8_t *byte) {
    if (context != &usb || given_at == given_count) {
        return false;
    }
    *byte = given[given_at++];
    return true;
}

static uint64_t reset(const uint64_t *n) {
    (void)n;
    memset(&usb, 0, sizeof usb);
    taken_count = given_count = given_at = 0;
    return 0;
}

static uint64_t at(const uint64_t *n) {
    usb_advance(&usb, n[0], &(struct usb_line){&usb, take, give});
    return usb_next(&usb);
}

static uint64_t put(const uint64_t *n) {
    usb_write(&usb, (uint32_t)n[0], (uint32_t)n[1], n[2]);
    return 0;
}

static uint64_t get(const uint64_t *n) {
    return usb_read(&usb, (uint32_t)n[0]);
}

static uint64_t store(const uint64_t *n) { /* bytes into the DPSRAM */
    for (unsigned i = 0; i < n[1]; i++) {
        usb.dpram[(n[0] + i) % USB_DPRAM] = (uint8_t)n[2 + i];
    }
    return 0;
}

static uint64_t load(const uint64_t *n) { /* up to eight bytes, the first lowest */
    uint64_t value = 0;
    for (unsigned i = 0; i < n[1]; i++) {
        value |= (uint64_t)usb.dpram[(n[0] + i) % USB_DPRAM] << 8 * i;
    }
    return value;
}

static uint64_t interrupts(const uint64_t *n) {
    (void)n;
    return usb_interrupts(&usb);
}

static uint64_t type(const uint64_t *n) { /* at the host's end */
    given[given_count++ % MOST] = (uint8_t)n[0];
    return 0;
}

static uint64_t said(const uint64_t *n) { /* the byte of a number that came to the host; 256: none */
    return n[0] < taken_count ? taken[n[0]] : 256;
}

int main(int argc, char **argv) {
    static const struct operation operations[] = {
        {"reset", reset}, {"at", at},     {"put", put},   {"get", get},   {"interrupts", interrupts},
        {"store", store}, {"load", load}, {"type", type}, {"said", said},
    };
    (void)argc;
    return SERVE(operations, argv);
}
