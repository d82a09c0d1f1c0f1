/* SPDX-License-Identifier: MIT
 * arm_rp2040_usb.h: RP2040's USB controller as a device, and a host at its other end that opens a serial port (CDC): it
 * resets the bus, reads the descriptors, gives an address, chooses the configuration, sets 115200 baud and DTR, and then
 * takes what the device sends, as often as a frame allows. Other classes stay unused once they are configured. Packets
 * take whole steps of time and never fail. The caller passes the time in microseconds and takes and gives the bytes.
 * Sources: RP2040 datasheet, 4.1 (registers, DPSRAM layout); USB 2.0, 9.1 to 9.4; USB CDC PSTN 1.2, 6.3.
 */
#ifndef MOTECRYPT_ARM_RP2040_USB_H
#define MOTECRYPT_ARM_RP2040_USB_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

enum { USB_DPRAM = 0x1000, USB_ENDPOINTS = 16, USB_PACKET = 64 };

enum { /* offsets of registers, in words from 0x50110000 */
    USB_ADDRESS = 0x00 / 4,
    USB_MAIN = 0x40 / 4,
    USB_SOF_READ = 0x48 / 4,
    USB_SIE_CONTROL = 0x4C / 4,
    USB_SIE_STATUS = 0x50 / 4,
    USB_BUFFERS = 0x58 / 4,
    USB_WHICH_BUFFER = 0x5C / 4,
    USB_ABORT = 0x60 / 4,
    USB_ABORT_DONE = 0x64 / 4,
    USB_INTR = 0x8C / 4,
    USB_INTE = 0x90 / 4,
    USB_INTF = 0x94 / 4,
    USB_INTS = 0x98 / 4,
    USB_WORDS = 0x9C / 4
};

/* SIE_STATUS, SIE_CTRL, and buffer controls in the DPSRAM */
#define USB_STATUS_VBUS (1u << 0)
#define USB_STATUS_CONNECTED (1u << 16)
#define USB_STATUS_SETUP (1u << 17)
#define USB_STATUS_RESET (1u << 19)
#define USB_PULL_UP (1u << 16)
#define USB_BUFFER_LENGTH 0x3FFu
#define USB_BUFFER_AVAILABLE 0x400u
#define USB_BUFFER_STALL 0x800u
#define USB_BUFFER_FIRST 0x1000u
#define USB_BUFFER_FULL 0x8000u
#define USB_TWO_BUFFERS (1u << 30)

enum usb_stage { USB_AWAY, USB_ATTACHED, USB_RESET, USB_SETUP, USB_DATA, USB_STATUS, USB_OPEN, USB_UNUSED };

/* What the host asks for, one after the other; -1: not asked for. */
enum usb_ask { USB_ASK_DEVICE, USB_ASK_ADDRESS, USB_ASK_CONFIGURATION, USB_ASK_WHOLE, USB_ASK_CONFIGURE, USB_ASK_LINE,
               USB_ASK_DTR, USB_ASKED };

struct rp2040_usb {
    __attribute__((aligned(4096))) uint8_t dpram[USB_DPRAM]; /* mapped into the address space: on a page of its own */
    uint32_t words[USB_WORDS];
    bool in_second[2][USB_ENDPOINTS]; /* of two buffers, which is next: out, in */
    bool sof;                         /* a frame has begun, and SOF_RD has not been read */
    /* the host */
    enum usb_stage stage;
    enum usb_ask ask;
    uint64_t next_us; /* its next step */
    uint8_t answer[512];
    uint32_t answered, wanted; /* bytes of the data stage */
    uint32_t endpoint_in, endpoint_out, interface;
    bool has_serial;
    uint32_t frame;
};

/* The other end of the serial port. */
struct usb_line {
    void *context;
    void (*take)(void *context, uint8_t byte);
    bool (*give)(void *context, uint8_t *byte); /* false: there is none now */
};

static inline uint32_t usb_word(const struct rp2040_usb *usb, uint32_t at) {
    uint32_t value;
    memcpy(&value, usb->dpram + at, 4);
    return value;
}

/* A buffer's 16 bits of a buffer control. */
static inline uint32_t usb_half(const struct rp2040_usb *usb, uint32_t at) {
    return usb->dpram[at] | (uint32_t)usb->dpram[at + 1] << 8;
}

static inline void usb_set_half(struct rp2040_usb *usb, uint32_t at, uint32_t value) {
    usb->dpram[at] = (uint8_t)value;
    usb->dpram[at + 1] = (uint8_t)(value >> 8);
}

