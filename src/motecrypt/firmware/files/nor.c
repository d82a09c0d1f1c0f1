/* nor.c: the second megabyte of the Pico's own flash (W25Q16JV) as storage. It is read in place; to erase and
 * to program, the flash interface is taken out of execute-in-place, so all code that runs meanwhile is in
 * RAM. Sizes are those of Mbed OS for this chip: read 64 (the minimum of its littlefs), program 256, erase
 * 4096. Sources: RP2040 datasheet 4.10 (SSI), 2.19 (QSPI pads), 2.6.3 (XIP); W25Q16JV datasheet, 8
 * (instructions).
 */
#include "storage.h"

#include <string.h>

#define AT(address) (*(volatile uint32_t *)(address))
#define RAMCODE __attribute__((section(".ramcode"), noinline, long_call))

#define SSI 0x18000000u
#define CTRLR0 AT(SSI + 0x00u)
#define CTRLR1 AT(SSI + 0x04u)
#define SSIENR AT(SSI + 0x08u)
#define BAUDR AT(SSI + 0x14u)
#define STATUS AT(SSI + 0x28u)
#define DATA AT(SSI + 0x60u)
#define SPI_CTRLR0 AT(SSI + 0xF4u)
#define STATUS_BUSY 1u
#define STATUS_CAN_SEND 2u
#define STATUS_ALL_SENT 4u
#define STATUS_RECEIVED 8u
#define SELECT_CTRL AT(0x4001800Cu) /* GPIO_QSPI_SS: bits 9:8 override the output */
#define SELECT_LOW 0x200u
#define SELECT_HIGH 0x300u
#define XIP_FLUSH AT(0x14000004u)
#define PADS_QSPI 0x40020000u /* SD0 to SD3 at +8 to +20 */
#define TIMER_RAW_LOW AT(0x40054028u)

#define COMMAND_DIVIDER 6u /* 20.8 MHz at 125 MHz, as the boot ROM programs with */
#define XIP_DIVIDER 2u     /* boot2.S */
#define IN_FLIGHT 14u      /* bytes sent and not yet received: the FIFO holds 16 */
#define POLL_US 20u

enum { WRITE_ENABLE = 0x06, READ_STATUS = 0x05, PAGE_PROGRAM = 0x02, SECTOR_ERASE = 0x20, FLASH_BUSY = 1 };

enum {
    XIP_BASE = 0x10000000,
    FIRST = 1 << 20,
    PAGE = 256,
    SECTOR = 4096,
    SECTORS = 256,
};

static RAMCODE void exchange(const uint8_t *out, uint8_t *in, uint32_t count) {
    uint32_t to_send = count, to_receive = count;
    while (to_receive) {
        uint32_t flags = STATUS;
        if (to_send && (flags & STATUS_CAN_SEND) && to_receive - to_send < IN_FLIGHT) {
            DATA = *out++;
            to_send--;
        }
        if (flags & STATUS_RECEIVED) {
            uint8_t byte = (uint8_t)DATA;
            if (in) {
                *in++ = byte;
            }
            to_receive--;
        }
    }
}

static RAMCODE void select_flash(uint32_t level) {
    SELECT_CTRL = (SELECT_CTRL & ~0x300u) | level;
    (void)SELECT_CTRL; /* the write has reached the pad */
}

/* Out of execute-in-place, and the flash out of its continuous read mode: eight ones (8.2, mode bit reset). */
static RAMCODE void leave_xip(void) {
    uint8_t ones[2] = {0xFF, 0xFF};
    for (uint32_t pad = PADS_QSPI + 8u; pad <= PADS_QSPI + 20u; pad += 4u) {
        AT(pad + 0x2000u) = 8u; /* pull up, not down */
        AT(pad + 0x3000u) = 4u;
    }
    SSIENR = 0;
    BAUDR = COMMAND_DIVIDER;
    CTRLR0 = 7u << 16; /* 8 bits, serial, both ways */
    CTRLR1 = 0;
    SSIENR = 1;
    select_flash(SELECT_LOW);
    exchange(ones, 0, sizeof ones);
    select_flash(SELECT_HIGH);
}

static RAMCODE void wait_sent(void) {
    while (!(STATUS & STATUS_ALL_SENT) || (STATUS & STATUS_BUSY)) {
    }
}

/* Back, as boot2.S has it: quad I/O read (EBh), continuous. The cache still holds what was there before. */
static RAMCODE void enter_xip(void) {
    SSIENR = 0;
    SELECT_CTRL = SELECT_CTRL & ~0x300u;
    BAUDR = XIP_DIVIDER;
    CTRLR0 = 2u << 21 | 31u << 16 | 3u << 8;
    CTRLR1 = 0;
    SPI_CTRLR0 = 4u << 11 | 2u << 8 | 8u << 2 | 1u;
    SSIENR = 1;
    DATA = 0xEBu;
    DATA = 0xA0u;
    wait_sent();
    SSIENR = 0;
    SPI_CTRLR0 = 0xA0u << 24 | 4u << 11 | 8u << 2 | 2u;
    SSIENR = 1;
    XIP_FLUSH = 1;
    (void)XIP_FLUSH; /* answers when the flush is done */
}

/* One command; of `count` bytes the first four are command and address. Returns when the flash is ready. */
static RAMCODE void command(const uint8_t *head, uint32_t head_bytes, const uint8_t *data, uint32_t count) {
    uint8_t enable = WRITE_ENABLE;
    uint8_t ask[2] = {READ_STATUS, 0};
    uint8_t answer[2];
    leave_xip();
    select_flash(SELECT_LOW);
    exchange(&enable, 0, 1);
    select_flash(SELECT_HIGH);
    select_flash(SELECT_LOW);
    exchange(head, 0, head_bytes);
    exchange(data, 0, count);
    select_flash(SELECT_HIGH);
    do {
        uint32_t start = TIMER_RAW_LOW;
        while (TIMER_RAW_LOW - start < POLL_US) {
            for (volatile uint32_t pause = 40; pause; pause--) { /* about 4 us: the bus has peace */
            }
        }
        select_flash(SELECT_LOW);
        exchange(ask, answer, sizeof ask);
        select_flash(SELECT_HIGH);
    } while (answer[1] & FLASH_BUSY);
    enter_xip();
}

static int nor_start(void) {
    return 0;
}

static int nor_read(uint32_t at, uint8_t *data, uint32_t count) {
    memcpy(data, (const uint8_t *)(XIP_BASE + FIRST + at), count);
    return 0;
}

static void set_head(uint8_t *head, uint8_t code, uint32_t at) {
    at += FIRST;
    head[0] = code;
    head[1] = (uint8_t)(at >> 16);
    head[2] = (uint8_t)(at >> 8);
    head[3] = (uint8_t)at;
}

static int nor_program(uint32_t at, const uint8_t *data, uint32_t count) {
    uint8_t head[4];
    for (uint32_t done = 0; done < count; done += PAGE) {
        set_head(head, PAGE_PROGRAM, at + done);
        command(head, sizeof head, data + done, PAGE);
    }
    return 0;
}

static int nor_erase(uint32_t at) {
    uint8_t head[4];
    set_head(head, SECTOR_ERASE, at);
    command(head, sizeof head, 0, 0);
    return 0;
}

const struct storage storage_nor = {64, PAGE, SECTOR, SECTORS, nor_start, nor_read, nor_program, nor_erase};
