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

/* ---- bytes and flags that are otherwise in each round ---- */

enum { VARIES_D = 1, VARIES_R = 2, VARIES_FLAGS = 4, ROUNDS = 200 };

static uint8_t d_of[LANES], r_of[LANES], flags_of[LANES];

static void spread(struct lanes *to, const uint8_t *of, bool varies) {
    lanes_set(to, of[0]);
    to->varies = varies;
    memcpy(to->of, of, LANES);
}

/* r24, r25 and the flags, random in each round or in all of them. */
static void draw(unsigned varies) {
    for (unsigned i = 0; i < LANES; i++) {
        d_of[i] = varies & VARIES_D || i == 0 ? (uint8_t)rand() : d_of[0];
        r_of[i] = varies & VARIES_R || i == 0 ? (uint8_t)rand() : r_of[0];
        flags_of[i] = (uint8_t)(varies & VARIES_FLAGS || i == 0 ? rand() & 0x7F : flags_of[0]);
    }
    abreast.alike = ROUNDS;
    follow.avr = avr;
    spread(&follow.registers[24], d_of, varies & VARIES_D);
    spread(&follow.registers[25], r_of, varies & VARIES_R);
    spread(&abreast.flags, flags_of, varies & VARIES_FLAGS);
}

static void put_opcode(uint16_t op) {
    avr->flash[0] = (uint8_t)op;
    avr->flash[1] = (uint8_t)(op >> 8);
}

static bool is_same(const struct lanes *value) {
    return !value->varies || memcmp(value->of, value->of + 1, abreast.alike - 1) != 0;
}

/* Each round is as if it had been stepped alone; what is the same in all is one value. */
static void compare_lanes(uint16_t op, unsigned varies) {
    static const struct round_step steps[2] = {{0, 0, 0}, {2, 0, 0}};
    put_opcode(op);
    draw(varies);
    if (!follow_step(steps) || abreast.alike != ROUNDS) {
        printf("%04x is not followed\n", op);
        return;
    }
    for (unsigned i = 0; i < ROUNDS; i++) {
        uint32_t found =
            (uint32_t)(lane_of(&follow.registers[24], i) | lane_of(&follow.registers[25], i) << 8 |
                       lane_of(&abreast.flags, i) << 16);
        avr->data[24] = d_of[i];
        avr->data[25] = r_of[i];
        for (unsigned bit = 0; bit < 8; bit++) {
            avr->sreg[bit] = flags_of[i] >> bit & 1;
        }
        if (found != stepped()) {
            printf("%04x %x: round %u\n", op, varies, i);
            return;
        }
    }
    if ((op & 0xFE00) != 0x9600 && !is_same(&follow.registers[24])) {
        printf("%04x %x: all rounds are the same\n", op, varies);
    }
}

/* A jump or skip: the rounds up to the first that goes another way than `next`. */
static void compare_ways(uint16_t op, unsigned varies, avr_flashaddr_t next, const uint8_t *of, uint8_t bit,
                         bool wanted) {
    const struct round_step steps[2] = {{0, 0, 0}, {next, 0, 0}};
    unsigned expected = 0;
    bool goes;
    put_opcode(op);
    avr->flash[2] = avr->flash[3] = 0;
    draw(varies);
    while (expected < ROUNDS && ((of[expected] & bit) != 0) == wanted) {
        expected++;
    }
    goes = follow_step(steps);
    if (goes != (expected != 0) || (goes && abreast.alike != expected)) {
        printf("%04x %x: %u rounds, not %u\n", op, varies, goes ? (unsigned)abreast.alike : 0, expected);
    }
}

/* What an operand that is not known leaves: the result, and the flags that depend on it, are not known either. */
static void compare_unknown(uint16_t op, unsigned which, uint8_t result, uint8_t flags) {
    static const struct round_step steps[2] = {{0, 0, 0}, {2, 0, 0}};
    put_opcode(op);
    draw(0);
    follow.registers[24].unknown = which & VARIES_D ? 0x10 : 0;
    follow.registers[25].unknown = which & VARIES_R ? 0x10 : 0;
    abreast.flags.unknown = which & VARIES_FLAGS ? FLAG_C : FLAG_H;
    if (!follow_step(steps) || follow.registers[24].unknown != result || abreast.flags.unknown != flags) {
        printf("%04x %x: unknown %02x, %02x\n", op, which, follow.registers[24].unknown,
               abreast.flags.unknown);
    }
}

