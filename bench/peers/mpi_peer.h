/*
 * What both programs of ranks over OpenMPI have in common: the benchmark's Unix socket. A rank
 * introduces itself there, "rank R VERSION", and sleeps in read() between orders, where MPI's
 * own waiting would take a core.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static int rank, size;

/* MPI sends only while it is called, and may return with bytes that the socket refused. */
static void let_it_send(void) {
  MPI_Barrier(MPI_COMM_WORLD);
  for (int i = 0; i < 20; i++) {
    int flag;
    MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
    usleep(1000);
  }
}

static int connect_to(const char *path) {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  int fd = socket(AF_UNIX, SOCK_STREAM, 0);
  if (fd < 0 || strlen(path) >= sizeof address.sun_path) return -1;
  strcpy(address.sun_path, path);
  return connect(fd, (struct sockaddr *)&address, sizeof address) < 0 ? -1 : fd;
}

/* Starts MPI and introduces this rank on the socket that the first argument names. */
static void introduce(int argc, char **argv, FILE **in, FILE **out) {
  int length;
  char library[MPI_MAX_LIBRARY_VERSION_STRING];
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Get_library_version(library, &length);
  int fd = argc > 1 ? connect_to(argv[1]) : -1;
  if (fd < 0) {
    perror("the benchmark's socket");
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  *in = fdopen(fd, "r");
  *out = fdopen(dup(fd), "w");
  fprintf(*out, "rank %d %.*s\n", rank, (int)strcspn(library, ",\n"), library);
  fflush(*out);
}
