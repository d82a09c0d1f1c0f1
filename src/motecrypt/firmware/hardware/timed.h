/* timed.h: what a program of one's own uses that `motecrypt reproduce hardware --library FOLDER` runs on a simulated
 * chip. It defines `timed`, which marks the regions that FOLDER/hardware.toml names, in that order:
 *
 *   void timed(void) {
 *       prepare();
 *       timed_begin();
 *       encrypt(block);
 *       timed_end();
 *       timed_output(block, sizeof block);
 *   }
 */
#ifndef MOTECRYPT_TIMED_H
#define MOTECRYPT_TIMED_H

#include "hal.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The user's program: called once. */
void timed(void);

/* Send bytes for the check against 'expected', outside of any region. All outputs together are checked as one. */
void timed_output(const void *bytes, uint16_t count);

/* The compiler moves no access to memory over a mark. */
static inline void timed_begin(void) {
    __asm__ volatile("" ::: "memory");
    hal_mark(1);
    __asm__ volatile("" ::: "memory");
}

static inline void timed_end(void) {
    __asm__ volatile("" ::: "memory");
    hal_mark(0);
    __asm__ volatile("" ::: "memory");
}

#ifdef __cplusplus
}
#endif

#endif
