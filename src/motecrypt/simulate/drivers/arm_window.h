/* SPDX-License-Identifier: MIT
 * arm_window.h: what the models of the chips' registers have in common: windows of the address space, what they
 * need from the program that runs the core.
 */
#ifndef MOTECRYPT_ARM_WINDOW_H
#define MOTECRYPT_ARM_WINDOW_H

#include <stdbool.h>
#include <stdint.h>

enum chip_window_kind { CHIP_PERIPHERAL, CHIP_IO_PORT, CHIP_CORE, CHIP_XIP, CHIP_SSI, CHIP_DMA, CHIP_USB, CHIP_PLAIN_BLOCK };

/* A window of registers in the address space. */
struct chip_window {
    uint32_t base, bytes;
    enum chip_window_kind kind;
};

/* A part of a chip that is a plain register, or nothing at all. */
struct chip_gap {
    uint32_t base, bytes;
    int writes_only;
    const char *what;
};

/* What the registers need from the program that runs the core. */
struct chip_outside {
    uint64_t (*cycles)(void *context);          /* time now, in core cycles since reset */
    int (*uart_has_input)(void *context);       /* may wait while `polling`; 1: a byte can be read */
    uint8_t (*uart_read)(void *context);        /* the next byte; 0 when there is none */
    void (*uart_write)(void *context, uint8_t); /* a byte leaves the board */
    void (*flush_flash_cache)(void *context);
    void *context;
    uint32_t (*uart_sender_flags)(void *context); /* NULL: every byte leaves immediately */
    uint64_t (*uart_changes_at)(void *context);   /* when its flags change, if nobody reads or writes; UINT64_MAX: never */
    void (*usb_take)(void *context, uint8_t byte); /* the serial port on USB, of a free run */
    bool (*usb_give)(void *context, uint8_t *byte);
    uint8_t *(*memory)(void *context, uint32_t address, uint32_t bytes); /* NULL: there is none */
    void (*wrote)(void *context, uint32_t address, uint32_t bytes); /* the DMA, to that memory; or NULL */
};

#define CHIP_SIMULATED 0x53494D55u /* "SIMU": what the benchmark firmware looks for */

#endif
