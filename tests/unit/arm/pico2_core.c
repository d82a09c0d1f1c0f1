/* pico2_core.c: a program for the Pico 2 that uses what its Cortex-M33 has for priorities and masks, and coprocessors in IT
 * blocks. Each line on UART0 is a word and numbers. Sections are those of ARM DDI 0553 (ARMv8-M).
 */
#include "pico2.h"

#define BYTE(address) (*(volatile uint8_t *)(address))
#define HALF(address) (*(volatile uint16_t *)(address))
#define NVIC_IPR 0xE000E400u
#define NVIC_ISPR 0xE000E200u
#define SHPR 0xE000ED18u
#define ICSR 0xE000ED04u
#define BARRIER() __asm volatile("dsb\n isb" ::: "memory")
#define MASK(name)                                                                                           \
    ({                                                                                                       \
        uint32_t value;                                                                                      \
        __asm volatile("mrs %0, " name : "=r"(value));                                                       \
        value;                                                                                               \
    })

enum { LEVELS = 16, SPARE = 46 };

static volatile uint32_t order, depth, deepest, ended[2], faulted;

static void pend(uint32_t interrupt) {
    AT(NVIC_ISPR + interrupt / 32 * 4) = 1u << interrupt % 32;
    BARRIER();
}

static void on_spare(void) {
    order = order << 4 | (MASK("ipsr") - 16u - SPARE);
}

/* Each level makes the next one pending, which is more urgent; the innermost one asks for NMI. */
static void on_level(void) {
    uint32_t level = MASK("ipsr") - 16u;
    deepest = ++depth > deepest ? depth : deepest;
    if (level + 1 < LEVELS) {
        pend(level + 1);
    } else {
        AT(ICSR) = 1u << 31;
        BARRIER();
    }
    depth--;
    ended[level / 8] = ended[level / 8] << 4 | level;
}

static void on_nmi(void) {
    deepest = ++depth > deepest ? depth : deepest;
    depth--;
    order = order << 4 | 0xEu;
}

/* B3.33: a return clears it. */
static void on_masking(void) {
    __asm volatile("cpsid f");
    faulted = MASK("faultmask");
}

#define ON_LEVELS(first)                                                                                     \
    [15 + first] = on_level, [16 + first] = on_level, [17 + first] = on_level, [18 + first] = on_level

VECTORS([1] = on_nmi, ON_LEVELS(0), ON_LEVELS(4), ON_LEVELS(8), ON_LEVELS(12), [15 + 46] = on_spare,
        [15 + 47] = on_spare, [15 + 48] = on_spare, [15 + 49] = on_spare, [15 + 50] = on_masking);

/* ---- D1.2: IPR and SHPR take bytes and halfwords; four bits of a priority are there ---- */

static void use_priorities(void) {
    word("priority");
    AT(NVIC_IPR + 44) = 0xFFFFFFFFu;
    number(AT(NVIC_IPR + 44));
    BYTE(NVIC_IPR + 45) = 0x25u;
    number(AT(NVIC_IPR + 44));
    number(BYTE(NVIC_IPR + 45));
    HALF(NVIC_IPR + 46) = 0x8191u;
    number(AT(NVIC_IPR + 44));
    number(HALF(NVIC_IPR + 44));
    AT(NVIC_IPR + 52) = 0xFFFFFFFFu; /* of interrupts that RP2350 has not */
    number(AT(NVIC_IPR + 52));
    word("handlers");
    AT(SHPR + 8) = 0;
    BYTE(SHPR + 11) = 0xC0u;
    BYTE(SHPR + 10) = 0x8Fu;
    number(AT(SHPR + 8));
    BYTE(SHPR + 7) = 0xFFu;
    number(AT(SHPR + 4));
    HALF(SHPR + 10) = 0x3040u;
    number(AT(SHPR + 8));
    number(BYTE(SHPR + 11));
    AT(SHPR + 8) = 0;
    AT(SHPR + 4) = 0;
    word("order");
    AT(NVIC_IPR + 44) = 0;
    AT(NVIC_IPR + 48) = 0;
    BYTE(NVIC_IPR + 46) = 0x80u;
    BYTE(NVIC_IPR + 47) = 0x20u;
    BYTE(NVIC_IPR + 48) = 0x60u;
    BYTE(NVIC_IPR + 49) = 0x40u;
    AT(0xE000E104u) = 0x3Fu << 14;
    __asm volatile("cpsid i");
    pend(46);
    pend(47);
    pend(48);
    pend(49);
    __asm volatile("cpsie i");
    BARRIER();
    number(order);
}

/* ---- B3.9: as many nested handlers as there are priorities, and NMI ---- */

static void use_levels(void) {
    for (uint32_t level = 0; level < LEVELS; level++) {
        BYTE(NVIC_IPR + level) = (uint8_t)((LEVELS - 1 - level) << 4);
    }
    AT(0xE000E100u) = (1u << LEVELS) - 1u;
    order = 0;
    pend(0);
    word("nested");
    number(deepest);
    number(depth);
    number(ended[1]);
    number(ended[0]);
    number(order);
    number(MASK("ipsr") << 16 | (AT(ICSR) & 0x1FFu));
}

/* ---- B3.28: FAULTMASK ---- */

static void use_masks(void) {
    word("masked");
    order = 0;
    __asm volatile("cpsid f");
    pend(46);
    number(order);
    AT(ICSR) = 1u << 31; /* NMI is not masked */
    BARRIER();
    number(order);
    __asm volatile("cpsie f\n nop");
    number(order);
    __asm volatile("cpsid if");
    pend(47);
    number(order);
    __asm volatile("cpsie if\n nop");
    number(order);
    pend(50);
    number(faulted << 4 | MASK("faultmask"));
}

