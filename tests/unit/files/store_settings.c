/* store_settings.c: store.c over a littlefs that only prints its arguments. */
#include "store.c"

#include <stdio.h>

static int format_answer, start_answer;

int lfs_format(lfs_t *lfs, const struct lfs_config *c) {
    puts(lfs == &store_lfs && c == &config ? "format" : "format of something else");
    return format_answer;
}

int lfs_mount(lfs_t *lfs, const struct lfs_config *c) {
    puts(lfs == &store_lfs && c == &config ? "mount" : "mount of something else");
    return 77;
}

#define NEVER(type, name, ...)                                                                               \
    type name(__VA_ARGS__) {                                                                                 \
        puts(#name);                                                                                         \
        return 0;                                                                                            \
    }
NEVER(int, lfs_stat, lfs_t *l, const char *path, struct lfs_info *info)
NEVER(int, lfs_remove, lfs_t *l, const char *path)
NEVER(int, lfs_file_opencfg, lfs_t *l, lfs_file_t *f, const char *p, int flags,
      const struct lfs_file_config *c)
NEVER(int, lfs_file_close, lfs_t *l, lfs_file_t *f)
NEVER(lfs_soff_t, lfs_file_size, lfs_t *l, lfs_file_t *f)
NEVER(lfs_ssize_t, lfs_file_read, lfs_t *l, lfs_file_t *f, void *to, lfs_size_t count)
NEVER(lfs_ssize_t, lfs_file_write, lfs_t *l, lfs_file_t *f, const void *from, lfs_size_t count)

static int start(void) {
    return start_answer;
}

static int told(const char *what, uint32_t at, uint32_t count) {
    printf("%s %u %u\n", what, at, count);
    return 5;
}

static int reads(uint32_t at, uint8_t *data, uint32_t count) {
    (void)data;
    return told("read", at, count);
}

static int programs(uint32_t at, const uint8_t *data, uint32_t count) {
    (void)data;
    return told("program", at, count);
}

static int erases(uint32_t at) {
    return told("erase", at, 0);
}

int main(void) {
    static const struct storage storage = {64, STORAGE_PROGRAM_MAX, 4096, 80, start, reads, programs, erases};
    struct store_file file;
    for (start_answer = 0; start_answer < 2; start_answer++) {
        for (format_answer = 0; format_answer < 3; format_answer += 2) {
            for (int format = 0; format < 2; format++) {
                memset(&config, 0xA5, sizeof config);
                printf("%d\n", store_mount(&storage, format));
            }
        }
    }
    printf("%u %u %u %u %d %u %u\n", config.read_size, config.prog_size, config.block_size,
           config.block_count, (int)config.block_cycles, config.cache_size, config.lookahead_size);
    printf("%zu %zu %zu\n", sizeof read_cache, sizeof program_cache, sizeof lookahead);
    printf("%zu %zu\n", sizeof file.buffer, sizeof file.cache);
    printf("%d %d %d\n", config.read_buffer == read_cache, config.prog_buffer == program_cache,
           config.lookahead_buffer == lookahead);
    printf("%u %u %u %p\n", config.name_max, config.file_max, config.attr_max, config.context);
    printf("%d\n", config.read(&config, 3, 17, 0, 9));
    printf("%d\n", config.prog(&config, 4, 256, 0, 8));
    printf("%d\n", config.erase(&config, 5));
    printf("%d\n", config.sync(&config));
    return 0;
}
