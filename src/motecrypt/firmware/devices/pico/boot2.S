/* boot2.S: the first 256 bytes of the flash. RP2040's boot ROM copies them to the end of SRAM, checks the
 * CRC-32 in the last word and jumps to the first instruction (datasheet 2.8.1.3). They set up the flash
 * interface for execution in place and start the firmware through its vector table at 0x10000100.
 *
 * When the flash's status says that its quad pins are enabled (QE, as the Pico's W25Q16JV leaves the
 * factory): "fast read quad I/O", EBh, in continuous mode: 8 clocks of address and mode, 4 of waiting, 16
 * for the 8 bytes of a cache line. Else: plain serial read, 03h: 8 + 24 + 64 clocks. Nothing is ever
 * written to the flash's status. Sources: datasheet 4.10.13 (SSI registers); Winbond W25Q16JV, 8.2.
 * The simulator does not run this; tests/unit/test_pico_boot.py does, on a model of the interface.
 */
#define FLASH_CLOCK_DIVIDER 2  /* flash clock = core clock / 2: 62.5 MHz; even, as the interface wants */
#define SERIAL_CLOCK_DIVIDER 4 /* 03h goes up to 50 MHz only (W25Q16JV datasheet, AC characteristics) */

/* CRC-32 (polynomial 0x04c11db7, from all ones, not reflected, not inverted) of the 252 bytes before it. An
 * assembler cannot compute it; tests/unit/test_pico_boot.py does, and names the right value. */
#define BOOT2_CHECKSUM 0xC820B63A

#define SSI 0x18000000
#define CTRLR0 0x00
#define CTRLR1 0x04
#define SSIENR 0x08
#define SLAVES 0x10
#define BAUDR 0x14
#define STATUS 0x28
#define DATA 0x60
#define RX_SAMPLE_DELAY 0xF0
#define SPI_CTRLR0 0xF4

    .syntax unified
    .cpu cortex-m0plus
    .thumb

    .section .boot2, "ax"
    .global boot2
    .type boot2, %function
    .thumb_func
boot2:
    ldr r3, =SSI
    movs r0, #0
    str r0, [r3, #SSIENR] /* settings change only while it is off */
    movs r0, #FLASH_CLOCK_DIVIDER
    str r0, [r3, #BAUDR]
    movs r0, #1 /* sample half a flash clock later: pads and flash answer late at this rate */
    movs r1, #RX_SAMPLE_DELAY
    str r0, [r3, r1]
    str r0, [r3, #SLAVES] /* select the one flash there is */

    /* Status register 2 by plain 8-bit serial transfer. */
    ldr r0, =(7 << 16)
    str r0, [r3, #CTRLR0]
    movs r0, #1
    str r0, [r3, #SSIENR]
    movs r0, #0x35
    str r0, [r3, #DATA]
    str r0, [r3, #DATA] /* clocks the answer in; its value does not matter */
    bl wait_idle
    ldr r0, [r3, #DATA]
    ldr r0, [r3, #DATA]
    movs r1, #SPI_CTRLR0 - 0x80 /* an offset of a register access reaches 0x7C */
    adds r1, #0x80
    movs r2, #0
    str r2, [r3, #SSIENR]
    str r2, [r3, #CTRLR1] /* one 32-bit frame for each access */
    movs r2, #2
    tst r0, r2
    beq serial

    /* Quad: one access with its command, which sets the flash to accept later ones without it. */
    ldr r0, =((2 << 21) | (31 << 16) | (3 << 8)) /* quad, 32-bit frames, address then read */
    str r0, [r3, #CTRLR0]
    ldr r0, =((4 << 11) | (2 << 8) | (8 << 2) | 1) /* wait 4, command 8 bits serial, 32 address bits quad */
    str r0, [r3, r1]
    movs r0, #1
    str r0, [r3, #SSIENR]
    movs r0, #0xEB
    str r0, [r3, #DATA]
    movs r0, #0xA0 /* address 0; mode bits "continuous" */
    str r0, [r3, #DATA]
    bl wait_idle
    movs r0, #0
    str r0, [r3, #SSIENR]
    ldr r0, =((0xA0 << 24) | (4 << 11) | (8 << 2) | 2) /* no command; mode bits after the address */
    b enable
serial:
    movs r0, #SERIAL_CLOCK_DIVIDER
    str r0, [r3, #BAUDR]
    ldr r0, =((31 << 16) | (3 << 8)) /* serial, 32-bit frames, address then read */
    str r0, [r3, #CTRLR0]
    ldr r0, =((0x03 << 24) | (2 << 8) | (6 << 2)) /* command 8 bits, address 24 bits, no waiting */
enable:
    str r0, [r3, r1]
    movs r0, #1
    str r0, [r3, #SSIENR]

    ldr r0, =0x10000100 /* the firmware's vector table */
    ldr r1, =0xE000ED08 /* VTOR */
    str r0, [r1]
    ldm r0, {r0, r1}
    msr msp, r0
    bx r1

    .thumb_func
wait_idle:
    ldr r0, [r3, #STATUS]
    movs r2, #4 /* TFE: all is sent */
    tst r0, r2
    beq wait_idle
    movs r2, #1 /* BUSY */
    tst r0, r2
    bne wait_idle
    bx lr

    .ltorg
    .org 252, 0
    .word BOOT2_CHECKSUM