/* ---- one packet ---- */

enum usb_outcome { USB_NAK, USB_ACK, USB_STALLED };

/* A packet to (`in` false) or from an endpoint, of at most 64 bytes; `bytes` is its length, before or after. */
static inline enum usb_outcome usb_packet(struct rp2040_usb *usb, uint32_t number, bool in, uint8_t *data, uint32_t *bytes) {
    uint32_t control = number == 0 ? 0 : usb_word(usb, 8 * number + (in ? 0u : 4u));
    uint32_t at = 0x80 + 8 * number + (in ? 0u : 4u), bit = 1u << (2 * number + (in ? 0 : 1)), where, half;
    bool *second = &usb->in_second[in][number], is_double = (control & USB_TWO_BUFFERS) != 0;
    if (number != 0 && !(control >> 31)) {
        return USB_NAK;
    }
    if (usb_half(usb, at) & USB_BUFFER_FIRST) {
        usb_set_half(usb, at, usb_half(usb, at) & ~USB_BUFFER_FIRST);
        *second = false;
    }
    if (!is_double) {
        *second = false;
    }
    half = usb_half(usb, at + (*second ? 2u : 0u));
    if (half & USB_BUFFER_STALL) {
        return USB_STALLED;
    }
    if (!(half & USB_BUFFER_AVAILABLE) || (usb->words[USB_BUFFERS] & bit) || (in && !(half & USB_BUFFER_FULL))) {
        return USB_NAK;
    }
    where = (number == 0 ? 0x100u : control & 0xFFC0u) + (*second ? USB_PACKET : 0u);
    if (where + USB_PACKET > USB_DPRAM) {
        return USB_NAK;
    }
    if (in) {
        *bytes = (half & USB_BUFFER_LENGTH) < USB_PACKET ? half & USB_BUFFER_LENGTH : USB_PACKET;
        memcpy(data, usb->dpram + where, *bytes);
        half &= ~(USB_BUFFER_AVAILABLE | USB_BUFFER_FULL);
    } else {
        memcpy(usb->dpram + where, data, *bytes);
        half = (half & ~(USB_BUFFER_AVAILABLE | USB_BUFFER_LENGTH)) | USB_BUFFER_FULL | *bytes;
    }
    usb_set_half(usb, at + (*second ? 2u : 0u), half);
    usb->words[USB_BUFFERS] |= bit;
    usb->words[USB_WHICH_BUFFER] = (usb->words[USB_WHICH_BUFFER] & ~bit) | (*second ? bit : 0u);
    *second = is_double && !*second;
    return USB_ACK;
}

/* ---- the host ---- */

static inline void usb_request(uint8_t *setup, uint8_t type, uint8_t request, uint32_t value, uint32_t index,
                               uint32_t length) {
    const uint8_t bytes[8] = {type, request, (uint8_t)value, (uint8_t)(value >> 8), (uint8_t)index, (uint8_t)(index >> 8),
                              (uint8_t)length, (uint8_t)(length >> 8)};
    memcpy(setup, bytes, 8);
}

/* From the configuration: the interface of the serial port, and the two endpoints of its data. */
static inline void usb_look_for_serial(struct rp2040_usb *usb) {
    bool in_data = false;
    for (uint32_t at = 0; at + 2 <= usb->answered && usb->answer[at] >= 2; at += usb->answer[at]) {
        const uint8_t *each = usb->answer + at;
        if (at + each[0] > usb->answered) {
            break;
        }
        if (each[1] == 4 && each[0] >= 9) { /* INTERFACE: class 2 controls, class 10 has the data */
            in_data = each[5] == 10 && usb->endpoint_in == 0;
            if (each[5] == 2 && each[6] == 2 && !usb->has_serial) {
                usb->interface = each[2];
                usb->has_serial = true;
            }
        } else if (each[1] == 5 && each[0] >= 7 && in_data) {
            *(each[2] & 0x80u ? &usb->endpoint_in : &usb->endpoint_out) = each[2] & 15u;
        }
    }
    usb->has_serial = usb->has_serial && usb->endpoint_in != 0 && usb->endpoint_out != 0;
}

