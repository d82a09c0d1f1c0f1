/* Prints what the drivers know of each chip, one fact a line: gaps, windows, registers that are modelled, what a message
 * says of other addresses, what a reset leaves in the registers, and the core's clock then. A Python test compares this with the chips' files. */
#include <inttypes.h>
#include <stdio.h>

#include "arm_chip.h"
#include "chip_known.h"
#include "riscv_chip.h"

static struct chip arm;
static struct riscv_chip riscv;
static const struct chip_outside nobody;

static void print_gaps(const struct chip_gap *gaps, unsigned count) {
    for (unsigned i = 0; i < count; i++) {
        printf("gap %" PRIu32 " %" PRIu32 " %d %s\n", gaps[i].base, gaps[i].bytes, gaps[i].writes_only,
               gaps[i].what);
    }
}

static void print_windows(const struct chip_window *windows, unsigned count) {
    for (unsigned i = 0; i < count; i++) {
        printf("window %" PRIu32 " %" PRIu32 "\n", windows[i].base, windows[i].bytes);
    }
}

static void print_parts(const char *kind, const struct known_part *part) {
    for (; part->bytes != 0; part++) {
        for (uint32_t i = 0; i == 0 || i < part->count; i++) {
            printf("%s %" PRIu32 " %" PRIu32 "\n", kind, part->base + i * part->every, part->bytes);
        }
    }
}

static void print_known(const char *name) {
    const struct known_chip *known = known_chip_of(name);
    if (known != NULL) {
        print_parts("known", known->parts);
        print_parts("known", known->core);
        print_parts("output", known->outputs);
    }
}

static void print_kept(uint32_t base, const uint32_t *registers, uint32_t bytes) {
    for (uint32_t at = 0; registers != NULL && at < bytes; at += 4) {
        if (registers[at / 4] != 0) {
            printf("reset %" PRIu32 " %" PRIu32 "\n", base + at, registers[at / 4]);
        }
    }
}

/* Its registers are among the RP2040's, or its own; what the boot ROM leaves in the boot RAM is left out. */
static void print_rp2350(void) {
    for (uint32_t at = RP2040_APB_BASE; at < RP2040_APB_BASE + RP2350_APB_BYTES;
         at += at % 0x1000 == 0xFFC ? 0x7004 : 4) {
        uint32_t is = rp2350_as_rp2040(at);
        uint32_t value = *(is != at ? rp2040_register(&arm.rp2040, is) : rp2350_own(&arm.rp2040, at));
        if (at - RP2350_AT_BOOTRAM >= 0x1000u && value != 0) {
            printf("reset %" PRIu32 " %" PRIu32 "\n", at, value);
        }
    }
}

enum { STEP = 0x800 }; /* no range is shorter */

/* From which address on a message says what of what is not there. */
static void print_absent(const char *(*told)(uint32_t address)) {
    const char *said = told(0);

    printf("absent 0 %s\n", said);
    for (uint32_t at = STEP; at != 0; at += STEP) {
        uint32_t low = at - STEP, high = at;
        const char *now = told(at);

        if (strcmp(now, said) != 0) {
            while (high - low > 1) {
                uint32_t middle = low + (high - low) / 2;

                *(strcmp(told(middle), said) == 0 ? &low : &high) = middle;
            }
            printf("absent %" PRIu32 " %s\n", high, now);
            said = now;
        }
    }
}

static const char *of_arm(uint32_t address) {
    return chip_absent(&arm, address);
}

static const char *of_riscv(uint32_t address) {
    return riscv_chip_absent(&riscv, address);
}

/* `more`: how it differs from another model of that name. */
static void print_arm(const struct chip_model *model, const char *more) {
    printf("chip %s%s\n", model->name, more);
    print_windows(model->windows, model->window_count);
    print_gaps(model->gaps, model->gap_count);
    print_known(model->name);
    memset(&arm, 0, sizeof arm);
    arm.model = model;
    chip_reset(&arm, &nobody, 0);
    printf("hz %.0f\n", chip_hz(&arm));
    print_absent(of_arm);
    if (model->kind == CHIP_PLAIN) {
        for (unsigned i = 0; i < model->window_count; i++) {
            print_kept(model->windows[i].base, arm.plain.registers[i], model->windows[i].bytes);
        }
    } else if (model->kind == CHIP_STM32F4) {
        print_kept(STM32F4_PERIPHERALS, arm.stm32f4.peripherals, STM32F4_PERIPHERAL_BYTES);
    } else if (arm.rp2040.is_rp2350) {
        print_rp2350();
    } else {
        for (uint32_t i = 0; i < COUNT_OF(arm.rp2040.apb); i++) {
            print_kept(RP2040_APB_BASE + i * 0x4000u, arm.rp2040.apb[i], sizeof arm.rp2040.apb[i]);
        }
    }
}

static void print_riscv(const struct riscv_chip_model *model) {
    printf("chip %s\n", model->name);
    print_windows(model->windows, model->window_count);
    print_gaps(model->gaps, model->gap_count);
    print_known(model->name);
    memset(&riscv, 0, sizeof riscv);
    riscv.model = model;
    if (riscv_chip_reset(&riscv, &nobody, 0)) {
        printf("hz %.0f\n", model->hz(&riscv));
        print_absent(of_riscv);
        for (unsigned i = 0; i < model->window_count; i++) {
            print_kept(model->windows[i].base, riscv.registers[i], model->windows[i].bytes);
        }
    }
}

int main(void) {
    for (size_t i = 0; i < COUNT_OF(chip_models); i++) {
        bool has_another = strcmp(chip_models[i].name, "RP2350") == 0;
        print_arm(&chip_models[i], has_another ? ", bare" : "");
    }
    print_arm(&rp2350_free_model, "");
    for (size_t i = 0; i < COUNT_OF(riscv_chip_models); i++) {
        print_riscv(riscv_chip_models[i]);
    }
    return 0;
}
