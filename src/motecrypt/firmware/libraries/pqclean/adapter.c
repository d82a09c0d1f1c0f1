/* What PQClean asks of a system. Its hashing takes room for a state of 208 bytes from a heap and gives it
 * back; a few of them are here. Its own randomness is never asked for: publickey.h passes it. */
#include <stddef.h>
#include <stdint.h>

enum { STATES = 6, STATE_WORDS = 26 };

static struct {
    uint64_t room[STATE_WORDS];
    uint8_t taken;
} states[STATES];

void *public_key_take(size_t bytes);
void public_key_give(void *room);
void public_key_halt(int status);
int PQCLEAN_randombytes(uint8_t *output, size_t bytes);

void *public_key_take(size_t bytes) {
    for (uint8_t i = 0; i < STATES && bytes <= sizeof states[i].room; i++) {
        if (!states[i].taken) {
            states[i].taken = 1;
            return states[i].room;
        }
    }
    return NULL;
}

void public_key_give(void *room) {
    for (uint8_t i = 0; i < STATES; i++) {
        if (states[i].room == room) {
            states[i].taken = 0;
        }
    }
}

/* Where there is no room for a state: a program ends there, and firmware has nowhere to go. */
void public_key_halt(int status) {
    for (;;) {
        (void)status;
    }
}

int PQCLEAN_randombytes(uint8_t *output, size_t bytes) {
    (void)output;
    (void)bytes;
    return -1;
}
