/* SPDX-License-Identifier: MIT
 * elf.h: reads the loadable segments of a 32-bit little-endian ELF executable. It checks every
 * offset against the file's length: a damaged file gives a message, never a crash.
 * Source: Tool Interface Standard, ELF 1.2, parts 1 and 2.
 */
#ifndef MOTECRYPT_ELF_H
#define MOTECRYPT_ELF_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ELF_MACHINE_ARM 40u
#define ELF_MACHINE_AVR 83u
#define ELF_MACHINE_RISCV 243u
#define ELF_BYTES_MAX (256L << 20) /* with debug information */

struct elf_file {
    uint8_t *bytes;
    size_t length;
    uint32_t entry;
};

/* A loadable segment: `bytes` of `data` are at `load_address` (physical) when the processor starts, and
 * belong at `run_address` (virtual), where they take `run_bytes`. */
struct elf_segment {
    uint32_t load_address, run_address;
    uint32_t bytes, run_bytes;
    int executable;
    const uint8_t *data;
};

/* Takes a segment. Returns NULL, or what is wrong. */
typedef const char *(*elf_store)(void *context, const struct elf_segment *segment);

static inline uint32_t elf_word(const struct elf_file *file, size_t offset, unsigned bytes) {
    uint32_t value = 0;
    for (unsigned i = 0; i < bytes; i++) {
        value |= (uint32_t)file->bytes[offset + i] << (8 * i);
    }
    return value;
}

static inline const char *elf_read(struct elf_file *file, FILE *stream) {
    long length;
    if (fseek(stream, 0, SEEK_END) != 0 || (length = ftell(stream)) < 52 || fseek(stream, 0, SEEK_SET) != 0) {
        return "is too short for an ELF file";
    }
    if (length > ELF_BYTES_MAX) {
        return "is too long for a firmware's ELF file";
    }
    file->length = (size_t)length;
    file->bytes = malloc(file->length);
    return file->bytes == NULL || fread(file->bytes, 1, file->length, stream) != file->length ? "cannot be read"
                                                                                              : NULL;
}

/* Reads the file and checks its header. Returns NULL, or what is wrong. */
static inline const char *elf_open(struct elf_file *file, const char *path, uint32_t machine) {
    FILE *stream = fopen(path, "rb");
    const char *problem;
    memset(file, 0, sizeof *file);
    if (stream == NULL) {
        return "cannot be opened";
    }
    problem = elf_read(file, stream);
    fclose(stream);
    if (problem != NULL) {
        return problem;
    }
    if (memcmp(file->bytes, "\177ELF\1\1", 6) != 0) {
        return "is not a 32-bit little-endian ELF file";
    }
    if (elf_word(file, 16, 2) != 2 || elf_word(file, 18, 2) != machine) {
        return "is not an executable for this processor";
    }
    file->entry = elf_word(file, 24, 4);
    return NULL;
}

/* Hands every loadable segment that has bytes to `store`. */
static inline const char *elf_load(const struct elf_file *file, elf_store store, void *context) {
    uint32_t table = elf_word(file, 28, 4);
    uint32_t entry_bytes = elf_word(file, 42, 2);
    uint32_t count = elf_word(file, 44, 2);
    unsigned loaded = 0;
    if (entry_bytes < 32) {
        return "has no program headers";
    }
    for (uint32_t i = 0; i < count; i++) {
        size_t header = table + (size_t)i * entry_bytes;
        struct elf_segment segment;
        const char *problem;
        uint32_t offset;
        if (header + 32 > file->length) {
            return "ends inside its program headers";
        }
        offset = elf_word(file, header + 4, 4);
        segment.run_address = elf_word(file, header + 8, 4);
        segment.load_address = elf_word(file, header + 12, 4);
        segment.bytes = elf_word(file, header + 16, 4);
        segment.run_bytes = elf_word(file, header + 20, 4);
        segment.executable = (elf_word(file, header + 24, 4) & 1u) != 0;
        if (elf_word(file, header, 4) != 1 || segment.bytes == 0) {
            continue;
        }
        if ((size_t)offset + segment.bytes > file->length) {
            return "ends inside a segment";
        }
        segment.data = file->bytes + offset;
        problem = store(context, &segment);
        if (problem != NULL) {
            return problem;
        }
        loaded++;
    }
    return loaded == 0 ? "has nothing to load" : NULL;
}

#endif
