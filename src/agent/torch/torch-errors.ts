/** Errors of the process that computes with PyTorch, as the user reads them. */
import { failure, inputError, type GradwireError } from '../../shared/errors/errors.ts';
import { lastWords } from '../bridge/program-errors.ts';
import type { ProgramExit } from '../bridge/program-run.ts';

export const noPyTorch = (
  { python, rank }: { readonly python: string; readonly rank: number },
  why: string,
): GradwireError =>
  inputError(
    'BACKEND_UNAVAILABLE',
    `${python} cannot compute with PyTorch here: ${why === '' ? 'it does not start' : why}`,
    {
      rank,
      next:
        'Install PyTorch 2.1 or newer there (pip install torch), give another Python ' +
        '(python: /path/to/bin/python), or use backend: wasm.',
    },
  );

/** The process has ended while the rank needs it. */
export function processEnded(
  { code, reason, signal, stderr }: ProgramExit,
  rank: number,
): GradwireError {
  const last = reason ?? lastWords(stderr);
  const how = signal === null ? `with exit code ${code}` : `by ${signal}`;
  const isKilled = signal === 'SIGKILL';
  return failure(
    'TORCH_LOST',
    `the process that computes with PyTorch ended ${how}${last === '' ? '' : `: ${last}`}`,
    {
      rank,
      next: isKilled
        ? 'If nobody ended it, the machine lacked memory: lower workload.batchPerRank or world.ranks.'
        : 'Read the log of this rank; lower workload.batchPerRank if memory was short.',
    },
  );
}

export const unexpectedMessage = (what: string, rank: number): GradwireError =>
  failure(
    'BRIDGE_INVALID',
    `PyTorch’s process sent "${what}" where it makes no sense`,
    {
      rank,
      next: 'Report this as a bug.',
    },
  );
