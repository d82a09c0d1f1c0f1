/* controls.h: what controls.c and the assembly of a control have in common. */
#ifndef MOTECRYPT_LEAKAGE_CONTROLS_H
#define MOTECRYPT_LEAKAGE_CONTROLS_H

#define TOY_PLAIN 0
#define TOY_SHARE 4
#define TOY_KEY 8
#define TOY_OUTPUT 12
#define MASKS_PUBLIC 0
#define MASKS_IN 4
#define MASKS_OUT 8

#ifndef __ASSEMBLER__
#include <stdint.h>

struct leak_toy {
    uint8_t plain[4], share[4], key[4], output[4];
} __attribute__((aligned(4)));

struct leak_masks {
    uint8_t public[4], in[4], out[4];
} __attribute__((aligned(4)));
#endif

#endif
