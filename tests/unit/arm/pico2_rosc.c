/* pico2_rosc.c: a program for the Pico 2 that runs for 11 million cycles from the ring oscillator. */
#include "pico2.h"

VECTORS([1] = 0);

void main(void) {
    CLEAR(0x4001003Cu) = 1u; /* 8.1: the core's clock is the reference clock */
    wait_for(0x40010044u, 1u);
    AT(0x40010030u) = 0; /* which is the ring oscillator */
    wait_for(0x40010038u, 1u);
    /* 3 cycles each */
    __asm volatile("movw r3, #0xf2ca\n movt r3, #0x37\n1: subs r3, #1\n bne 1b" ::: "r3", "cc");
}