static inline void usb_begin_request(struct rp2040_usb *usb) {
    uint8_t *setup = usb->dpram;
    usb->answered = usb->wanted = 0;
    switch (usb->ask) {
    case USB_ASK_DEVICE:
        usb_request(setup, 0x80, 6, 0x100, 0, usb->wanted = 18);
        break;
    case USB_ASK_ADDRESS:
        usb_request(setup, 0x00, 5, 1, 0, 0);
        break;
    case USB_ASK_CONFIGURATION:
        usb_request(setup, 0x80, 6, 0x200, 0, usb->wanted = 9);
        break;
    case USB_ASK_WHOLE:
        usb->wanted = usb->answer[2] | (uint32_t)usb->answer[3] << 8;
        usb->wanted = usb->wanted < sizeof usb->answer ? usb->wanted : (uint32_t)sizeof usb->answer;
        usb_request(setup, 0x80, 6, 0x200, 0, usb->wanted);
        break;
    case USB_ASK_CONFIGURE:
        usb_request(setup, 0x00, 9, usb->answer[5], 0, 0);
        break;
    case USB_ASK_LINE: /* SET_LINE_CODING: 115200 baud, one stop bit, no parity, 8 bits */
        usb_request(setup, 0x21, 0x20, 0, usb->interface, usb->wanted = 7);
        memcpy(usb->answer, "\x00\xC2\x01\x00\x00\x00\x08", 7);
        break;
    default:
        usb_request(setup, 0x21, 0x22, 3, usb->interface, 0); /* SET_CONTROL_LINE_STATE: DTR, RTS */
    }
    usb->words[USB_SIE_STATUS] |= USB_STATUS_SETUP;
    usb->stage = usb->wanted != 0 ? USB_DATA : USB_STATUS;
}

static inline void usb_next_request(struct rp2040_usb *usb) {
    if (usb->ask == USB_ASK_WHOLE) {
        usb_look_for_serial(usb);
    }
    usb->ask++;
    usb->stage = usb->ask == USB_ASKED ? USB_OPEN : usb->ask == USB_ASK_LINE && !usb->has_serial ? USB_UNUSED : USB_SETUP;
}

static inline void usb_data_stage(struct rp2040_usb *usb) {
    bool in = (usb->dpram[0] & 0x80u) != 0;
    uint8_t data[USB_PACKET];
    uint32_t bytes = usb->wanted - usb->answered < USB_PACKET ? usb->wanted - usb->answered : USB_PACKET;
    enum usb_outcome outcome;
    if (!in) {
        memcpy(data, usb->answer + usb->answered, bytes);
    }
    outcome = usb_packet(usb, 0, in, data, &bytes);
    if (outcome == USB_STALLED) {
        usb_next_request(usb);
    } else if (outcome == USB_ACK) {
        bytes = bytes < sizeof usb->answer - usb->answered ? bytes : (uint32_t)sizeof usb->answer - usb->answered;
        if (in) {
            memcpy(usb->answer + usb->answered, data, bytes);
        }
        usb->answered += bytes;
        if (usb->answered >= usb->wanted || bytes < USB_PACKET) {
            usb->stage = USB_STATUS;
        }
    }
}

static inline void usb_status_stage(struct rp2040_usb *usb) {
    bool in = usb->wanted == 0 || !(usb->dpram[0] & 0x80u); /* the other way than the data */
    uint8_t data[USB_PACKET];
    uint32_t bytes = 0;
    if (usb_packet(usb, 0, in, data, &bytes) != USB_NAK) {
        usb_next_request(usb);
    }
}

/* The port is open: a packet each way. True: one was there, and more may follow within the frame. */
static inline bool usb_exchange(struct rp2040_usb *usb, const struct usb_line *line) {
    uint8_t data[USB_PACKET];
    uint32_t bytes = 0, at = 0x80 + 8 * usb->endpoint_out + 4, control = usb_word(usb, 8 * usb->endpoint_out + 4);
    bool second = (control & USB_TWO_BUFFERS) && usb->in_second[0][usb->endpoint_out];
    bool moved = usb_packet(usb, usb->endpoint_in, true, data, &bytes) == USB_ACK;
    for (uint32_t i = 0; moved && i < bytes; i++) {
        line->take(line->context, data[i]);
    }
    if ((usb_half(usb, at + (second ? 2u : 0u)) & USB_BUFFER_AVAILABLE) &&
        !(usb->words[USB_BUFFERS] >> (2 * usb->endpoint_out + 1) & 1u)) {
        for (bytes = 0; bytes < USB_PACKET - 1 && line->give(line->context, &data[bytes]); bytes++) {
        }
        moved |= bytes != 0 && usb_packet(usb, usb->endpoint_out, false, data, &bytes) == USB_ACK;
    }
    return moved;
}

