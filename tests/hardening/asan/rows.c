/*
 * UnsafeRows with damaged bytes, or ends that are not where rows end, are handed to an encoder. Either it says what is wrong, or it stores
 * them: then what is stored is read without complaint as as many rows, and these, stored again, are read as the same.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hostile.h"

static const bytes NONE = {NULL, 0};

void learn_rows(batch *b) {
  quiver_error e;
  int64_t decoder = open_decoder(b, NONE, &e);
  answer a = {0};
  b->row_bytes = b->row_ends = NONE;
  a.bytes = &b->row_bytes;
  a.ends = &b->row_ends;
  if (decode(decoder, b, ALL, QUIVER_READ_ROWS, &a, &e) != QUIVER_OK) give_up("rows of an undamaged batch", &e);
  free(a.each);
  close_handle(decoder);
}

/* Stores rows and reads them back, by an encoder and a decoder of their own. */
static int32_t there_and_back(const batch *b, bytes rows, bytes ends, const char *options, answer *a, quiver_error *e) {
  int64_t encoder = quiver_encoder_new(b->schema.data, b->schema.length, (char *)options, (int64_t)strlen(options), e);
  if (encoder == 0) give_up("no encoder", e);
  quiver_batch out;
  STALE(out);
  int32_t code = quiver_encode_rows(encoder, rows.data, rows.length, (int64_t *)(void *)ends.data, ends.length / 8, &out, e);
  if (code == QUIVER_OK) {
    if (out.num_segments != b->columns || out.rows != ends.length / 8) give_up("rows are stored as something else", NULL);
    batch stored = *b;
    stored.rows = out.rows;
    stored.decoded_size = out.decoded_size;
    stored.header = copy((bytes){out.header.data, (int32_t)out.header.length});
    stored.stats = copy((bytes){out.stats.data, (int32_t)out.stats.length});
    stored.checksums = copy((bytes){out.checksums.data, (int32_t)out.checksums.length});
    stored.segments = reserve(sizeof(bytes) * (size_t)b->columns);
    for (int32_t i = 0; i < b->columns; i++) stored.segments[i] = copy((bytes){out.segments[i].data, (int32_t)out.segments[i].length});
    quiver_close(encoder);
    encoder = 0;
    int64_t decoder = open_decoder(&stored, NONE, e);
    code = decode(decoder, &stored, ALL, QUIVER_READ_ROWS, a, e);
    if (code != QUIVER_OK && code != QUIVER_MEMORY) give_up("what was stored cannot be read", e);
    if (code == QUIVER_OK && a->rows != stored.rows) give_up("not as many rows as were stored", NULL);
    close_handle(decoder);
    free_parts(&stored);
  }
  if (encoder != 0) close_handle(encoder);
  return code;
}

/* Ends that are not where rows end. */
static void move_ends(bytes *ends) {
  int64_t n = ends->length / 8;
  for (int64_t k = 1 + below(3); k > 0; k--) {
    static const int64_t extremes[] = {0, -1, 7, INT32_MAX, INT64_MAX, INT64_MIN, INT64_MAX - 7};
    int64_t *end = (int64_t *)(void *)ends->data + below(n);
    *end = below(2) ? extremes[below(7)] : *end + 8 * (below(9) - 4);
  }
  if (below(4) == 0) ends->length = (int32_t)(8 * below(n + 1));
}

enum outcome rows_round(const batch *good) {
  static const char *codecs[] = {"codec=pack", "codec=zstd", "codec=lz4", "codec=none"};
  const char *options = codecs[below(4)];
  bytes rows = copy(good->row_bytes), ends = copy(good->row_ends);
  if (below(4)) {
    for (int64_t k = 1 + below(3); k > 0; k--) damage(&rows);
  } else {
    move_ends(&ends);
  }
  bytes whole[2] = {rows, ends};
  rows = copy(rows); /* as long as they say they are, and not a byte more */
  ends = copy(ends);
  free(whole[0].data);
  free(whole[1].data);

  bytes again = NONE, again_ends = NONE;
  answer first = {0}, second = {0};
  first.bytes = &again;
  first.ends = &again_ends;
  quiver_error e;
  enum outcome outcome = STORED;
  int32_t code = there_and_back(good, rows, ends, options, &first, &e);
  if (code == QUIVER_OK && first.rows > 0) {
    if (there_and_back(good, again, again_ends, options, &second, &e) != QUIVER_OK) give_up("rows that were read cannot be stored", &e);
    if (first.hash != second.hash) give_up("rows change when they are stored again", NULL);
  } else if (code != QUIVER_OK) {
    if (e.message[0] == 0) give_up("an error without a message", &e);
    if (code != QUIVER_CORRUPT && code != QUIVER_INVALID && code != QUIVER_MEMORY) give_up("another error than wrong rows", &e);
    outcome = code == QUIVER_MEMORY ? LIMIT : CORRUPT_NAMED;
  }
  free(first.each);
  free(second.each);
  free(again.data);
  free(again_ends.data);
  free(rows.data);
  free(ends.data);
  return outcome;
}
