/*
 * Feeds damaged batches to the C ABI: hostile FILE ROUNDS [SEED].
 *
 * FILE has stored batches, little-endian: for each, int64 rows and decoded size, int32 columns, then, each as int32 length and bytes,
 * schema, header, statistics, checksums, and the segment of each column; then the int32 number of filters and for each, in the same way,
 * its text and a byte a row, 1 where the row meets it. Each round damages one batch and reads it in one of the three ways: as a block is
 * that came from a wire, with its checksums; as a block is that never left memory, without; or with checksums that may be damaged and a
 * head that is not checked. It is read without a filter, with one of its own, or with one that is damaged or made up. What is allowed is
 * the answer of the undamaged batch, an error of the code for corrupt bytes or for the memory limit, for a damaged filter one of the code
 * for wrong arguments, or, where not all is checked, other values; never another code, a buffer that cannot be read, or native memory that
 * is left. Built with AddressSanitizer, as the library is, so that a read or write beyond a buffer ends the process.
 *
 * Every fifth round damages rows instead, and stores them: see rows.c.
 *
 * Undamaged batches are held against what FILE says of their filters: just the rows that meet it, where these are a quarter or fewer, else
 * all. A made-up filter that is taken may leave out rows, but not change or move them.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hostile.h"

struct ArrowArray {
  int64_t length, null_count, offset, n_buffers, n_children;
  const void **buffers;
  struct ArrowArray **children;
  struct ArrowArray *dictionary;
  void (*release)(struct ArrowArray *);
  void *private_data;
};

#define MEMORY_LIMIT "memory.limit=134217728"

static uint64_t state;
static long damaged_batches;

uint64_t next_random(void) { /* splitmix64 */
  uint64_t z = state += 0x9E3779B97F4A7C15u;
  z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
  z = (z ^ z >> 27) * 0x94D049BB133111EBu;
  return z ^ z >> 31;
}

int64_t below(int64_t n) { return (int64_t)(next_random() % (uint64_t)n); }

void give_up(const char *what, const quiver_error *e) {
  fprintf(stderr, "hostile: %s: %s\n", what, e == NULL ? "" : e->message);
  exit(3);
}

void *reserve(size_t n) {
  void *p = malloc(n > 0 ? n : 1);
  if (p == NULL) give_up("malloc", NULL);
  return p;
}

void stale(void *out, size_t size) {
  /* pages of the first megabytes of Go's heap, as it is with AddressSanitizer: some have been given back since */
  for (size_t i = 0; i + 8 <= size; i += 8) {
    uint64_t address = 0x10c000000000u + 8192 * (uint64_t)below(512);
    memcpy((char *)out + i, &address, 8);
  }
}

/* A copy of its own allocation, so that reading beyond it is noticed. */
bytes copy(bytes b) {
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

/* The filters of a batch, after one that is none. */
static void read_filters(FILE *f, batch *b) {
  must_read(f, &b->num_filters, 4);
  b->filters = reserve(sizeof(filter) * (size_t)(++b->num_filters));
  b->filters[0].text = (bytes){NULL, 0};
  b->filters[0].meets = (bytes){reserve((size_t)b->rows), (int32_t)b->rows};
  memset(b->filters[0].meets.data, 1, (size_t)b->rows);
  for (int32_t i = 1; i < b->num_filters; i++) {
    b->filters[i].text = read_bytes(f);
    b->filters[i].meets = read_bytes(f);
    if (b->filters[i].meets.length != b->rows) give_up("a filter does not say a byte a row", NULL);
  }
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
    read_filters(f, b);
  }
  fclose(f);
  return all;
}

/* FNV-1a over what was read: every byte is touched. */
static uint64_t hash(uint64_t h, const void *data, int64_t n) {
  for (int64_t i = 0; i < n; i++) h = (h ^ ((const uint8_t *)data)[i]) * 0x100000001B3u;
  return h;
}

static int32_t read_vectors(int64_t decoder, const batch *b, answer *a, quiver_error *e) {
  quiver_vectors v;
  STALE(v);
  int32_t code = quiver_decode_vectors(decoder, &v, e);
  if (code != QUIVER_OK) return code;
  a->kept = v.kept;
  for (int64_t k = 0; k < v.num_nodes; k++) {
    const int64_t *node = v.layout + 4 + 8 * k;
    a->hash = hash(a->hash, node, 16);
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
      a->hash = hash(a->hash, data + offset, length);
    }
  }
  return code;
}

static void append(bytes *b, const void *data, int64_t length) {
  b->data = realloc(b->data, (size_t)(b->length + length + 1));
  if (b->data == NULL) give_up("realloc", NULL);
  memcpy(b->data + b->length, data, (size_t)length);
  b->length += (int32_t)length;
}

