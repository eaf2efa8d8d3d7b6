/*
 * One rank of sparse allreduces over OpenMPI for `gradwire bench collectives --peers`.
 *
 *   mpirun -np P mpi_sparse SOCKET
 *
 * The algorithms of SparCML (Renggli et al., SC 2019) and a sparse ring, as one would write
 * them in C: a stream is its indices, ascending, then its values, in one message; two streams are merged
 * by one loop; messages are MPI_Irecv and MPI_Send. The result stays sparse, in order.
 * As in mpi_allreduce.c the rank introduces itself on SOCKET and sleeps in read() between
 * orders. An order is "ALGORITHM LENGTH COUNT SET BATCH REPETITIONS", its answer 0 or the
 * number of wrong entries, then the milliseconds of each repetition.
 */
#include "mpi_peer.h"
#include <stdint.h>

static uint32_t length;

/* `data` holds `count` indices, then as many values. */
typedef struct {
  uint32_t *data;
  size_t count;
} Stream;

static float *values_of(Stream s) { return (float *)(s.data + s.count); }

static int bytes_of(Stream s) { return (int)(8 * s.count); }

/* Buffers that live as long as a cell: a slot grows when it must. */
enum { SLOTS = 40 };
static uint32_t *slots[SLOTS];
static size_t rooms[SLOTS];

static uint32_t *room(int slot, size_t entries) {
  if (rooms[slot] < entries) {
    free(slots[slot]);
    slots[slot] = malloc(8 * entries + 8);
    rooms[slot] = entries;
  }
  return slots[slot];
}

/* Both as one; `out` has room for all entries of both. */
static Stream merge(Stream a, Stream b, uint32_t *out) {
  static float *sums = NULL;
  static size_t sums_room = 0;
  if (sums_room < a.count + b.count) {
    free(sums);
    sums_room = a.count + b.count;
    sums = malloc(4 * sums_room);
  }
  const float *va = values_of(a), *vb = values_of(b);
  size_t i = 0, j = 0, n = 0;
  while (i < a.count && j < b.count) {
    uint32_t x = a.data[i], y = b.data[j];
    if (x < y) out[n] = x, sums[n++] = va[i++];
    else if (y < x) out[n] = y, sums[n++] = vb[j++];
    else out[n] = x, sums[n++] = va[i++] + vb[j++];
  }
  for (; i < a.count; i++) out[n] = a.data[i], sums[n++] = va[i];
  for (; j < b.count; j++) out[n] = b.data[j], sums[n++] = vb[j];
  memcpy(out + n, sums, 4 * n);
  return (Stream){out, n};
}

static MPI_Request await(int from, uint32_t *into, size_t entries) {
  MPI_Request request;
  MPI_Irecv(into, (int)(8 * entries), MPI_BYTE, from, 0, MPI_COMM_WORLD, &request);
  return request;
}

static Stream arrived(MPI_Request *request, uint32_t *at) {
  MPI_Status status;
  int bytes;
  MPI_Wait(request, &status);
  MPI_Get_count(&status, MPI_BYTE, &bytes);
  return (Stream){at, (size_t)bytes / 8};
}

/* P a power of two. */
static Stream recursive_doubling(Stream own, size_t count) {
  Stream sum = own;
  int slot = 1;
  for (int distance = 1; distance < size; distance *= 2) {
    int partner = rank ^ distance;
    uint32_t *into = room(slot++, count * distance);
    MPI_Request receiving = await(partner, into, count * distance);
    MPI_Send(sum.data, bytes_of(sum), MPI_BYTE, partner, 0, MPI_COMM_WORLD);
    Stream theirs = arrived(&receiving, into);
    uint32_t *out = room(slot++, sum.count + theirs.count);
    sum = rank < partner ? merge(sum, theirs, out) : merge(theirs, sum, out);
  }
  return sum;
}

static uint32_t part_start(int part) { return (uint32_t)((uint64_t)length * part / size); }

/* Entries of a part, copied so that indices and values lie together. */
static Stream part_of(Stream all, int index, int slot) {
  size_t low[2];
  for (int side = 0; side < 2; side++) {
    uint32_t bound = part_start(index + side);
    size_t a = 0, b = all.count;
    while (a < b) {
      size_t middle = (a + b) / 2;
      if (all.data[middle] < bound) a = middle + 1;
      else b = middle;
    }
    low[side] = a;
  }
  Stream part = {NULL, low[1] - low[0]};
  part.data = room(slot, part.count);
  memcpy(part.data, all.data + low[0], 4 * part.count);
  memcpy(part.data + part.count, values_of(all) + low[0], 4 * part.count);
  return part;
}

