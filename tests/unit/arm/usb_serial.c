/* A serial port (CDC) on RP2040's USB by interrupts, for test_usb_serial.py. When the host opens the port, it sends a text
 * of several packets, then what comes, changed (bytes ^ 32), up to "~"; then what was asked of it, on the UART.
 * Sources: RP2040 datasheet, 4.1; USB 2.0, chapter 9; USB CDC PSTN 1.2. */
#include "hal.h"

#define AT(address) (*(volatile uint32_t *)(address))
#define CLEAR(address) AT((address) + 0x3000u)
#define USB 0x50110000u
#define RAM 0x50100000u
#define CONTROL(endpoint, in) AT(RAM + 8u * (endpoint) + ((in) ? 0u : 4u))
#define BUFFER(endpoint, in) AT(RAM + 0x80u + 8u * (endpoint) + ((in) ? 0u : 4u))
#define AVAILABLE 0x400u
#define FULL 0x8000u
#define DATA1 0x2000u
#define VECTORS 48
#define TEXT 200u
#define ASKED 16

enum { INTERRUPT = 5, DATA = 2, OUT_AT = 0x200, IN_AT = 0x300, SIZE = 64 };

extern uint32_t vectors[];
static uint32_t table[VECTORS] __attribute__((aligned(256)));
static uint8_t asked[ASKED][8], queue[1024];
static uint32_t asked_count, queued, sent, address, toggle_in, toggle_in0, toggle_out;
static const uint8_t *answer;
static uint32_t left;
static volatile uint32_t is_open, has_ended;

static const uint8_t device[18] = {18, 1, 0, 2, 0xEF, 2, 1, SIZE, 0x34, 0x12, 1, 0, 0, 1, 0, 0, 0, 1};
/* clang-format off */
static const uint8_t configuration[] = {
    9, 2, 75, 0, 2, 1, 0, 0x80, 50,                                              /* two interfaces */
    8, 11, 0, 2, 2, 2, 0, 0,                                                     /* that belong together */
    9, 4, 0, 0, 1, 2, 2, 0, 0, 5, 36, 0, 0x20, 1, 5, 36, 1, 0, 1, 4, 36, 2, 2, 5, 36, 6, 0, 1, /* control */
    7, 5, 0x81, 3, 8, 0, 16, 9, 4, 1, 0, 2, 10, 0, 0, 0,                         /* data */
    7, 5, 0x80 | DATA, 2, SIZE, 0, 0, 7, 5, DATA, 2, SIZE, 0, 0};
/* clang-format on */

static volatile uint8_t *bytes_at(uint32_t offset) {
    return (volatile uint8_t *)(RAM + offset);
}

/* A buffer's control, then, some cycles later, that it may be used: the controller reads both in its own clock. */
static void arm(uint32_t endpoint, int in, uint32_t control) {
    BUFFER(endpoint, in) = control;
    for (volatile int i = 0; i < 3; i++) {
    }
    BUFFER(endpoint, in) = control | AVAILABLE;
}

/* The next packet of the answer on endpoint 0; one of no bytes says that it is done. */
static void answer_on(void) {
    uint32_t now = left < SIZE ? left : SIZE;
    for (uint32_t i = 0; i < now; i++) {
        bytes_at(0x100)[i] = answer[i];
    }
    answer += now;
    left -= now;
    toggle_in0 ^= 1;
    arm(0, 1, FULL | now | (toggle_in0 ? DATA1 : 0));
}

static void send_on(void) {
    uint32_t now = queued - sent < SIZE ? queued - sent : SIZE;
    if (now == 0 || (BUFFER(DATA, 1) & (AVAILABLE | FULL))) {
        return;
    }
    for (uint32_t i = 0; i < now; i++) {
        bytes_at(IN_AT)[i] = queue[sent + i];
    }
    sent += now;
    arm(DATA, 1, FULL | now | (toggle_in ? DATA1 : 0));
    toggle_in ^= 1;
}

static void receive_on(void) {
    arm(DATA, 0, SIZE | (toggle_out ? DATA1 : 0));
    toggle_out ^= 1;
}

static void take_received(void) {
    uint32_t count = BUFFER(DATA, 0) & 0x3FFu;
    for (uint32_t i = 0; i < count && queued < sizeof queue; i++) {
        uint8_t byte = bytes_at(OUT_AT)[i];
        queue[queued++] = byte ^ 32u;
        has_ended |= byte == '~';
    }
    receive_on();
}

