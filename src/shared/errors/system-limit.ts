/**
 * The system refuses more: open files, processes, memory or space. It says so with a number
 * that comes from any call, so that each is explained here once.
 */
import type { ErrorCode } from '../codes/error-code.ts';
import type { ErrorData } from './errors.ts';

interface Explanation {
  readonly code: ErrorCode;
  readonly message: string;
  readonly next: string;
}

const FEWER = 'or use fewer ranks on this machine';

const FILES: Explanation = {
  code: 'OPEN_FILES_LIMIT',
  message: 'no more files and sockets may be open',
  next:
    `Raise the limit of open files (ulimit -n) in the shell that starts Gradwire, ${FEWER}. ` +
    'The supervisor gets its limit when it starts: it starts again once none of its runs is left.',
};
const PROCESSES: Explanation = {
  code: 'PROCESS_LIMIT',
  message: 'no more processes and threads may be started',
  next:
    'Raise the limit of processes (ulimit -u; of a container or service: pids.max), ' +
    `${FEWER}.`,
};
const MEMORY: Explanation = {
  code: 'MEMORY_EXHAUSTED',
  message: 'there is not enough memory',
  next: `End other programs, ${FEWER}.`,
};
const SPACE: Explanation = {
  code: 'DISK_FULL',
  message: 'there is no space or quota left',
  next: 'Free space or inodes on that disk.',
};

const FILE_SIZE: Explanation = {
  code: 'FILE_SIZE_LIMIT',
  message: 'no file may grow any larger',
  next:
    'Raise the limit of a file’s size (ulimit -f) in the shell that starts Gradwire, or use a ' +
    'directory on a file system that allows larger files. The disk is not full.',
};

const NOWHERE: Explanation = {
  code: 'DIRECTORY_GONE',
  message: 'the directory in which this was started is no longer there',
  next: 'Change to another directory (cd) and try again.',
};

const EXPLANATIONS = new Map<string, Explanation>([
  ['EMFILE', FILES],
  ['ENFILE', FILES],
  ['ENOMEM', MEMORY],
  ['ENOSPC', SPACE],
  ['EDQUOT', SPACE],
  ['EFBIG', FILE_SIZE],
]);

/** Refusals of the system that are no limit, and no bug of ours. */
const REFUSALS = new Map<string, Explanation>(
  [
    {
      names: ['EROFS'],
      code: 'FILE_SYSTEM_READ_ONLY' as const,
      message: 'the file system is mounted read-only',
      next: 'Have it mounted for writing, or use a directory on another one: GRADWIRE_HOME names the home.',
    },
    {
      names: ['EACCES', 'EPERM'],
      code: 'ACCESS_DENIED' as const,
      message: 'the system does not permit it',
      next: 'Check the owner and the permissions of that place and of the directories above it.',
    },
    {
      names: ['EIO', 'ESTALE'],
      code: 'FILE_SYSTEM_FAILED' as const,
      message: 'a disk, or the server of a network file system, does not do its work',
      next: 'Look at the log of the system, and try again when it works.',
    },
  ].flatMap(({ names, ...why }) => names.map((name) => [name, why] as const)),
);

/** The refusal of a system call as a coded error; undefined if it is another error. */
export function systemRefusal(thrown: unknown): ErrorData | undefined {
  if (!(thrown instanceof Error && 'syscall' in thrown && 'code' in thrown)) {
    return undefined;
  }
  const why = REFUSALS.get(String(thrown.code));
  if (why === undefined) return undefined;
  const { code, message, next } = why;
  return { code, kind: 'failure', message: `${message}: ${thrown.message}`, next };
}

/** A limit of the system as a coded error; undefined if it is another error. */
export function systemLimit(thrown: unknown): ErrorData | undefined {
  const explanation = explain(thrown);
  if (explanation === undefined) return undefined;
  const { code, message, next } = explanation;
  const said = (thrown as Error).message;
  return { code, kind: 'failure', message: `${message}: ${said}`, next };
}

function explain(thrown: unknown): Explanation | undefined {
  if (!(thrown instanceof Error)) return undefined;
  const { code = '', syscall = '' } = thrown as Error & {
    readonly code?: string;
    readonly syscall?: string;
  };
  if (syscall === 'uv_cwd') return NOWHERE;
  // Of a socket it only means: later.
  if (code === 'EAGAIN' && syscall.startsWith('spawn')) return PROCESSES;
  if (code !== 'ERR_WORKER_INIT_FAILED') return EXPLANATIONS.get(code);
  const [reason = ''] = /E[A-Z]+$/.exec(thrown.message) ?? [];
  return reason === 'EAGAIN' ? PROCESSES : EXPLANATIONS.get(reason);
}
