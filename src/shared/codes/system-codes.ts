/** Codes, with what each means and the next step: limits of the system. */
import { codeGroup } from './code-group.ts';

export const systemCodes = codeGroup({
  title: 'Limits of the system',
  about: 'Memory, disk space, files and processes, wherever they end.',
  codes: {
    ADDRESS_SPACE_LIMITED: {
      means: 'A limit of the address space (ulimit -v) is too low for a rank.',
      next: 'Remove ulimit -v where Gradwire is started; memory itself is not the matter.',
    },
    ARENA_EXHAUSTED: {
      means: "A rank's memory for vectors is full.",
      next: 'Use a smaller model, or machines with more memory.',
    },
    DATA_SIZE_LIMITED: {
      means: 'A limit of the data segment (ulimit -d) is too low for a rank.',
      next: 'Remove ulimit -d where Gradwire is started.',
    },
    DIRECTORY_GONE: {
      means: 'The directory in which this was started no longer exists.',
      next: 'Change to another directory and try again.',
    },
    ACCESS_DENIED: {
      means: 'The system does not let you read, write or change something.',
      next: 'Check the owner and the permissions of that place and of the directories above it.',
    },
    FILE_SYSTEM_FAILED: {
      means: 'A disk, or the server of a network file system, does not do its work.',
      next: 'Look at the log of the system, and try again when it works.',
    },
    FILE_SYSTEM_READ_ONLY: {
      means: 'Something has to be written to a file system that is mounted read-only.',
      next: 'Have it mounted for writing, or use a directory on another one.',
    },
    DISK_FULL: {
      means: 'A disk or quota is full.',
      next: 'Free space or inodes on that disk.',
    },
    FILE_SIZE_LIMIT: {
      means:
        'The limit of a file’s size is reached, of the shell or of the file system.',
      next: 'Raise it (ulimit -f), or use another file system.',
    },
    INODES_EXHAUSTED: {
      means: 'The file system can hold hardly any more files.',
      next: 'Delete files there: a directory with many small ones, such as a cache.',
    },
    MEMORY_EXHAUSTED: {
      means: 'There is not enough memory.',
      next: 'Lower workload.batchPerRank, use a smaller model or fewer ranks, or end other programs.',
    },
    MEMORY_TOO_SMALL: {
      means:
        'A rank would need more memory than its arena can have. The run is refused before it starts.',
      next: 'Use a smaller model or fewer vectors: another method, overlap off, or the change that the message names.',
    },
    OPEN_FILES_LIMIT: {
      means: 'No more files and sockets may be open.',
      next: 'Raise the limit (ulimit -n) in the shell that starts Gradwire, or use fewer ranks.',
    },
    OPEN_FILES_LIMITED: {
      means:
        'A process may open too few files on that machine for runs of several ranks.',
      next: 'Raise the limit there, in start files or /etc/security/limits.conf.',
    },
    PROCESSES_LIMITED: {
      means: 'You may have too few processes and threads on that machine.',
      next: 'Raise the limit there, in start files or /etc/security/limits.conf.',
    },
    PROCESS_LIMIT: {
      means: 'No more processes and threads may be started.',
      next: 'Raise the limit (ulimit -u; of a container: pids.max), or use fewer ranks.',
    },
    TEMPORARY_DIRECTORY_UNUSABLE: {
      means: 'Neither TMPDIR nor /tmp is a directory in which files can be made.',
      next: 'Set TMPDIR, on that machine, to a directory that exists and that you may write to.',
    },
  },
});
