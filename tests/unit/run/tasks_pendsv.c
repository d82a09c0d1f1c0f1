/* tasks_pendsv.c: two tasks of a Cortex-M core on its process stack pointer, as of an RTOS: PendSV's handler, which has the
 * main stack, switches between them. */
#include "hal.h"

typedef uint32_t word;

enum { TASK_WORDS = 64, ROUNDS = 5, SAVED_WORDS = 8, FRAME_WORDS = 8, FRAME_PC = 6, FRAME_XPSR = 7 };

static word stacks[2][TASK_WORDS] __attribute__((aligned(8)));
static word vectors[16] __attribute__((aligned(256)));
static word *left[2]; /* where each task continues */
static volatile word current;

__attribute__((noinline)) static void spin(word rounds) {
    for (volatile word i = 0; i < rounds; i++) {
    }
}

static void yield(void) {
    *(volatile word *)0xE000ED04u = 1u << 28; /* PENDSVSET */
    __asm__ volatile("dsb\n isb");
}

__attribute__((noinline)) static void little_work(void) {
    spin(10);
    yield();
    spin(10);
}

__attribute__((noinline)) static void much_work(void) {
    spin(1000);
    yield();
    spin(1000);
}

static void little_task(void) {
    for (word i = 0; i < ROUNDS; i++) {
        little_work();
    }
    hal_write('.');
    for (;;) {
    }
}

static void much_task(void) {
    for (;;) {
        much_work();
    }
}

__attribute__((noinline, used)) static word *next(word *sp) {
    left[current] = sp;
    current ^= 1;
    return left[current];
}

__attribute__((naked)) static void on_pendsv(void) {
    __asm__ volatile(
        ".syntax unified\n mrs r0, psp\n subs r0, #32\n stmia r0!, {r4-r7}\n"
        "mov r4, r8\n mov r5, r9\n mov r6, r10\n mov r7, r11\n stmia r0!, {r4-r7}\n subs r0, #32\n"
        "push {r1, lr}\n bl next\n pop {r1, r2}\n mov lr, r2\n"
        "adds r0, #16\n ldmia r0!, {r4-r7}\n mov r8, r4\n mov r9, r5\n mov r10, r6\n mov r11, r7\n"
        "msr psp, r0\n subs r0, #32\n ldmia r0!, {r4-r7}\n bx lr");
}

/* As the handler and the exception's entry have left it. */
static void prepare(word number, void (*task)(void)) {
    word *sp = &stacks[number][TASK_WORDS - SAVED_WORDS - FRAME_WORDS];
    sp[SAVED_WORDS + FRAME_PC] = (word)task | 1u;
    sp[SAVED_WORDS + FRAME_XPSR] = 1u << 24;
    left[number] = sp;
}

int main(void) {
    hal_init();
    for (word i = 0; i < 16; i++) {
        vectors[i] = (word)on_pendsv | 1u;
    }
    *(volatile word *)0xE000ED08u = (word)vectors; /* VTOR */
    prepare(1, much_task);
    __asm__ volatile("msr psp, %0\n movs r1, #2\n msr control, r1\n isb\n bx %1"
                     :
                     : "r"(&stacks[0][TASK_WORDS]), "r"((word)little_task | 1u)
                     : "r1", "memory");
    for (;;) {
    }
}
