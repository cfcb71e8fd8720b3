/*
 * Feeds damaged batches to the C ABI: hostile FILE ROUNDS [SEED].
 *
 * FILE has stored batches, little-endian: for each, int64 rows and decoded size, int32 columns, then, each as int32 length and bytes,
 * schema, header, statistics, checksums, and the segment of each column. Each round damages one batch and reads it in one of the three
 * ways: as a block is that came from a wire, with its checksums; as a block is that never left memory, without; or with checksums that
 * may be damaged and a head that is not checked. What is allowed is the answer of the undamaged batch, an error of the code for corrupt
 * bytes or for the memory limit, or, where not all is checked, other values; never another code, a buffer that cannot be read, or native
 * memory that is left. Built with AddressSanitizer, as the library is, so that a read or write beyond a buffer ends the process.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "quiver.h"

struct ArrowArray {
  int64_t length, null_count, offset, n_buffers, n_children;
  const void **buffers;
  struct ArrowArray **children;
  struct ArrowArray *dictionary;
  void (*release)(struct ArrowArray *);
  void *private_data;
};

typedef struct {
  uint8_t *data;
  int32_t length;
} bytes;

typedef struct {
  int64_t rows, decoded_size;
  int32_t columns;
  bytes schema, header, stats, checksums;
  bytes *segments;
  uint64_t answers[3];
} batch;

enum check { ALL, NOTHING, SEGMENTS, CHECKS };

enum outcome { SAME, OTHER, CORRUPT_NAMED, LIMIT, OUTCOMES };

#define MEMORY_LIMIT "memory.limit=134217728"

static uint64_t state;

static uint64_t next_random(void) { /* splitmix64 */
  uint64_t z = state += 0x9E3779B97F4A7C15u;
  z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
  z = (z ^ z >> 27) * 0x94D049BB133111EBu;
  return z ^ z >> 31;
}

static int64_t below(int64_t n) { return (int64_t)(next_random() % (uint64_t)n); }

static void give_up(const char *what, const quiver_error *e) {
  fprintf(stderr, "hostile: %s: %s\n", what, e == NULL ? "" : e->message);
  exit(3);
}

static void *reserve(size_t n) {
  void *p = malloc(n > 0 ? n : 1);
  if (p == NULL) give_up("malloc", NULL);
  return p;
}

/* A copy of its own allocation, so that reading beyond it is noticed. */
static bytes copy(bytes b) {
  bytes c = {reserve((size_t)b.length), b.length};
  memcpy(c.data, b.data, (size_t)b.length);
  return c;
}

static void must_read(FILE *f, void *out, size_t n) {
  if (fread(out, 1, n, f) != n) give_up("the file is cut", NULL);
}

static bytes read_bytes(FILE *f) {
  bytes b;
  must_read(f, &b.length, 4);
  b.data = reserve((size_t)b.length);
  must_read(f, b.data, (size_t)b.length);
  return b;
}

static batch *read_batches(const char *name, int *count) {
  FILE *f = fopen(name, "rb");
  if (f == NULL) give_up(name, NULL);
  batch *all = NULL;
  int64_t rows;
  for (*count = 0; fread(&rows, 8, 1, f) == 1; (*count)++) {
    all = realloc(all, sizeof(batch) * (size_t)(*count + 1));
    if (all == NULL) give_up("realloc", NULL);
    batch *b = &all[*count];
    b->rows = rows;
    must_read(f, &b->decoded_size, 8);
    must_read(f, &b->columns, 4);
    b->schema = read_bytes(f);
    b->header = read_bytes(f);
    b->stats = read_bytes(f);
    b->checksums = read_bytes(f);
    b->segments = reserve(sizeof(bytes) * (size_t)b->columns);
    for (int32_t i = 0; i < b->columns; i++) b->segments[i] = read_bytes(f);
  }
  fclose(f);
  return all;
}

/* FNV-1a over what was read: every byte is touched. */
static uint64_t hash(uint64_t h, const void *data, int64_t n) {
  for (int64_t i = 0; i < n; i++) h = (h ^ ((const uint8_t *)data)[i]) * 0x100000001B3u;
  return h;
}

