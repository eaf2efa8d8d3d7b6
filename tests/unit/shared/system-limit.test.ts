import { expect, test } from 'vitest';
import { toErrorData } from '../../../src/shared/errors/errors.ts';

const systemError = (code: string, syscall: string): Error =>
  Object.assign(new Error(`${syscall} ${code}`), { code, syscall });

test.each([
  [systemError('EMFILE', 'spawn node'), 'OPEN_FILES_LIMIT', 'ulimit -n'],
  [systemError('ENFILE', 'open'), 'OPEN_FILES_LIMIT', 'ulimit -n'],
  [systemError('EAGAIN', 'spawn node'), 'PROCESS_LIMIT', 'ulimit -u'],
  [systemError('ENOMEM', 'spawn'), 'MEMORY_EXHAUSTED', 'fewer ranks'],
  [systemError('ENOSPC', 'write'), 'DISK_FULL', 'Free space'],
  [systemError('EFBIG', 'write'), 'FILE_SIZE_LIMIT', 'ulimit -f'],
  [systemError('ENOENT', 'uv_cwd'), 'DIRECTORY_GONE', 'Change to another'],
  [
    Object.assign(new Error('Worker initialization failure: EAGAIN'), {
      code: 'ERR_WORKER_INIT_FAILED',
    }),
    'PROCESS_LIMIT',
    'ulimit -u',
  ],
  [systemError('EROFS', 'open'), 'FILE_SYSTEM_READ_ONLY', 'GRADWIRE_HOME'],
  [systemError('EACCES', 'mkdir'), 'ACCESS_DENIED', 'permissions'],
  [systemError('EPERM', 'chmod'), 'ACCESS_DENIED', 'permissions'],
  [systemError('EIO', 'read'), 'FILE_SYSTEM_FAILED', 'try again'],
  // Of a socket it only means: later.
  [systemError('EAGAIN', 'read'), 'INTERNAL', 'bug'],
  [new Error('EMFILE'), 'INTERNAL', 'bug'],
  [new Error('EROFS'), 'INTERNAL', 'bug'],
])('%s is %s', (thrown, code, next) => {
  const error = toErrorData(thrown);
  expect(error.code).toBe(code);
  expect(error.message).toContain(thrown.message);
  expect(error.next).toContain(next);
});
