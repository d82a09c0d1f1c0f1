/* wait_harness.c: avr_wait.h on a chip that consists of its fields alone, with instructions defined by the
 * test. */
#include "avr_wait.h"

#include "harness.h"

enum { FLASH = 1 << 18, PLACES = 64 };

/* What the chip does at an address instead of its instruction. */
enum act { NOTHING, REGISTER, FLAG, INTERRUPT, LATER_EVENT, NO_EVENT };
static struct place {
    uint32_t pc, next;
    uint64_t cycles;
    enum act act;
    unsigned which;
} places[PLACES];

static avr_t *avr;
static avr_cycle_timer_slot_t event;
static avr_uart_t uarts[8];
static uint64_t runs;

static uint8_t changes(avr_t *a, avr_io_addr_t address, void *parameter) {
    (void)parameter;
    return a->data[address];
}

static void act(avr_t *a) {
    const struct place *p = places;
    while (p->pc != a->pc) {
        p++;
    }
    runs++;
    a->pc = p->next;
    a->cycle += p->cycles;
    switch (p->act) {
    case NOTHING:
        break;
    case REGISTER:
        a->data[p->which] ^= 1;
        break;
    case FLAG:
        a->sreg[p->which] ^= 1;
        break;
    case INTERRUPT:
        a->interrupt_state = 1;
        break;
    case LATER_EVENT:
        event.when++;
        break;
    case NO_EVENT:
        a->cycle_timers.timer = NULL;
        break;
    }
}

static uint64_t fresh(const uint64_t *n) {
    (void)n;
    free(avr);
    avr = calloc(1, sizeof *avr);
    avr->flash = calloc(1, FLASH);
    avr->data = calloc(1, 1 << 16);
    avr->flashend = FLASH - 1;
    avr->ramend = 0x8FF;
    avr->run = act;
    avr->io_shared_io[0].io[0].param = avr; /* behind the last register's handlers: not NULL */
    memset(&wait_loops, 0, sizeof wait_loops);
    for (int i = 0; i < PLACES; i++) {
        places[i].pc = UINT32_MAX;
    }
    runs = 0;
    return 0;
}

static uint64_t moves(const uint64_t *n) {
    avr->io[n[0] - REGISTERS].r.c = changes;
    return 0;
}

static uint64_t holds_still(const uint64_t *n) {
    return wait_holds_still(avr, (uint32_t)n[0]);
}

/* The status registers of the UARTs and of what is none, from the last to the first. */
static uint64_t chips_uarts(const uint64_t *n) {
    for (int i = 0; i < 8 && n[i] != 0; i++) {
        uarts[i].io.kind = n[i] >> 16 ? "timer" : "uart";
        uarts[i].rxc.raised.reg = (avr_io_addr_t)n[i];
        uarts[i].io.next = avr->io_port;
        avr->io_port = &uarts[i].io;
    }
    wait_open(avr);
    return 0;
}

static void put_opcode(uint64_t pc, uint64_t op) {
    avr->flash[pc] = (uint8_t)op;
    avr->flash[pc + 1] = (uint8_t)(op >> 8);
}

/* What an instruction and its next word read, X, Y and Z being as given: 0: it does more than that; 1:
 * nothing that may change; else 2 more than the address that must hold still. */
static uint64_t looks(const uint64_t *n) {
    uint64_t address = 0;
    put_opcode(0, n[0]);
    put_opcode(2, n[1]);
    for (int i = 0; i < 3; i++) {
        avr->data[26 + 2 * i] = (uint8_t)n[2 + i];
        avr->data[27 + 2 * i] = (uint8_t)(n[2 + i] >> 8);
    }
    for (int i = 0; i < MAX_IOs; i++) {
        avr->io[i].r.c = NULL;
    }
    avr->ramend = UINT16_MAX;
    if (!wait_only_looks(avr, 0)) {
        return 0;
    }
    for (int i = 0; i < MAX_IOs; i++) {
        avr->io[i].r.c = changes;
    }
    avr->ramend = 0;
    if (wait_only_looks(avr, 0)) {
        return 1;
    }
    avr->ramend = UINT16_MAX;
    if (wait_only_looks(avr, 0)) { /* beyond the registers: the least end of the memory that it is below */
        for (uint32_t bit = 1 << 15; bit != 0; bit >>= 1) {
            avr->ramend = (uint16_t)(address + bit - 1);
            address += wait_only_looks(avr, 0) ? 0 : bit;
        }
        return address + 2;
    }
    for (unsigned bit = 1; bit < 512; bit <<= 1) {
        for (unsigned i = 0; i < MAX_IOs; i++) {
            avr->io[i].r.c = (i + REGISTERS) & bit ? changes : NULL;
        }
        address += wait_only_looks(avr, 0) ? 0 : bit;
    }
    return address + 2;
}

static uint64_t target(const uint64_t *n) {
    put_opcode(n[0], n[1]);
    return wait_target(avr, (avr_flashaddr_t)n[0]);
}

/* An instruction, and what the chip does there: next, cycles, act, which. */
static uint64_t at(const uint64_t *n) {
    struct place *p = places;
    while (p->pc != UINT32_MAX && p->pc != n[0]) {
        p++;
    }
    put_opcode(n[0], n[1]);
    *p = (struct place){(uint32_t)n[0], (uint32_t)n[2], n[3], (enum act)n[4], (unsigned)n[5]};
    return 0;
}

/* After a step from `tail` to `head`, in `cycle`, with an event to come (0: none), and the end of what may be run. */
static uint64_t came_round(const uint64_t *n) {
    runs = 0;
    avr->pc = (avr_flashaddr_t)n[1];
    avr->cycle = n[2];
    event.when = n[3];
    avr->cycle_timers.timer = n[3] ? &event : NULL;
    avr->interrupt_state = (int8_t)n[5];
    wait_round(avr, (avr_flashaddr_t)n[0], n[4]);
    return avr->cycle;
}

static uint64_t told(const uint64_t *n) {
    return n[0] == 0 ? runs : n[0] == 1 ? wait_loops.cycles : avr->pc;
}

static uint64_t refused(const uint64_t *n) {
    uint64_t count = 0;
    for (size_t i = 0; i < sizeof wait_loops.refused; i++) {
        count += wait_loops.refused[i];
    }
    return count << 32 | wait_loops.refused[n[0]];
}

int main(int argc, char **argv) {
    static const struct operation operations[] = {
        {"fresh", fresh},
        {"moves", moves},
        {"holds_still", holds_still},
        {"uarts", chips_uarts},
        {"looks", looks},
        {"target", target},
        {"at", at},
        {"came_round", came_round},
        {"told", told},
        {"refused", refused},
    };
    (void)argc;
    fresh(NULL);
    return SERVE(operations, argv);
}
