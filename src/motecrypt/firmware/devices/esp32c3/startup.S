/* startup.S for the ESP32-C3: the two words at the beginning of the flash make the boot ROM map the flash and jump
 * to what follows them ("direct boot", from revision 3 of the chip on). The ROM leaves a watchdog running for each
 * of three timers: hal_init stops them in time. Exceptions go to mtvec, which has 256 bytes of its own. */
    .section .header, "a"
    .word 0xAEDB041D
    .word 0xAEDB041D

#define AT_RESET
#define STOP_ALIGNMENT 256
#include "startup_riscv.S"