static void add_row(answer *a, const uint8_t *row, int64_t length) {
  if (a->rows == a->room) {
    a->room = 2 * a->room + 256;
    a->each = realloc(a->each, sizeof(uint64_t) * (size_t)a->room);
    if (a->each == NULL) give_up("realloc", NULL);
  }
  a->each[a->rows] = hash(0xCBF29CE484222325u, row, length);
  if (a->bytes != NULL) {
    append(a->bytes, row, length);
    int64_t end = a->bytes->length;
    append(a->ends, &end, 8);
  }
  a->hash = hash(a->hash, &a->each[a->rows++], 8);
}

static int32_t read_rows(int64_t decoder, answer *a, quiver_error *e) {
  quiver_vectors v;
  STALE(v);
  int32_t code = quiver_decode_rows(decoder, &v, e);
  if (code != QUIVER_OK) return code;
  a->kept = v.kept;
  for (;;) {
    quiver_bytes block;
    int32_t *ends;
    int64_t n;
    STALE(block);
    STALE(ends);
    code = quiver_next_rows(decoder, 1 << 16, 256, &block, &ends, &n, e);
    if (code != QUIVER_OK || n == 0) return code;
    for (int64_t i = 0, start = 0; i < n; start = ends[i++]) {
      if (ends[i] < start || ends[i] > block.length) give_up("a row ends before it begins, or beyond its block", NULL);
      add_row(a, block.data + start, ends[i] - start);
    }
  }
}

static int32_t read_arrow(int64_t decoder, answer *a, quiver_error *e) {
  struct ArrowArray array;
  STALE(array);
  int32_t code = quiver_decode_columns(decoder, &array, NULL, e);
  if (code != QUIVER_OK) return code;
  a->hash = hash(a->hash, &array.length, 8);
  for (int64_t i = 0; i < array.n_children; i++) {
    const struct ArrowArray *child = array.children[i];
    a->hash = hash(a->hash, &child->length, 16);
    if (child->n_buffers > 0 && child->buffers[0] != NULL) a->hash = hash(a->hash, child->buffers[0], (child->length + 7) / 8);
  }
  array.release(&array);
  return code;
}

/* Copies in what the plan wants, and counts what is there. */
static void fill(const batch *b, quiver_need *need) {
  int64_t done = 0, skip = need->skip;
  need->present = 0;
  for (int32_t i = 0; i < need->num_segments; i++) {
    int32_t index = need->first_segment + i;
    if (index < 0 || index >= b->columns) give_up("a segment is wanted that is not there", NULL);
    const bytes *s = &b->segments[index];
    int64_t from = skip < s->length ? skip : s->length;
    int64_t part = need->wanted - done < s->length - from ? need->wanted - done : s->length - from;
    if (part > 0) memcpy(need->data + done, s->data + from, (size_t)part);
    skip -= from;
    done += part > 0 ? part : 0;
    need->present += s->length;
  }
}

int32_t decode(int64_t decoder, const batch *b, enum check check, int read, answer *a, quiver_error *e) {
  a->hash = 0xCBF29CE484222325u;
  a->kept = b->rows; /* Arrow columns are not filtered */
  a->rows = 0;
  if (check == ALL) {
    int32_t code = quiver_check_head(b->rows, b->columns, b->decoded_size, b->header.data, b->header.length, b->stats.data, b->stats.length,
                                     b->columns, b->checksums.data, b->checksums.length, e);
    if (code != QUIVER_OK) return code;
  }
  quiver_need *needs;
  STALE(needs);
  int64_t n;
  bytes sums = check == NOTHING ? (bytes){NULL, 0} : b->checksums;
  int32_t code = quiver_decode_plan(decoder, read, b->header.data, b->header.length, b->columns, sums.data, sums.length, &needs, &n, e);
  if (code != QUIVER_OK) return code;
  for (int64_t k = 0; k < n; k++) fill(b, &needs[k]);
  if (read == QUIVER_READ_VECTORS) return read_vectors(decoder, b, a, e);
  return read == QUIVER_READ_ROWS ? read_rows(decoder, a, e) : read_arrow(decoder, a, e);
}

/* A decoder for all columns; 0 where the filter is refused. */
int64_t open_decoder(const batch *b, bytes text, quiver_error *e) {
  int32_t *projection = reserve(4 * (size_t)b->columns);
  for (int32_t i = 0; i < b->columns; i++) projection[i] = i;
  e->code = QUIVER_OK;
  int64_t decoder =
      quiver_decoder_new(b->schema.data, b->schema.length, projection, b->columns, NULL, 0, (char *)text.data, text.length, e);
  free(projection);
  if (decoder == 0 && quiver_native_bytes() != 0) give_up("native memory is left by a decoder that was not made", NULL);
  return decoder;
}

void close_handle(int64_t handle) {
  quiver_close(handle);
  if (quiver_native_bytes() != 0) give_up("native memory is left", NULL);
}

