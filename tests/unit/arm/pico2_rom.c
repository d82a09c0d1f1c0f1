/* pico2_rom.c: a program for the Pico 2 that calls the boot ROM's functions by a table (rom_calls.h, which a test
 * makes), and says what each gives and how many cycles it takes. */
#include "pico2.h"

VECTORS();

struct call {
    char code[2];
    uint32_t given[3];
};

static uint32_t words[32];
static const struct call calls[] = {
#include "rom_calls.h"
};

typedef uint32_t (*function)(uint32_t, uint32_t, uint32_t);

static __attribute__((noinline)) uint32_t timed(function f, const struct call *call, uint32_t *cycles) {
    uint32_t before = AT(0xE0001004u), result = f(call->given[0], call->given[1], call->given[2]);
    *cycles = AT(0xE0001004u) - before;
    return result;
}

void main(void) {
    uint32_t cycles[2], result;
    AT(0xE0001000u) = 1u;
    for (uint32_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        function f = (function)found(calls[i].code[0], calls[i].code[1], 4);
        word("call");
        result = timed(f, &calls[i], cycles);
        result = timed(f, &calls[i], cycles + 1); /* its code is in the flash's cache now */
        number(result);
        number(cycles[1]);
    }
    word("words");
    for (uint32_t i = 0; i < 24; i++) {
        number(words[i]);
    }
    word("absent");
    for (const char *code = "P3R3L3T3MSMCS4C4UBWVDTDE"; *code != 0; code += 2) {
        number((uint32_t)(uintptr_t)found(code[0], code[1], 4));
    }
    number((uint32_t)(uintptr_t)found('F', 'D', 4)); /* data, not a function */
    number((uint32_t)(uintptr_t)found('R', 'E', 0x40));
    number((uint32_t)(uintptr_t)found('G', 'S', 0x40));
}
