/* rom_float_harness.c: the floating-point functions of RP2040's boot ROM, by their place in the table. */
#include "arm_rom_float.h"

#include "harness.h"

static struct rom_call call;

/* Its number, whether it is the double one, r0 to r3. The answer: r0 and r1. */
static uint64_t run(const uint64_t *n) {
    call = (struct rom_call){{(uint32_t)n[2], (uint32_t)n[3], (uint32_t)n[4], (uint32_t)n[5]}, 0, false};
    rom_float_call(&call, (enum rom_float)n[0], n[1] != 0);
    return (uint64_t)call.r[1] << 32 | call.r[0];
}

static uint64_t rest(const uint64_t *n) {
    (void)n;
    return (uint64_t)call.r[3] << 32 | call.r[2];
}

/* N, Z and C as in the status register; bit 32: they are set. */
static uint64_t flags(const uint64_t *n) {
    (void)n;
    return (uint64_t)call.sets_flags << 32 | call.flags;
}

static uint64_t cycles(const uint64_t *n) {
    return rom_float_cycles[n[0]][n[1]];
}

int main(int argc, char **argv) {
    static const struct operation operations[] = {
        {"run", run}, {"rest", rest}, {"flags", flags}, {"cycles", cycles}};
    (void)argc;
    return SERVE(operations, argv);
}