/* Reads an undamaged batch, which must work; the caller frees `each`. */
static answer read_good(int64_t decoder, const batch *b, int read) {
  answer a = {0};
  quiver_error e;
  if (decode(decoder, b, ALL, read, &a, &e) != QUIVER_OK) give_up("an undamaged batch", &e);
  return a;
}

/* Whether the rows are some of the batch's, in their order. */
static int are_some(const batch *b, const answer *a) {
  int64_t at = 0;
  for (int64_t i = 0; i < a->rows; i++, at++) {
    while (at < b->rows && b->each_row[at] != a->each[i]) at++;
    if (at == b->rows) return 0;
  }
  return 1;
}

/* Whether the answer is what the filter leaves by FILE. */
static int are_those(const batch *b, const filter *f, const answer *a, int read) {
  int64_t kept = 0, at = 0;
  for (int64_t i = 0; i < b->rows; i++) kept += f->meets.data[i];
  int all = 4 * kept > b->rows || read == QUIVER_READ_ARROW;
  if (a->kept != (all ? b->rows : kept)) return 0;
  if (read != QUIVER_READ_ROWS) return 1;
  for (int64_t i = 0; i < b->rows; i++) {
    if (!all && !f->meets.data[i]) continue;
    if (at == a->rows || a->each[at++] != b->each_row[i]) return 0;
  }
  return at == a->rows;
}

/* Learns and checks the answers of an undamaged batch with each of its filters. */
static void learn(batch *b) {
  for (int32_t k = 0; k < b->num_filters; k++) {
    filter *f = &b->filters[k];
    for (int read = 0; read < 3; read++) {
      quiver_error e;
      int64_t decoder = open_decoder(b, f->text, &e);
      if (decoder == 0) give_up("a right filter is refused", &e);
      answer a = read_good(decoder, b, read);
      f->answers[read] = a.hash;
      if (k == 0 && read == QUIVER_READ_ROWS) {
        if (a.rows != b->rows) give_up("rows are missing", NULL);
        b->each_row = a.each;
        a.each = NULL;
      } else if (k > 0 && !are_those(b, f, &a, read)) {
        fprintf(stderr, "%.*s", f->text.length, f->text.data);
        give_up("a filter leaves other rows than it should", NULL);
      }
      free(a.each);
      close_handle(decoder);
    }
  }
}

