/* sd.c: an SDHC card in SPI mode as storage: SPI0 on GPIO16 (from the card), 18 (clock), 19 (to the card),
 * GPIO17 selects. Blocks of 512 bytes are written one at a time; a card needs no erasing beforehand.
 * Sources: RP2040 datasheet 4.4 (SPI); SD Specifications Part 1, Physical Layer Simplified Specification 6.00, 7.
 */
#include "hal.h"
#include "storage.h"

#define AT(address) (*(volatile uint32_t *)(address))

#define RESETS_CLEAR 0x4000F000u
#define RESETS_DONE 0x4000C008u
#define RESET_SPI0 (1u << 16)
#define GPIO_CTRL(pin) AT(0x40014004u + 8u * (pin))
#define FUNCTION_SPI 1u
#define FUNCTION_SIO 5u
#define SIO_OUT_SET 0xD0000014u
#define SIO_OUT_CLEAR 0xD0000018u
#define SIO_ENABLE_SET 0xD0000024u
#define SPI0 0x4003C000u
#define CONTROL0 AT(SPI0)
#define CONTROL1 AT(SPI0 + 4u)
#define DATA AT(SPI0 + 8u)
#define STATUS AT(SPI0 + 12u)
#define PRESCALE AT(SPI0 + 16u)
#define STATUS_RECEIVED 4u
#define TIMER_RAW_LOW AT(0x40054028u)

#ifndef SD_HZ
#define SD_HZ 12500000u
#endif

enum { FROM_CARD = 16, SELECT = 17, CLOCK = 18, TO_CARD = 19 };

enum {
    BLOCK = STORAGE_PROGRAM_MAX,
    BLOCKS = 2048,
    START_HZ = 400000,       /* until the card is ready: 100 to 400 kHz */
    TRIES = 1000,            /* bytes to wait for a response, times to ask whether the card is ready */
    BUSY_MAX_US = 500 * 1000 /* the specification allows a card 250 ms for a write, 100 ms for a read */
};

enum { GO_IDLE = 0, SEND_CONDITION = 8, READ_BLOCK = 17, WRITE_BLOCK = 24, OPERATE = 41, APPLICATION = 55 };

enum { START_TOKEN = 0xFE, ACCEPTED = 0x05, IO_ERROR = -5 };

static uint32_t pause_loops; /* about half the time of a byte: the bus has peace meanwhile */

static uint8_t exchange(uint8_t out) {
    DATA = out;
    for (volatile uint32_t pause = pause_loops; pause; pause--) {
    }
    while (!(STATUS & STATUS_RECEIVED)) {
    }
    return (uint8_t)DATA;
}

static void set_clock(uint32_t hz) {
    uint32_t prescale = 2;
    while (hal_clock_hz() / prescale > hz * 256u) {
        prescale += 2;
    }
    uint32_t rate = (hal_clock_hz() / prescale + hz - 1u) / hz;
    CONTROL1 = 0;
    PRESCALE = prescale;
    CONTROL0 = (rate - 1u) << 8 | 7u; /* 8 bits, mode 0 */
    CONTROL1 = 2u;
    pause_loops = prescale * rate / 2u; /* a loop takes 9 cycles, a byte 8 bits of prescale x rate */
}

static void release(void) {
    AT(SIO_OUT_SET) = 1u << SELECT;
    exchange(0xFF); /* the card lets go of its line one clock later */
}

/* Waits for a byte that is not `busy`; that byte, or `busy` when it takes too long. */
static uint8_t wait_while(uint8_t busy) {
    uint32_t start = TIMER_RAW_LOW;
    uint8_t byte;
    do {
        byte = exchange(0xFF);
    } while (byte == busy && TIMER_RAW_LOW - start < BUSY_MAX_US);
    return byte;
}

/* Selects the card, sends a command and returns its first response byte (0xFF: none). */
static uint8_t command(uint8_t code, uint32_t argument) {
    uint8_t checksum = code == GO_IDLE ? 0x95 : 0x87; /* right for CMD0 and CMD8; no other is looked at */
    uint8_t answer = 0xFF;
    AT(SIO_OUT_CLEAR) = 1u << SELECT;
    if (wait_while(0x00) == 0x00) {
        return 0xFF;
    }
    exchange((uint8_t)(0x40u | code));
    for (int shift = 24; shift >= 0; shift -= 8) {
        exchange((uint8_t)(argument >> shift));
    }
    exchange(checksum);
    for (int i = 0; i < TRIES && (answer & 0x80u); i++) {
        answer = exchange(0xFF);
    }
    return answer;
}

static uint8_t ask(uint8_t code, uint32_t argument) {
    uint8_t answer = command(code, argument);
    release();
    return answer;
}

static int sd_start(void) {
    AT(RESETS_CLEAR) = RESET_SPI0;
    while (!(AT(RESETS_DONE) & RESET_SPI0)) {
    }
    GPIO_CTRL(FROM_CARD) = FUNCTION_SPI;
    GPIO_CTRL(CLOCK) = FUNCTION_SPI;
    GPIO_CTRL(TO_CARD) = FUNCTION_SPI;
    AT(SIO_OUT_SET) = 1u << SELECT;
    AT(SIO_ENABLE_SET) = 1u << SELECT;
    GPIO_CTRL(SELECT) = FUNCTION_SIO;
    set_clock(START_HZ);
    for (int i = 0; i < 10; i++) {
        exchange(0xFF); /* 74 clocks to wake up */
    }
    if (ask(GO_IDLE, 0) != 1) {
        return IO_ERROR;
    }
    ask(SEND_CONDITION, 0x1AA);
    for (int i = 0; i < TRIES; i++) {
        ask(APPLICATION, 0);
        if (ask(OPERATE, 1u << 30) == 0) { /* high capacity: blocks are numbered */
            set_clock(SD_HZ);
            return 0;
        }
    }
    return IO_ERROR;
}

static int read_block(uint32_t number, uint8_t *data) {
    int status = IO_ERROR;
    if (command(READ_BLOCK, number) == 0 && wait_while(0xFF) == START_TOKEN) {
        for (int i = 0; i < BLOCK; i++) {
            data[i] = exchange(0xFF);
        }
        exchange(0xFF); /* the checksum */
        exchange(0xFF);
        status = 0;
    }
    release();
    return status;
}

static int write_block(uint32_t number, const uint8_t *data) {
    int status = IO_ERROR;
    if (command(WRITE_BLOCK, number) == 0) {
        exchange(START_TOKEN);
        for (int i = 0; i < BLOCK; i++) {
            exchange(data[i]);
        }
        exchange(0xFF);
        exchange(0xFF);
        if ((exchange(0xFF) & 0x1Fu) == ACCEPTED && wait_while(0x00) != 0x00) {
            status = 0;
        }
    }
    release();
    return status;
}

static int sd_read(uint32_t at, uint8_t *data, uint32_t count) {
    int status = 0;
    for (uint32_t done = 0; done < count && status == 0; done += BLOCK) {
        status = read_block((at + done) / BLOCK, data + done);
    }
    return status;
}

static int sd_program(uint32_t at, const uint8_t *data, uint32_t count) {
    int status = 0;
    for (uint32_t done = 0; done < count && status == 0; done += BLOCK) {
        status = write_block((at + done) / BLOCK, data + done);
    }
    return status;
}

static int sd_erase(uint32_t at) {
    (void)at;
    return 0;
}

const struct storage storage_sd = {BLOCK, BLOCK, BLOCK, BLOCKS, sd_start, sd_read, sd_program, sd_erase};