/* ---- C1.3.5: conditional instructions of coprocessors ---- */

static void use_it_blocks(void) {
    uint32_t a = 1, b = 2, c = 3, d = 4;
    word("then");
    AT(SIO + 0x20u) = 0xFFFFFFFFu;
    __asm volatile("cmp %0, %0\n"
                   "itett eq\n"
                   "mcreq p0, #2, %4, c0, c0\n" /* sets pins 5 and 6 */
                   "movne %0, #9\n"
                   "mrceq p0, #0, %1, c0, c0\n"
                   "addeq %2, %2, #1\n"
                   "add %3, %3, #1"
                   : "+r"(a), "+r"(b), "+r"(c), "+r"(d)
                   : "r"(0x60)
                   : "cc");
    number(a);
    number(b);
    number(c);
    number(d);
    word("else");
    a = 1, b = 2, c = 3, d = 4;
    __asm volatile("cmp %0, %0\n"
                   "itete ne\n"
                   "mcrne p0, #3, %4, c0, c0\n" /* would clear them */
                   "moveq %0, #9\n"
                   "mrcne p0, #0, %1, c0, c0\n"
                   "addeq %2, %2, #1\n"
                   "it eq\n"
                   "mrceq p0, #0, %3, c0, c0\n"
                   "add %3, %3, #1"
                   : "+r"(a), "+r"(b), "+r"(c), "+r"(d)
                   : "r"(0x60)
                   : "cc");
    number(a);
    number(b);
    number(c);
    number(d);
    word("flags"); /* that an instruction of the block sets count for those that follow */
    a = 1, b = 2;
    __asm volatile("cmp %0, %0\n"
                   "ittt eq\n"
                   "mrceq p7, #1, r15, c0, c0, #0\n" /* N alone */
                   "moveq %0, #9\n"
                   "moveq %1, #9\n"
                   "it mi\n"
                   "addmi %1, %1, #1"
                   : "+r"(a), "+r"(b)::"cc");
    number(a);
    number(b);
    word("between"); /* an interrupt, with a part of the block left */
    a = 1, b = 2, order = 0;
    __asm volatile("cmp %0, %0\n"
                   "ittte eq\n"
                   "streq %4, [%3]\n"
                   "mrceq p0, #0, %1, c0, c0\n"
                   "moveq %0, #9\n"
                   "movne %0, #7\n"
                   "ldr %2, [%5]"
                   : "+r"(a), "+r"(b), "=&r"(c)
                   : "r"(NVIC_ISPR + 4), "r"(1u << 15), "r"(&order)
                   : "cc", "memory");
    number(a);
    number(b);
    number(c);
}

/* ---- RP2350 datasheet, 3.6.2: a handler saves the double coprocessor's state and restores it ---- */

static void save_coprocessor(void) {
    uint32_t x[2], y[2], state[2], sum[2], flags;
    word("saved");
    __asm volatile("cdp p4, #8, c0, c0, c0, #2"); /* NTDC: integers are truncated */
    __asm volatile("mcrr p4, #1, %0, %1, c0\n"    /* WXUP: -1.5 */
                   "mcrr p4, #1, %2, %3, c1"      /* WYUP: 4 */
                   ::"r"(0),
                   "r"(0xBFF80000u), "r"(0), "r"(0x40100000u));
    __asm volatile("mrc2 p4, #0, %0, c0, c0, #1" : "=r"(flags)); /* PCMP */
    number(flags);
    __asm volatile("mrrc p4, #0, %0, %1, c8\n" /* RXMD */
                   "mrrc p4, #0, %2, %3, c9\n" /* RYMD */
                   "mrrc p4, #0, %4, %5, c10"  /* REFD */
                   : "=r"(x[0]), "=r"(x[1]), "=r"(y[0]), "=r"(y[1]), "=r"(state[0]), "=r"(state[1]));
    number(x[1]);
    number(x[0]);
    number(y[1]);
    number(y[0]);
    number(state[0]);
    __asm volatile("mrc2 p4, #0, %0, c0, c0, #1" : "=r"(flags));
    number(flags);
    /* another use */
    __asm volatile("cdp p4, #8, c0, c0, c0, #3\n mcrr p4, #1, %0, %0, c0\n mcrr p4, #1, %0, %0, c1" ::"r"(0));
    __asm volatile("mcrr p4, #0, %0, %1, c0\n" /* WXMD */
                   "mcrr p4, #0, %2, %3, c1\n" /* WYMD */
                   "mcrr p4, #0, %4, %5, c2"   /* WEFD */
                   ::"r"(x[0]),
                   "r"(x[1]), "r"(y[0]), "r"(y[1]), "r"(state[0]), "r"(state[1]));
    __asm volatile("mrc2 p4, #0, %0, c0, c0, #1" : "=r"(flags));
    number(flags);
    __asm volatile("mrc2 p4, #0, %0, c0, c3, #0" : "=r"(flags)); /* of X, as an integer */
    number(flags);
    __asm volatile("mrrc p4, #1, %0, %1, c0" : "=r"(sum[0]), "=r"(sum[1])); /* RDDA */
    number(sum[1]);
    number(sum[0]);
}

void main(void) {
    use_priorities();
    use_levels();
    use_masks();
    use_it_blocks();
    save_coprocessor();
    say('\n');
}