/* Parts, in order, as one stream. */
static Stream concatenate(const Stream *parts, int slot) {
  size_t count = 0, at = 0;
  for (int part = 0; part < size; part++) count += parts[part].count;
  Stream all = {room(slot, count), count};
  for (int part = 0; part < size; part++) {
    memcpy(all.data + at, parts[part].data, 4 * parts[part].count);
    memcpy(all.data + count + at, values_of(parts[part]), 4 * parts[part].count);
    at += parts[part].count;
  }
  return all;
}

static Stream split_allgather(Stream own, size_t count) {
  MPI_Request receiving[size], sending[size];
  uint32_t *into[size];
  Stream parts[size];
  for (int step = 1; step < size; step++) {
    int from = (rank + size - step) % size;
    into[from] = room(1 + from, count);
    receiving[from] = await(from, into[from], count);
  }
  for (int step = 0; step < size; step++) {
    int to = (rank + step) % size;
    parts[to] = part_of(own, to, 10 + to);
    if (step > 0)
      MPI_Isend(parts[to].data, bytes_of(parts[to]), MPI_BYTE, to, 0, MPI_COMM_WORLD, &sending[to]);
  }
  /* Merged as a tree over the ranks. */
  Stream level[size];
  for (int from = 0; from < size; from++)
    level[from] = from == rank ? parts[rank] : arrived(&receiving[from], into[from]);
  int slot = 20;
  for (int width = size; width > 1; width = (width + 1) / 2) {
    for (int i = 0; i < width; i += 2) {
      if (i + 1 == width) level[i / 2] = level[i];
      else {
        uint32_t *out = room(slot++, level[i].count + level[i + 1].count);
        level[i / 2] = merge(level[i], level[i + 1], out);
      }
    }
  }
  for (int step = 1; step < size; step++)
    MPI_Wait(&sending[(rank + step) % size], MPI_STATUS_IGNORE);
  int bytes = bytes_of(level[0]), all_bytes[size], starts[size], total = 0;
  MPI_Allgather(&bytes, 1, MPI_INT, all_bytes, 1, MPI_INT, MPI_COMM_WORLD);
  for (int part = 0; part < size; part++) starts[part] = total, total += all_bytes[part];
  uint32_t *gathered = room(30, (size_t)total / 8);
  MPI_Allgatherv(level[0].data, bytes, MPI_BYTE, gathered, all_bytes, starts, MPI_BYTE,
                 MPI_COMM_WORLD);
  for (int part = 0; part < size; part++)
    parts[part] = (Stream){gathered + starts[part] / 4, (size_t)all_bytes[part] / 8};
  return concatenate(parts, 31);
}

static Stream sparse_ring(Stream own, size_t count) {
  int next = (rank + 1) % size, previous = (rank + size - 1) % size;
  Stream parts[size];
  for (int part = 0; part < size; part++) parts[part] = part_of(own, part, 1 + part);
  Stream sum = parts[rank];
  for (int step = 1; step < size; step++) {
    int part = (rank + size - step) % size;
    uint32_t *into = room(10 + step, count * step);
    MPI_Request receiving = await(previous, into, count * step);
    MPI_Send(sum.data, bytes_of(sum), MPI_BYTE, next, 0, MPI_COMM_WORLD);
    Stream theirs = arrived(&receiving, into);
    sum = merge(theirs, parts[part], room(20 + step, theirs.count + parts[part].count));
  }
  parts[next] = sum;
  for (int step = 0; step < size - 1; step++) {
    int part = (rank + size - step) % size;
    uint32_t *into = room(30 + step, count * size);
    MPI_Request receiving = await(previous, into, count * size);
    Stream out = parts[(part + 1) % size];
    MPI_Send(out.data, bytes_of(out), MPI_BYTE, next, 0, MPI_COMM_WORLD);
    parts[part] = arrived(&receiving, into);
  }
  return concatenate(parts, 39);
}

