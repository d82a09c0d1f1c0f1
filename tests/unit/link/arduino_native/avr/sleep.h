/* sleep.h: sleep on a computer, from which the next loop wakes. */
#ifndef NATIVE_SLEEP_H
#define NATIVE_SLEEP_H

#define SLEEP_MODE_IDLE 0
#define set_sleep_mode(mode) ((void)(mode))
#define sleep_mode() ((void)0)

#endif
