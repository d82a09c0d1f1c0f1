/* startup.S for the RP2350: 14 exceptions and 52 interrupts, then the block by which the boot ROM recognises an image of
 * Arm code for the secure state (datasheet, 5.9.5.1): it takes the stack pointer and the entry from the vectors before
 * it. The block must be in the first 4 KB of the flash. */
#define FURTHER_VECTORS 66
#include "startup_arm.S"

    .section .vectors, "a"
    .word 0xFFFFDED3 /* a block begins */
    .word 0x10210142 /* image type: executable, secure, Arm, RP2350 */
    .word 0x000001FF /* the last item; one word before it */
    .word 0x00000000 /* the only block */
    .word 0xAB123579 /* a block ends */
