/* own_inputs.h: plays inputs from a seed (RUNS SEED) where no libFuzzer makes them. Before it, a harness says how many
 * bytes an input has by its number: OWN_SIZE(number), at most OWN_SIZE_MAX. */
#ifdef OWN_INPUTS
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int count, char **arguments) {
    uint64_t runs = count > 1 ? strtoull(arguments[1], 0, 10) : 1000;
    uint64_t seed = count > 2 ? strtoull(arguments[2], 0, 10) : 0;

    for (uint64_t run = 0; run < runs; run++) {
        uint8_t data[OWN_SIZE_MAX + sizeof(uint64_t)];
        uint64_t state = (seed + run) * 0x9e3779b97f4a7c15u + 1, word;
        size_t size = (size_t)(OWN_SIZE(seed + run));

        for (size_t i = 0; i < size; i += sizeof word) { /* xorshift64* */
            state ^= state >> 12;
            state ^= state << 25;
            state ^= state >> 27;
            word = state * 0x2545f4914f6cdd1du;
            memcpy(data + i, &word, sizeof word);
        }
        LLVMFuzzerTestOneInput(data, size);
    }
    printf("%llu runs\n", (unsigned long long)runs);
    return 0;
}
#endif