/* Flips 1 to 8 bits, or overwrites a word with an extreme number, or cuts. */
void damage(bytes *b) {
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

/* A filter that nobody checks before it comes to the library: another one's text, damaged, or words and numbers by chance. */
static bytes strange_filter(const batch *b) {
  static const char *words[] = {"range",
                                "equal",
                                "prefix",
                                "null",
                                "value",
                                "x",
                                "x00",
                                "xzz",
                                "-1",
                                "0",
                                "1000000",
                                "\n",
                                " ",
                                "\t",
                                "%s",
                                "",
                                "9223372036854775807",
                                "-9223372036854775808"};
  bytes made = {reserve(1 << 16), 0};
  if (below(2)) {
    const bytes *text = &b->filters[below(b->num_filters)].text;
    bytes damaged = copy(*text);
    damage(&damaged);
    memcpy(made.data, damaged.data, (size_t)(made.length = damaged.length));
    free(damaged.data);
  } else if (below(4) == 0) {
    made.length = (int32_t)below(4096);
    for (int32_t i = 0; i < made.length; i++) made.data[i] = (uint8_t)next_random();
  } else {
    /* a column and a condition that may fit, then operands: few, or thousands in rising order */
    char *end = (char *)made.data;
    end += sprintf(end, "%d %s", (int)below(b->columns + 1) - (below(9) == 0), words[below(5)]);
    int64_t at = -below(1 << 20);
    for (int64_t n = below(below(4) ? 4 : 3000); n > 0; n--) {
      if (below(40) == 0) {
        end += sprintf(end, " %s", words[below(18)]);
      } else {
        end += sprintf(end, " %lld %lld", (long long)at, (long long)(at + below(3)));
        at += 3 + below(1000);
      }
    }
    made.length = (int32_t)(end - (char *)made.data);
  }
  bytes exact = copy(made);
  free(made.data);
  return exact;
}

/* A copy whose parts are allocations of their own, one of them damaged if `harm`. */
static batch copy_batch(const batch *good, int harm) {
  batch bad = *good;
  bad.header = copy(good->header);
  bad.stats = copy(good->stats);
  bad.checksums = copy(good->checksums);
  bad.segments = reserve(sizeof(bytes) * (size_t)good->columns);
  for (int32_t i = 0; i < good->columns; i++) bad.segments[i] = copy(good->segments[i]);
  if (!harm) return bad;
  damaged_batches++;
  bytes *target = part_of(&bad);
  bytes whole = *target;
  damage(target);
  *target = copy(*target); /* as long as it says it is, and not a byte more */
  free(whole.data);
  return bad;
}

void free_parts(batch *b) {
  free(b->header.data);
  free(b->stats.data);
  free(b->checksums.data);
  for (int32_t i = 0; i < b->columns; i++) free(b->segments[i].data);
  free(b->segments);
}

/* What an undamaged batch gives with a filter of which nothing is known: some of its rows. */
static uint64_t answer_of(const batch *b, bytes text, int read) {
  quiver_error e;
  int64_t decoder = open_decoder(b, text, &e);
  if (decoder == 0) give_up("a filter that was taken is refused", &e);
  answer a = read_good(decoder, b, read);
  if (read == QUIVER_READ_ROWS && !are_some(b, &a)) give_up("a filter changes rows", NULL);
  if (a.kept < 0 || a.kept > b->rows || (read == QUIVER_READ_ROWS && a.kept != a.rows)) give_up("a wrong number of rows left", NULL);
  if (read == QUIVER_READ_ARROW && a.hash != b->filters[0].answers[read]) give_up("Arrow columns are filtered", NULL);
  free(a.each);
  close_handle(decoder);
  return a.hash;
}

/* Reads the damaged batch, and sometimes the undamaged one after it with the same decoder: with the filter, or without if it was no use. */
static enum outcome read_both(int64_t decoder, const batch *good, const batch *bad, int read, uint64_t right) {
  enum check check = (enum check)below(CHECKS);
  answer a = {0};
  quiver_error e;
  int32_t code = decode(decoder, bad, check, read, &a, &e);
  free(a.each);
  if (below(4) == 0) {
    answer after = read_good(decoder, good, read);
    free(after.each);
    if (after.hash != right && after.hash != good->filters[0].answers[read]) give_up("a wrong answer after a damaged batch", NULL);
  }
  if (code == QUIVER_OK && a.hash == right) return SAME;
  if (code == QUIVER_OK && check == ALL) give_up("a wrong answer, checksums and all", NULL);
  if (code == QUIVER_OK) return OTHER;
  if (e.message[0] == 0) give_up("an error without a message", &e);
  if (code == QUIVER_MEMORY) return LIMIT;
  if (code != QUIVER_CORRUPT) give_up("another error than corrupt bytes and the memory limit", &e);
  return CORRUPT_NAMED;
}

static enum outcome round_of(const batch *good) {
  int read = (int)below(3);
  const filter *own = &good->filters[below(3) ? below(good->num_filters) : 0];
  int strange = below(4) == 0;
  bytes text = strange ? strange_filter(good) : own->text;
  enum outcome outcome = REFUSED;
  quiver_error e;
  int64_t decoder = open_decoder(good, text, &e);
  if (decoder == 0) {
    if (!strange || e.code != QUIVER_INVALID || strncmp(e.message, "filter: ", 8) != 0) give_up("a filter is refused", &e);
  } else {
    batch bad = copy_batch(good, !strange || below(4));
    uint64_t right = own->answers[read];
    if (strange) {
      close_handle(decoder); /* so that what is left is seen */
      right = answer_of(good, text, read);
      decoder = open_decoder(good, text, &e);
    }
    outcome = read_both(decoder, good, &bad, read, right);
    close_handle(decoder);
    free_parts(&bad);
  }
  if (strange) free(text.data);
  return outcome;
}

int main(int argc, char **argv) {
  if (argc < 3) {
    fprintf(stderr, "usage: hostile FILE ROUNDS [SEED]\n");
    return 2;
  }
  int count, filters = 0;
  batch *all = read_batches(argv[1], &count);
  long rounds = atol(argv[2]);
  state = argc > 3 ? strtoull(argv[3], NULL, 10) : 20261202;
  quiver_error e;
  char limit[] = MEMORY_LIMIT;
  if (quiver_configure(limit, (int64_t)strlen(limit), &e) != QUIVER_OK) give_up("configure", &e);
  for (int i = 0; i < count; i++) {
    learn(&all[i]);
    learn_rows(&all[i]);
    filters += all[i].num_filters - 1;
  }
  long outcomes[OUTCOMES] = {0};
  for (long i = 0; i < rounds; i++) {
    const batch *good = &all[below(count)];
    outcomes[i % 5 == 4 ? rows_round(good) : round_of(good)]++;
  }
  printf(
      "figures batches=%d filters=%d inputs=%ld damaged_batches=%ld named=%ld limit=%ld same=%ld other_values=%ld refused=%ld stored=%ld "
      "native_left=0\n",
      count, filters, rounds, damaged_batches, outcomes[CORRUPT_NAMED], outcomes[LIMIT], outcomes[SAME], outcomes[OTHER], outcomes[REFUSED],
      outcomes[STORED]);
  return 0;
}