static int32_t read_vectors(int64_t decoder, const batch *b, uint64_t *h, quiver_error *e) {
  quiver_vectors v;
  int32_t code = quiver_decode_vectors(decoder, &v, e);
  if (code != QUIVER_OK) return code;
  for (int64_t k = 0; k < v.num_nodes; k++) {
    const int64_t *node = v.layout + 4 + 8 * k;
    *h = hash(*h, node, 16);
    for (int i = 0; i < 3; i++) {
      const quiver_buffer *q = &v.buffers[3 * k + i];
      int64_t offset = node[2 + 2 * i], length = node[3 + 2 * i];
      if (q->source == 0) continue;
      const uint8_t *data = q->data;
      int64_t room = q->length;
      if (q->source == 2) {
        if (q->segment < 0 || q->segment >= b->columns) give_up("a buffer names a segment that is not there", NULL);
        data = b->segments[q->segment].data;
        room = b->segments[q->segment].length;
      }
      if (offset < 0 || length < 0 || offset + length > room) give_up("a buffer reaches beyond its array", NULL);
      *h = hash(*h, data + offset, length);
    }
  }
  return code;
}

static int32_t read_rows(int64_t decoder, uint64_t *h, quiver_error *e) {
  quiver_vectors v;
  int32_t code = quiver_decode_rows(decoder, &v, e);
  if (code != QUIVER_OK) return code;
  for (;;) {
    quiver_bytes block;
    int32_t *ends;
    int64_t n;
    code = quiver_next_rows(decoder, 1 << 16, 256, &block, &ends, &n, e);
    if (code != QUIVER_OK || n == 0) return code;
    *h = hash(*h, ends, 4 * n);
    *h = hash(*h, block.data, block.length);
  }
}

static int32_t read_arrow(int64_t decoder, uint64_t *h, quiver_error *e) {
  struct ArrowArray array = {0};
  int32_t code = quiver_decode_columns(decoder, &array, NULL, e);
  if (code != QUIVER_OK) return code;
  *h = hash(*h, &array.length, 8);
  for (int64_t i = 0; i < array.n_children; i++) {
    const struct ArrowArray *child = array.children[i];
    *h = hash(*h, &child->length, 16);
    if (child->n_buffers > 0 && child->buffers[0] != NULL) *h = hash(*h, child->buffers[0], (child->length + 7) / 8);
  }
  array.release(&array);
  return code;
}

/* Copies in what the plan wants, and counts what is there. */
static void fill(const batch *b, quiver_need *need) {
  int64_t done = 0;
  need->present = 0;
  for (int32_t i = 0; i < need->num_segments; i++) {
    int32_t index = need->first_segment + i;
    if (index < 0 || index >= b->columns) give_up("a segment is wanted that is not there", NULL);
    const bytes *s = &b->segments[index];
    int64_t part = need->wanted - done < s->length ? need->wanted - done : s->length;
    if (part > 0) memcpy(need->data + done, s->data, (size_t)part);
    done += part > 0 ? part : 0;
    need->present += s->length;
  }
}

static int32_t decode(int64_t decoder, const batch *b, enum check check, int read, uint64_t *h, quiver_error *e) {
  if (check == ALL) {
    int32_t code = quiver_check_head(b->rows, b->columns, b->decoded_size, b->header.data, b->header.length, b->stats.data, b->stats.length,
                                     b->columns, b->checksums.data, b->checksums.length, e);
    if (code != QUIVER_OK) return code;
  }
  quiver_need *needs;
  int64_t n;
  bytes sums = check == NOTHING ? (bytes){NULL, 0} : b->checksums;
  int32_t code = quiver_decode_plan(decoder, read, b->header.data, b->header.length, b->columns, sums.data, sums.length, &needs, &n, e);
  if (code != QUIVER_OK) return code;
  for (int64_t k = 0; k < n; k++) fill(b, &needs[k]);
  if (read == QUIVER_READ_VECTORS) return read_vectors(decoder, b, h, e);
  return read == QUIVER_READ_ROWS ? read_rows(decoder, h, e) : read_arrow(decoder, h, e);
}

/* Reads all columns with a decoder of their own, and hashes the answer. */
static int32_t read_batch(const batch *b, enum check check, int read, uint64_t *h, quiver_error *e) {
  int32_t *projection = reserve(4 * (size_t)b->columns);
  for (int32_t i = 0; i < b->columns; i++) projection[i] = i;
  *h = 0xCBF29CE484222325u;
  e->code = QUIVER_OK;
  int64_t decoder = quiver_decoder_new(b->schema.data, b->schema.length, projection, b->columns, NULL, 0, e);
  free(projection);
  if (decoder == 0) return e->code;
  int32_t code = decode(decoder, b, check, read, h, e);
  quiver_close(decoder);
  if (quiver_native_bytes() != 0) give_up("native memory is left", NULL);
  return code;
}

