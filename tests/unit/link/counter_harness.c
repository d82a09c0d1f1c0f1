/* counter_harness.c: firmware/motes/link/counter.c on the host, with power that goes at any write. */
#include "counter.h"
#include "mote.h"

#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint8_t memory[1024];
static jmp_buf power;
static int writes_left;

uint8_t mote_load(uint16_t at) {
    return memory[at];
}

void mote_store(uint16_t at, uint8_t byte) {
    if (memory[at] == byte) {
        return; /* as eeprom_update_byte does */
    }
    if (writes_left-- <= 0) {
        memory[at] = (uint8_t)rand(); /* cut short: the cell holds anything */
        longjmp(power, 1);
    }
    memory[at] = byte;
}

int main(void) {
    srand(1);
    for (int trial = 0; trial < 2000; trial++) {
        int64_t last = -1;
        memset(memory, 0xff, sizeof memory);
        for (volatile int boot = 0; boot < 40; boot++) {
            struct counter counter;
            uint32_t number;
            int takes = rand() % 200;
            writes_left = rand() % 12;
            if (setjmp(power) != 0) {
                continue;
            }
            if (counter_init(&counter) != COUNTER_OK) {
                if (last >= 0) {
                    printf("trial %d: lost after %lld\n", trial, (long long)last);
                    return 1;
                }
                break; /* the very first write was cut: refusing is right */
            }
            while (takes-- > 0 && counter_take(&counter, &number) == COUNTER_OK) {
                if ((int64_t)number <= last) {
                    printf("trial %d: %lu after %lld\n", trial, (unsigned long)number, (long long)last);
                    return 1;
                }
                last = number;
            }
        }
    }
    return 0;
}