static Stream allreduce(const char *algorithm, Stream own) {
  if (strcmp(algorithm, "ssar-recursive-doubling") == 0) return recursive_doubling(own, own.count);
  if (strcmp(algorithm, "ssar-split-allgather") == 0) return split_allgather(own, own.count);
  if (strcmp(algorithm, "sparse-ring") == 0) return sparse_ring(own, own.count);
  fprintf(stderr, "no algorithm %s\n", algorithm);
  MPI_Abort(MPI_COMM_WORLD, 1);
  return own;
}

static uint64_t random_bits(uint64_t *state) {
  uint64_t z = (*state += 0x9e3779b97f4a7c15u);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

/* Uniform indices without repetition, values 1 to 8: sums are exact. */
static Stream uniform(size_t count, int set) {
  uint64_t state = (uint64_t)set * 1000 + rank + 1;
  uint8_t *taken = calloc(length, 1);
  for (size_t missing = count; missing > 0;) {
    size_t index = (size_t)((random_bits(&state) >> 11) * 0x1.0p-53 * length);
    if (!taken[index]) taken[index] = 1, missing--;
  }
  Stream stream = {malloc(8 * count + 8), count};
  for (size_t index = 0, entry = 0; index < length; index++)
    if (taken[index]) {
      stream.data[entry] = (uint32_t)index;
      values_of(stream)[entry++] = (float)(index % 8 + 1);
    }
  free(taken);
  return stream;
}

/* Data sets that take turns, each in one exchange, as in training: with few entries a processor would
 * learn the branches of those that return. As `setsInTurn` in ../collectives/data-set.ts. */
enum { ENTRIES_IN_TURN = 1 << 17, MOST_IN_TURN = 512 };

static int sets_in_turn(size_t count) {
  size_t sets = count == 0 ? MOST_IN_TURN : (ENTRIES_IN_TURN + count - 1) / count;
  return sets < MOST_IN_TURN ? (int)sets : MOST_IN_TURN;
}

/* Kept while orders are for the same shape. */
static Stream data_set(size_t count, int set) {
  static Stream known[MOST_IN_TURN];
  static uint32_t known_length;
  static size_t known_count;
  if (known_length != length || known_count != count) {
    for (int i = 0; i < MOST_IN_TURN; i++) {
      free(known[i].data);
      known[i].data = NULL;
    }
    known_length = length;
    known_count = count;
  }
  if (known[set].data == NULL) known[set] = uniform(count, set);
  return known[set];
}

/* Entries of the result that are not the sum of what all ranks gave. */
static size_t wrong(const char *algorithm, Stream own) {
  float *sums = calloc(length, 4);
  for (size_t i = 0; i < own.count; i++) sums[own.data[i]] = values_of(own)[i];
  MPI_Allreduce(MPI_IN_PLACE, sums, (int)length, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
  Stream result = allreduce(algorithm, own);
  size_t errors = 0;
  for (size_t i = 0; i < result.count; i++) {
    errors += sums[result.data[i]] != values_of(result)[i];
    sums[result.data[i]] = 0;
  }
  for (size_t i = 0; i < length; i++) errors += sums[i] != 0;
  free(sums);
  return errors;
}

int main(int argc, char **argv) {
  char line[256], algorithm[64];
  FILE *in, *out;
  introduce(argc, argv, &in, &out);
  while (fgets(line, sizeof line, in) != NULL) {
    size_t count;
    int set, batch, repetitions;
    if (sscanf(line, "%63s %u %zu %d %d %d", algorithm, &length, &count, &set, &batch,
               &repetitions) != 6)
      break;
    int sets = sets_in_turn(count);
    fprintf(out, "%zu", wrong(algorithm, data_set(count, sets == 1 ? set : 0)));
    static unsigned drawn = 0;
    for (int repetition = 0; repetition < repetitions; repetition++) {
      Stream own[batch];
      for (int i = 0; i < batch; i++)
        own[i] = data_set(count, sets == 1 ? set : (int)(drawn++ % (unsigned)sets));
      MPI_Barrier(MPI_COMM_WORLD);
      double start = MPI_Wtime();
      for (int i = 0; i < batch; i++) allreduce(algorithm, own[i]);
      fprintf(out, " %.6f", 1e3 * (MPI_Wtime() - start) / batch);
    }
    let_it_send();
    fprintf(out, "\n");
    fflush(out);
  }
  MPI_Finalize();
  return 0;
}
