/* room.h: room for the key; the library's object is one for all keys. */
#ifndef PUBLIC_ARDUINOLIBS_ROOM_H
#define PUBLIC_ARDUINOLIBS_ROOM_H

#include <stdint.h>

struct cipher_context {
    uint8_t unused;
};

#endif
