/*
 * One rank of OpenMPI for `gradwire bench collectives --peers`.
 *
 *   mpirun -np P mpi_allreduce SOCKET
 *
 * SOCKET is the benchmark's Unix socket. The rank introduces itself, "rank R VERSION", and
 * answers each line "BYTES BATCH REPETITIONS" with the entries that were wrong and the
 * milliseconds of one MPI_Allreduce of BYTES of float, in place, for each repetition: a
 * barrier, then BATCH in a row. Before it sleeps it lets MPI send what has not left yet. It
 * ends with the socket.
 */
#include "mpi_peer.h"

static void reduce(float *values, size_t length) {
  MPI_Allreduce(MPI_IN_PLACE, values, (int)length, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
}

/* Entries that are not the sum of what the ranks gave. */
static size_t wrong(float *values, size_t length) {
  size_t count = 0;
  for (size_t i = 0; i < length; i++) values[i] = (float)(i % 13) + rank;
  reduce(values, length);
  for (size_t i = 0; i < length; i++)
    count += values[i] != (float)(i % 13) * size + (float)(size * (size - 1) / 2);
  return count;
}

int main(int argc, char **argv) {
  char line[128];
  FILE *in, *out;
  introduce(argc, argv, &in, &out);
  while (fgets(line, sizeof line, in) != NULL) {
    size_t bytes;
    int batch, repetitions;
    if (sscanf(line, "%zu %d %d", &bytes, &batch, &repetitions) != 3) break;
    size_t length = bytes / sizeof(float);
    float *values = malloc(bytes);
    size_t errors = wrong(values, length);
    memset(values, 0, bytes);
    reduce(values, length);
    fprintf(out, "%zu", errors);
    for (int repetition = 0; repetition < repetitions; repetition++) {
      MPI_Barrier(MPI_COMM_WORLD);
      double start = MPI_Wtime();
      for (int i = 0; i < batch; i++) reduce(values, length);
      fprintf(out, " %.6f", 1e3 * (MPI_Wtime() - start) / batch);
    }
    let_it_send();
    fprintf(out, "\n");
    fflush(out);
    free(values);
  }
  MPI_Finalize();
  return 0;
}
