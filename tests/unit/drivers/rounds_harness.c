/* rounds_harness.c: each instruction that avr_rounds.h works out, against libsimavr's own, with all operands.
 * Prints a line for each instruction whose results or flags differ. */
#include <stdio.h>

#include "avr_rounds.h"

static avr_t *avr;

static void quiet(avr_t *a, const int level, const char *format, va_list arguments) {
    (void)a;
    (void)level;
    (void)format;
    (void)arguments;
}

/* What the instruction leaves in r24, r25 and the flags: libsimavr's, or the rounds'. */
static uint32_t stepped(void) {
    avr->pc = 0;
    avr_run_one(avr);
    return (uint32_t)(avr->data[24] | avr->data[25] << 8 | flags_now(avr) << 16);
}

static uint32_t followed(void) {
    struct round_step steps[2] = {{0, 0, 0}, {2, 0, 0}};
    abreast.alike = 1;
    follow.avr = avr;
    for (unsigned i = 0; i < REGISTERS; i++) {
        lanes_set(&follow.registers[i], avr->data[i]);
    }
    lanes_set(&abreast.flags, flags_now(avr));
    if (!follow_step(steps)) {
        return UINT32_MAX;
    }
    return (uint32_t)(follow.registers[24].same | follow.registers[25].same << 8 | abreast.flags.same << 16);
}

/* With r24, r25 and the flags. */
static bool agrees(uint16_t op, uint8_t d, uint8_t r, uint8_t flags) {
    uint32_t expected;
    avr->flash[0] = (uint8_t)op;
    avr->flash[1] = (uint8_t)(op >> 8);
    avr->data[24] = d;
    avr->data[25] = r;
    for (unsigned i = 0; i < 8; i++) {
        avr->sreg[i] = flags >> i & 1;
    }
    expected = followed();
    return stepped() == expected;
}

int main(void) {
    static const uint16_t both[] = {0x0789, 0x0B89, 0x0F89, 0x1789, 0x1B89,
                                    0x1F89, 0x2389, 0x2789, 0x2B89, 0x2F89};
    static const uint16_t one[] = {0x9580, 0x9581, 0x9582, 0x9583, 0x9585, 0x9586, 0x9587, 0x958A};
    avr_global_logger_set(quiet);
    avr = avr_make_mcu_by_name("atmega328p");
    avr_init(avr);
    for (unsigned d = 0; d < 256; d++) {
        for (unsigned r = 0; r < 256; r++) {
            for (unsigned f = 0; f < 4; f++) { /* carry and zero before, all others set or not */
                uint8_t flags = (uint8_t)(f | (d & 1 ? 0x7C : 0));
                for (size_t i = 0; i < COUNT_OF(both); i++) {
                    if (!agrees(both[i], (uint8_t)d, (uint8_t)r, flags)) {
                        printf("%04x %02x %02x %02x\n", both[i], d, r, flags);
                    }
                }
                for (uint16_t kind = 3; kind < 8; kind++) { /* with a number: CPI ... ANDI */
                    uint16_t op = (uint16_t)(kind << 12 | (r & 0xF0) << 4 | 0x80 | (r & 15));
                    if (!agrees(op, (uint8_t)d, 0, flags)) {
                        printf("%04x %02x %02x\n", op, d, flags);
                    }
                }
                for (uint16_t kind = 0x9600; kind <= 0x9700; kind += 0x100) { /* ADIW, SBIW of r25:r24 */
                    uint16_t op = (uint16_t)(kind | (d & 0x30) << 2 | (d & 15));
                    if (!agrees(op, (uint8_t)(r * 7 + d), (uint8_t)r, flags)) {
                        printf("%04x %02x %02x %02x\n", op, d, r, flags);
                    }
                }
            }
        }
        for (size_t i = 0; i < COUNT_OF(one); i++) {
            if (!agrees(one[i], (uint8_t)d, 0, 0x03) || !agrees(one[i], (uint8_t)d, 0, 0x7C)) {
                printf("%04x %02x\n", one[i], d);
            }
        }
    }
    puts("compared");
    return 0;
}