static void open_port(void) {
    for (uint32_t i = 0; i < TEXT; i++) {
        queue[queued++] = (uint8_t)('A' + i % 26);
    }
    is_open = 1;
}

static void take_setup(void) {
    uint8_t setup[8];
    uint32_t length;
    for (unsigned i = 0; i < 8; i++) {
        setup[i] = bytes_at(0)[i];
        if (asked_count < ASKED) {
            asked[asked_count][i] = setup[i];
        }
    }
    asked_count += asked_count < ASKED;
    length = setup[6] | (uint32_t)setup[7] << 8;
    BUFFER(0, 0) = BUFFER(0, 1) = 0;
    toggle_in0 = 0;
    left = 0;
    if (setup[1] == 6 && setup[3] == 1) {
        answer = device;
        left = sizeof device;
    } else if (setup[1] == 6 && setup[3] == 2) {
        answer = configuration;
        left = sizeof configuration;
    } else if (setup[1] == 5) {
        address = setup[2];
    } else if (setup[1] == 9) {
        CONTROL(DATA, 1) = 1u << 31 | 1u << 29 | 2u << 26 | IN_AT;
        CONTROL(DATA, 0) = 1u << 31 | 1u << 29 | 2u << 26 | OUT_AT;
        receive_on();
    } else if (setup[0] == 0x21 && setup[1] == 0x20) { /* SET_LINE_CODING: its seven bytes come first */
        arm(0, 0, SIZE | DATA1);
        return;
    } else if (setup[1] == 0x22 && (setup[2] & 1u)) {
        open_port();
    }
    left = left < length ? left : length;
    answer_on();
}

/* What has moved: the answer on endpoint 0 continues, or its status comes; data continue. */
static void take_buffers(void) {
    uint32_t moved = AT(USB + 0x58u);
    AT(USB + 0x58u) = moved; /* ones clear */
    if (moved & 1u) {
        if (address != 0) {
            AT(USB) = address;
        }
        if (left != 0) {
            answer_on();
        } else if (asked_count != 0 && (asked[asked_count - 1][0] & 0x80u)) {
            arm(0, 0, DATA1); /* the host's empty packet */
        }
    }
    if ((moved & 2u) && asked_count != 0 && asked[asked_count - 1][1] == 0x20) {
        answer_on();
    }
    if (moved & 1u << (2 * DATA + 1)) {
        take_received();
    }
}

static void interrupt(void) {
    uint32_t what = AT(USB + 0x98u);
    if (what & 1u << 12) { /* the bus is reset */
        CLEAR(USB + 0x50u) = 1u << 19;
        address = 0;
        AT(USB) = 0;
    }
    if (what & 1u << 16) {
        CLEAR(USB + 0x50u) = 1u << 17;
        take_setup();
    }
    if (what & 1u << 4) {
        take_buffers();
    }
    send_on();
}

static void begin(void) {
    for (unsigned i = 0; i < VECTORS; i++) {
        table[i] = vectors[i];
    }
    table[16 + INTERRUPT] = (uint32_t)interrupt;
    AT(0xE000ED08u) = (uint32_t)table;
    CLEAR(0x4000C000u) = 1u << 24; /* out of reset */
    while (!(AT(0x4000C008u) & 1u << 24)) {
    }
    for (uint32_t i = 0; i < 0x1000; i += 4) {
        AT(RAM + i) = 0;
    }
    AT(USB + 0x74u) = 9;  /* to the pins, and to what drives them */
    AT(USB + 0x78u) = 12; /* the bus has power */
    AT(USB + 0x40u) = 1;
    AT(USB + 0x4Cu) = 1u << 29; /* an interrupt for each buffer of endpoint 0 */
    AT(USB + 0x90u) = 1u << 16 | 1u << 12 | 1u << 4;
    AT(0xE000E100u) = 1u << INTERRUPT;
    AT(USB + 0x4Cu) = 1u << 29 | 1u << 16; /* the pull-up */
}

static void digits(uint8_t byte) {
    hal_write((uint8_t)"0123456789abcdef"[byte >> 4]);
    hal_write((uint8_t)"0123456789abcdef"[byte & 15u]);
}

int main(void) {
    hal_init();
    begin();
    while (!has_ended || sent != queued || (BUFFER(DATA, 1) & AVAILABLE)) {
        __asm__ volatile("wfi" ::: "memory");
    }
    for (uint32_t i = 0; i < asked_count; i++) {
        hal_write('\n');
        for (unsigned k = 0; k < 8; k++) {
            digits(asked[i][k]);
        }
    }
    hal_write('.');
    return (int)is_open;
}