/* Flips 1 to 8 bits, or overwrites a word with an extreme number, or cuts. */
static void damage(bytes *b) {
  static const uint64_t extremes[] = {0, 1, 0x7F, 0xFF, 0x7FFFFFFF, 0x80000000u, 0xFFFFFFFFu, INT64_MAX, 0x8000000000000000u, UINT64_MAX};
  if (b->length == 0) return;
  switch (below(8)) {
    case 0:
      b->length = (int32_t)below(b->length);
      break;
    case 1: {
      uint64_t word = extremes[below(10)];
      int64_t at = below(b->length) & ~3;
      int64_t room = b->length - at;
      memcpy(b->data + at, &word, (size_t)(room < 8 ? room : 8));
      break;
    }
    default:
      for (int64_t i = 1 + below(below(2) ? 8 : 1); i > 0; i--) b->data[below(b->length)] ^= (uint8_t)(1 << below(8));
  }
}

/* The part that a round damages: a segment or the header mostly. */
static bytes *part_of(batch *b) {
  switch (below(10)) {
    case 0:
      return &b->stats;
    case 1:
      return &b->checksums;
    case 2:
    case 3:
    case 4:
    case 5:
      return &b->header;
    default:
      return &b->segments[below(b->columns)];
  }
}

static enum outcome round_of(const batch *good) {
  batch bad = *good;
  bad.header = copy(good->header);
  bad.stats = copy(good->stats);
  bad.checksums = copy(good->checksums);
  bad.segments = reserve(sizeof(bytes) * (size_t)good->columns);
  for (int32_t i = 0; i < good->columns; i++) bad.segments[i] = copy(good->segments[i]);
  bytes *target = part_of(&bad);
  bytes whole = *target;
  damage(target);
  *target = copy(*target); /* as long as it says it is, and not a byte more */
  free(whole.data);

  int read = (int)below(3);
  enum check check = (enum check)below(CHECKS);
  uint64_t h;
  quiver_error e;
  int32_t code = read_batch(&bad, check, read, &h, &e);
  free(bad.header.data);
  free(bad.stats.data);
  free(bad.checksums.data);
  for (int32_t i = 0; i < bad.columns; i++) free(bad.segments[i].data);
  free(bad.segments);
  if (code == QUIVER_OK && h == good->answers[read]) return SAME;
  if (code == QUIVER_OK && check == ALL) give_up("a wrong answer, checksums and all", NULL);
  if (code == QUIVER_OK) return OTHER;
  if (e.message[0] == 0) give_up("an error without a message", &e);
  if (code == QUIVER_MEMORY) return LIMIT;
  if (code != QUIVER_CORRUPT) give_up("another error than corrupt bytes and the memory limit", &e);
  return CORRUPT_NAMED;
}

int main(int argc, char **argv) {
  if (argc < 3) {
    fprintf(stderr, "usage: hostile FILE ROUNDS [SEED]\n");
    return 2;
  }
  int count;
  batch *all = read_batches(argv[1], &count);
  long rounds = atol(argv[2]);
  state = argc > 3 ? strtoull(argv[3], NULL, 10) : 20261202;
  quiver_error e;
  char limit[] = MEMORY_LIMIT;
  if (quiver_configure(limit, (int64_t)strlen(limit), &e) != QUIVER_OK) give_up("configure", &e);
  for (int i = 0; i < count; i++) {
    for (int read = 0; read < 3; read++) {
      if (read_batch(&all[i], ALL, read, &all[i].answers[read], &e) != QUIVER_OK) give_up("an undamaged batch", &e);
    }
  }
  long outcomes[OUTCOMES] = {0};
  for (long i = 0; i < rounds; i++) outcomes[round_of(&all[below(count)])]++;
  printf("figures batches=%d inputs=%ld named=%ld limit=%ld same=%ld other_values=%ld native_left=0\n", count, rounds,
         outcomes[CORRUPT_NAMED], outcomes[LIMIT], outcomes[SAME], outcomes[OTHER]);
  return 0;
}
