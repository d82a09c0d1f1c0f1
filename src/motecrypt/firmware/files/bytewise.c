/* bytewise.c: memset and memcpy a byte at a time, as in newlib built for size. The published
 * program was linked with newlib-nano of the GNU Arm toolchain, which is built with -Os (PlatformIO's builder
 * for Arduino-mbed: --specs=nano.specs); Debian's newlib-nano has the versions that move words. Linking this
 * file makes the difference, which is not small: Mbed TLS wipes its schedule after every block of SHA-512.
 */
#include <stddef.h>
#include <stdint.h>

void *memset(void *target, int value, size_t count);
void *memset(void *target, int value, size_t count) {
    uint8_t *to = target;
    while (count--) {
        *to++ = (uint8_t)value;
    }
    return target;
}

void *memcpy(void *restrict target, const void *restrict source, size_t count);
void *memcpy(void *restrict target, const void *restrict source, size_t count) {
    uint8_t *to = target;
    const uint8_t *from = source;
    while (count--) {
        *to++ = *from++;
    }
    return target;
}
