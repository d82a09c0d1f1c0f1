/* tasks.c: a firmware with a stack for each of two tasks, and a switch between them in assembly. With DEEP it has no tasks,
 * but a function with a large frame and one with a large array whose size is known only at run time. */
#include "hal.h"

enum { TASK_BYTES = 192, ROUNDS = 5 };

#ifdef DEEP

__attribute__((noinline)) static uint8_t fixed(void) {
    volatile uint8_t room[DEEP];
    for (unsigned i = 0; i < DEEP; i++) {
        room[i] = 1;
    }
    return room[0];
}

__attribute__((noinline)) static uint8_t sized(unsigned bytes) {
    volatile uint8_t room[bytes];
    for (unsigned i = 0; i < bytes; i++) {
        room[i] = 1;
    }
    return (uint8_t)(room[0] + fixed());
}

int main(void) {
    volatile unsigned bytes = DEEP;
    hal_init();
    hal_write((uint8_t)('0' + sized(bytes)));
    hal_write('.');
    for (;;) {
    }
}

#else

typedef void *stack_pointer;

static uint8_t stacks[2][TASK_BYTES] __attribute__((aligned(16)));
static stack_pointer left[3]; /* where the two tasks and main() continue */

/* Saves what a function must keep, and continues where the other one was left. */
__attribute__((naked, noinline)) void switch_to(stack_pointer *from, stack_pointer to);
#if defined __AVR__
void switch_to(stack_pointer *from, stack_pointer to) {
    __asm__ volatile("push r2\n push r3\n push r16\n push r17\n push r28\n push r29\n"
                     "movw r30, r24\n in r18, 0x3d\n in r19, 0x3e\n st Z, r18\n std Z+1, r19\n"
                     "in r0, 0x3f\n cli\n out 0x3e, r23\n out 0x3f, r0\n out 0x3d, r22\n"
                     "pop r29\n pop r28\n pop r17\n pop r16\n pop r3\n pop r2\n ret");
}
enum { SAVED = 6, RETURN = 2 };
#elif defined __arm__
void switch_to(stack_pointer *from, stack_pointer to) {
    __asm__ volatile(
        ".syntax unified\n push {r4-r7, lr}\n mov r2, sp\n str r2, [r0]\n mov sp, r1\n pop {r4-r7, pc}");
}
enum { SAVED = 16, RETURN = 4 };
#else
void switch_to(stack_pointer *from, stack_pointer to) {
    __asm__ volatile(
        "addi sp, sp, -16\n sw ra, 12(sp)\n sw s0, 8(sp)\n sw s1, 4(sp)\n sw sp, 0(a0)\n mv sp, a1\n"
        "lw ra, 12(sp)\n lw s0, 8(sp)\n lw s1, 4(sp)\n addi sp, sp, 16\n ret");
}
enum { SAVED = 12, RETURN = 4 };
#endif

__attribute__((noinline)) static void spin(uint16_t rounds) {
    for (volatile uint16_t i = 0; i < rounds; i++) {
    }
}

/* Half of its work is before it lets the other one run. */
__attribute__((noinline)) static void little_work(void) {
    spin(10);
    switch_to(&left[0], left[1]);
    spin(10);
}

__attribute__((noinline)) static void much_work(void) {
    spin(1000);
    switch_to(&left[1], left[0]);
    spin(1000);
}

__attribute__((noinline)) static void little_task(void) {
    for (uint8_t i = 0; i < ROUNDS; i++) {
        little_work();
    }
    switch_to(&left[0], left[2]);
}

__attribute__((noinline)) static void much_task(void) {
    for (;;) {
        much_work();
    }
}

/* As a switch has left it. */
static void prepare(uint8_t number, void (*task)(void)) {
    uint8_t *at = stacks[number] + TASK_BYTES - 32;
    uintptr_t begin = (uintptr_t)task;
#if defined __AVR__
    at[SAVED + 1] = (uint8_t)(begin >> 8);
    at[SAVED + 2] = (uint8_t)begin;
#elif defined __arm__
    *(uintptr_t *)(void *)(at + SAVED) = begin;
#else
    *(uintptr_t *)(void *)(at + SAVED) = begin;
#endif
    left[number] = at;
}

int main(void) {
    hal_init();
    prepare(0, little_task);
    prepare(1, much_task);
    switch_to(&left[2], left[0]);
    hal_write('.');
    for (;;) {
    }
}
#endif