enum { USB_ATTACH_US = 100000, USB_RESET_US = 10000, USB_STEP_US = 50, USB_FRAME_US = 1000 };

/* One step of the host, at its time. */
static inline void usb_step(struct rp2040_usb *usb, const struct usb_line *line) {
    uint64_t frame = (usb->next_us / USB_FRAME_US + 1) * USB_FRAME_US, now = usb->next_us;
    uint32_t frame_number = (uint32_t)(now / USB_FRAME_US) & 0x7FFu;
    if (usb->stage >= USB_SETUP && frame_number != usb->frame) {
        usb->frame = usb->words[USB_SOF_READ] = frame_number;
        usb->sof = true;
    }
    usb->next_us = now + USB_STEP_US;
    switch (usb->stage) {
    case USB_ATTACHED:
        usb->words[USB_SIE_STATUS] |= USB_STATUS_RESET | USB_STATUS_CONNECTED;
        usb->stage = USB_RESET;
        usb->next_us = now + USB_RESET_US;
        break;
    case USB_RESET:
        usb->ask = USB_ASK_DEVICE;
        usb->stage = USB_SETUP;
        break;
    case USB_SETUP:
        usb_begin_request(usb);
        break;
    case USB_DATA:
        usb_data_stage(usb);
        break;
    case USB_STATUS:
        usb_status_stage(usb);
        break;
    case USB_OPEN:
        usb->next_us = usb_exchange(usb, line) && now + USB_STEP_US < frame ? now + USB_STEP_US : frame;
        break;
    default:
        usb->next_us = frame;
    }
}

static inline void usb_advance(struct rp2040_usb *usb, uint64_t us, const struct usb_line *line) {
    while (usb->stage != USB_AWAY && usb->next_us <= us) {
        usb_step(usb, line);
    }
}

/* In microseconds; UINT64_MAX: nothing is connected. */
static inline uint64_t usb_next(const struct rp2040_usb *usb) {
    return usb->stage == USB_AWAY ? UINT64_MAX : usb->next_us;
}

/* ---- registers ---- */

static inline uint32_t usb_raw(const struct rp2040_usb *usb) {
    uint32_t status = usb->words[USB_SIE_STATUS];
    return (usb->words[USB_BUFFERS] != 0 ? 1u << 4 : 0u) | (status & USB_STATUS_RESET ? 1u << 12 : 0u) |
           (status & USB_STATUS_SETUP ? 1u << 16 : 0u) | (usb->sof ? 1u << 17 : 0u);
}

static inline uint32_t usb_interrupts(const struct rp2040_usb *usb) {
    return (usb_raw(usb) & usb->words[USB_INTE]) | usb->words[USB_INTF];
}

static inline uint32_t usb_read(struct rp2040_usb *usb, uint32_t offset) {
    uint32_t word = (offset & 0xFFFu) / 4;
    switch (word) {
    case USB_SOF_READ:
        usb->sof = false;
        return usb->words[word];
    case USB_SIE_STATUS:
        return usb->words[word] | USB_STATUS_VBUS;
    case USB_INTR:
        return usb_raw(usb);
    case USB_INTS:
        return usb_interrupts(usb);
    case USB_ABORT_DONE:
        return usb->words[USB_ABORT];
    default:
        return word < USB_WORDS ? usb->words[word] : 0;
    }
}

/* `us`: the time, from which the host counts once the device has its pull-up on. */
static inline void usb_write(struct rp2040_usb *usb, uint32_t offset, uint32_t value, uint64_t us) {
    uint32_t word = (offset & 0xFFFu) / 4, how = offset >> 12 & 3u;
    if (word >= USB_WORDS) {
        return;
    }
    if (word == USB_SIE_STATUS || word == USB_BUFFERS) { /* ones clear, through the alias that clears, too */
        usb->words[word] &= how == 0 || how == 3 ? ~value : UINT32_MAX;
        return;
    }
    usb->words[word] = how == 0   ? value
                       : how == 1 ? usb->words[word] ^ value
                       : how == 2 ? usb->words[word] | value
                                  : usb->words[word] & ~value;
    if (word == USB_SIE_CONTROL) {
        bool attached = (usb->words[word] & USB_PULL_UP) && (usb->words[USB_MAIN] & 1u);
        if (attached != (usb->stage != USB_AWAY)) {
            usb->stage = attached ? USB_ATTACHED : USB_AWAY;
            usb->next_us = us + USB_ATTACH_US;
            usb->has_serial = false;
            usb->endpoint_in = usb->endpoint_out = 0;
        }
    }
}

#endif
