/* half_tables.h: ../aes/aes_tables.h with room for half of an SIV key. */
#include "half_key.h"

#include "../aes/aes_tables.h"
