/*
 * One rank of OpenMPI for `gradwire bench collectives --peers`.
 *
 *   mpirun -np P mpi_allreduce SOCKET
 *
 * SOCKET is the benchmark's Unix socket. The rank introduces itself, "rank R VERSION", and
 * answers each line "BYTES BATCH REPETITIONS" with the entries that were wrong and the
 * milliseconds of one MPI_Allreduce of so many bytes of float, in place, by repetition: a
 * barrier, then BATCH in a row. Between lines it sleeps in read(), where MPI's own waiting
 * would take a core; before it does so it lets MPI send what has not left yet, for nobody
 * else does. The end of the socket is the end.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static void reduce(float *values, size_t length) {
  MPI_Allreduce(MPI_IN_PLACE, values, (int)length, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
}

/* MPI sends only while it is called, and may return with bytes that the socket refused. */
static void let_it_send(void) {
  MPI_Barrier(MPI_COMM_WORLD);
  for (int i = 0; i < 20; i++) {
    int flag;
    MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
    usleep(1000);
  }
}

/* Entries that are not the sum of what the ranks gave. */
static size_t wrong(float *values, size_t length, int rank, int size) {
  size_t count = 0;
  for (size_t i = 0; i < length; i++) values[i] = (float)(i % 13) + rank;
  reduce(values, length);
  for (size_t i = 0; i < length; i++)
    count += values[i] != (float)(i % 13) * size + (float)(size * (size - 1) / 2);
  return count;
}

static int connect_to(const char *path) {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  int fd = socket(AF_UNIX, SOCK_STREAM, 0);
  if (fd < 0 || strlen(path) >= sizeof address.sun_path) return -1;
  strcpy(address.sun_path, path);
  return connect(fd, (struct sockaddr *)&address, sizeof address) < 0 ? -1 : fd;
}

int main(int argc, char **argv) {
  int rank, size, length_of_name;
  char library[MPI_MAX_LIBRARY_VERSION_STRING];
  char line[128];
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Get_library_version(library, &length_of_name);
  int fd = argc > 1 ? connect_to(argv[1]) : -1;
  if (fd < 0) {
    perror("the benchmark's socket");
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  FILE *in = fdopen(fd, "r"), *out = fdopen(dup(fd), "w");
  fprintf(out, "rank %d %.*s\n", rank, (int)strcspn(library, ",\n"), library);
  fflush(out);
  while (fgets(line, sizeof line, in) != NULL) {
    size_t bytes;
    int batch, repetitions;
    if (sscanf(line, "%zu %d %d", &bytes, &batch, &repetitions) != 3) break;
    size_t length = bytes / sizeof(float);
    float *values = malloc(bytes);
    size_t errors = wrong(values, length, rank, size);
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