static void compare_rounds(const uint16_t *both, size_t both_count, const uint16_t *one, size_t one_count) {
    for (unsigned varies = 0; varies < 8; varies++) {
        for (unsigned again = 0; again < 4; again++) {
            for (size_t i = 0; i < both_count; i++) {
                compare_lanes(both[i], varies);
            }
            for (size_t i = 0; i < one_count; i++) {
                compare_lanes(one[i], varies);
            }
            for (uint16_t kind = 3; kind < 8; kind++) {
                compare_lanes((uint16_t)(kind << 12 | (rand() & 0xF0F) | 0x80), varies);
            }
            compare_lanes((uint16_t)(0x9600 | (rand() & 0xCF)) & 0xFFCF, varies);
            compare_lanes((uint16_t)(0x9700 | (rand() & 0xCF)) & 0xFFCF, varies);
            compare_lanes(0x7080, varies); /* ANDI r24, 0 */
            for (unsigned bit = 0; bit < 8; bit++) {
                uint8_t mask = (uint8_t)(1 << bit);
                if (bit < 7) { /* BRBS, BRBC over one instruction */
                    compare_ways((uint16_t)(0xF008 | bit), varies, 2, flags_of, mask, false);
                    compare_ways((uint16_t)(0xF008 | bit), varies, 4, flags_of, mask, true);
                    compare_ways((uint16_t)(0xF408 | bit), varies, 2, flags_of, mask, true);
                    compare_ways((uint16_t)(0xF408 | bit), varies, 4, flags_of, mask, false);
                }
                compare_ways((uint16_t)(0xFD80 | bit), varies, 2, d_of, mask, true); /* SBRC */
                compare_ways((uint16_t)(0xFD80 | bit), varies, 4, d_of, mask, false);
                compare_ways((uint16_t)(0xFF80 | bit), varies, 2, d_of, mask, false); /* SBRS */
                compare_ways((uint16_t)(0xFF80 | bit), varies, 4, d_of, mask, true);
            }
        }
    }
    for (unsigned which = VARIES_D; which <= VARIES_R; which++) {
        compare_unknown(0x0F89, which, 0xFF, FLAGS_ADD);            /* ADD r24, r25 */
        compare_unknown(0x2389, which, 0xFF, FLAGS_LOGIC | FLAG_H); /* AND */
    }
    compare_unknown(0x0F89, 0, 0, 0);
    compare_unknown(0x2389, 0, 0, FLAG_H);
    compare_unknown(0x0F89, VARIES_FLAGS, 0, 0);
    compare_unknown(0x1F89, VARIES_FLAGS, 0xFF, FLAGS_ADD);        /* ADC */
    compare_unknown(0x9587, VARIES_FLAGS, 0xFF, FLAGS_SHIFT);      /* ROR */
    compare_unknown(0x9586, VARIES_FLAGS, 0, 0);                   /* LSR */
    compare_unknown(0x2788, VARIES_D, 0, FLAG_H);                  /* EOR r24, r24 */
    compare_unknown(0x1B88, VARIES_D, 0, 0);                       /* SUB r24, r24 */
    compare_unknown(0x2388, VARIES_D, 0xFF, FLAGS_LOGIC | FLAG_H); /* AND r24, r24 */
    compare_unknown(0x2F89, VARIES_R, 0x10, FLAG_H);               /* MOV r24, r25 */
    compare_unknown(0xE081, VARIES_D, 0, FLAG_H);                  /* LDI r24, 1 */
    compare_unknown(0x9583, VARIES_FLAGS, 0, FLAG_C);              /* INC leaves the carry */
    compare_unknown(0x958A, VARIES_FLAGS, 0, FLAG_C);              /* DEC */
    compare_unknown(0x9580, VARIES_FLAGS, 0, 0);                   /* COM */
    compare_unknown(0x9581, VARIES_FLAGS, 0, 0);                   /* NEG */
    compare_unknown(0x9585, VARIES_FLAGS, 0, 0);                   /* ASR */
    compare_unknown(0x9582, VARIES_FLAGS, 0, FLAG_C);              /* SWAP */
    compare_unknown(0x2389, VARIES_FLAGS, 0, FLAG_C);              /* AND */
    compare_unknown(0x2789, VARIES_FLAGS, 0, FLAG_C);              /* EOR */
    compare_unknown(0x2B89, VARIES_FLAGS, 0, FLAG_C);              /* OR */
    compare_unknown(0x1B89, VARIES_FLAGS, 0, 0);                   /* SUB */
    compare_unknown(0x0B89, VARIES_FLAGS, 0xFF, FLAGS_ADD);        /* SBC */
    compare_unknown(0x9601, VARIES_FLAGS, 0, 0);                   /* ADIW: H as before, which is known */
    compare_unknown(0x9601, 0, 0, FLAG_H);
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
    compare_rounds(both, COUNT_OF(both), one, COUNT_OF(one));
    puts("compared");
    return 0;
}
