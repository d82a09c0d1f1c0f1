/* nor_harness.c: arm_nor.h under a test's fingers: commands as bytes, time as the test says. */
#include "arm_nor.h"

static uint8_t content[1 << 20];
static struct nor nor;

void reset(void);
void reset(void) {
    memset(&nor, 0, sizeof nor);
    memset(content, 0xFF, sizeof content);
    nor.data = content;
    nor.bytes = sizeof content;
    nor.program_cycles = 1000;
    nor.erase_cycles = 50000;
    nor.erase_32k_cycles = 60000;
    nor.erase_64k_cycles = 70000;
}

/* One command with the chip selected around it; the answer is the last byte that came. */
uint8_t send(const uint8_t *bytes, uint32_t count, uint64_t now);
uint8_t send(const uint8_t *bytes, uint32_t count, uint64_t now) {
    uint8_t answer = 0;
    nor_select(&nor, 1, now);
    for (uint32_t i = 0; i < count; i++) {
        answer = nor_byte(&nor, bytes[i], now);
    }
    nor_select(&nor, 0, now);
    return answer;
}

uint8_t at(uint32_t address);
uint8_t at(uint32_t address) {
    return content[address];
}

uint32_t counted(int what);
uint32_t counted(int what) {
    return (uint32_t)(what == 0 ? nor.programs : what == 1 ? nor.erases : nor.busy_cycles);
}

/* A whole command through the interface, byte after byte; the answers, first one first, in a number. */
uint64_t converse(const uint8_t *bytes, uint32_t count, uint32_t divider);
uint64_t converse(const uint8_t *bytes, uint32_t count, uint32_t divider) {
    uint64_t answers = 0, now = 0;
    nor_reset(&nor);
    nor_select(&nor, 1, now);
    for (uint32_t i = 0; i < count; i++) {
        nor_send(&nor, bytes[i], divider, now);
        answers = answers << 8 | nor_receive(&nor, now + 8u * divider - 1); /* too early: 0 */
        now += 8u * divider;
        answers = answers << 8 | nor_receive(&nor, now);
    }
    nor_select(&nor, 0, now);
    return answers;
}

/* What the interface says of itself at `now`, with so many bytes sent at 0. */
uint32_t status_of(uint32_t count, uint32_t divider, uint64_t now);
uint32_t status_of(uint32_t count, uint32_t divider, uint64_t now) {
    nor_reset(&nor);
    for (uint32_t i = 0; i < count; i++) {
        nor_send(&nor, 0, divider, 0);
    }
    return nor_status(&nor, divider, now);
}

/* Puts all bytes into the interface in one go and takes the answers; returns how many the FIFO kept. */
uint32_t burst(uint32_t count, uint32_t divider);
uint32_t burst(uint32_t count, uint32_t divider) {
    uint32_t kept = 0;
    uint64_t end = 8u * (uint64_t)divider * count;
    nor_reset(&nor);
    for (uint32_t i = 0; i < count; i++) {
        nor_send(&nor, 0, divider, 0);
    }
    if (nor_status(&nor, divider, 8u * divider - 1) & 8u) {
        return 0; /* a byte before its time */
    }
    while (nor_status(&nor, divider, end) & 8u) {
        nor_receive(&nor, end);
        kept++;
    }
    return nor_status(&nor, divider, end) & 1u ? 0 : kept;
}

/* A byte that goes out while the chip is not selected, and what comes in. */
uint8_t unheard(uint8_t byte);
uint8_t unheard(uint8_t byte) {
    nor_reset(&nor);
    nor_select(&nor, 0, 0);
    nor_send(&nor, byte, 1, 0);
    return nor_receive(&nor, 8);
}
