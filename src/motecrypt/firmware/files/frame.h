/* frame.h: the frames of docs/formats.md, for firmware that answers requests. It uses the UART through hal.h.
 * */
#ifndef MOTECRYPT_FRAME_H
#define MOTECRYPT_FRAME_H

#include <stdint.h>

enum { FRAME_PAYLOAD_MAX = 4352 };

/* Waits for a frame; returns 0, or a failure to answer with frame_error. A byte may be set behind the payload. */
uint8_t frame_receive(uint8_t *sequence, uint8_t *type, uint8_t *payload, uint32_t *count);

void frame_start(uint8_t sequence, uint8_t type);
void frame_number(uint32_t value, uint8_t bytes);
void frame_bytes(const uint8_t *data, uint32_t count);
void frame_end(void);
void frame_error(uint8_t sequence, uint8_t failure);

#endif
