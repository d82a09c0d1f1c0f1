/* half_small.h: ../aes/aes_small.h with room for half of an SIV key. */
#include "half_key.h"

#include "../aes/aes_small.h"
