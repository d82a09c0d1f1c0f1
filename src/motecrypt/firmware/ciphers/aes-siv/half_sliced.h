/* half_sliced.h: ../aes/aes_sliced.h with room for half of an SIV key. */
#include "half_key.h"

#include "../aes/aes_sliced.h"
