import { describe, expect, it } from 'vitest';
import {
  rootCause,
  type FailureReport,
} from '../../../src/shared/errors/root-cause.ts';
import type { ErrorCode } from '../../../src/shared/codes/error-code.ts';
import { failure } from '../../../src/shared/errors/errors.ts';

const report = (code: ErrorCode, rank: number): FailureReport => ({
  kind: 'report',
  error: failure(code, code, { rank }).toData(),
});
const death = (rank: number): FailureReport => ({
  kind: 'death',
  error: failure('WORKER_DIED', 'killed', { rank }).toData(),
});

describe('the root cause of a failed run', () => {
  it.each([
    ['a death explains the loss of a peer', [report('PEER_LOST', 0), death(2)], 2],
    [
      'and a handshake that broke off',
      [report('PEER_UNAUTHENTICATED', 0), death(2)],
      2,
    ],
    ['whichever comes first', [death(2), report('PEER_LOST', 0)], 2],
    [
      'a rank’s own error explains the death of another that follows it',
      [report('ABORTED', 3), death(3), report('GRADIENT_NOT_FINITE', 1)],
      1,
    ],
    ['with nothing better, the first consequence', [report('PEER_LOST', 1)], 1],
    ['of equals, the first', [report('GPU_LOST', 3), report('GPU_MEMORY', 0)], 3],
  ])('%s', (_, reports, rank) => {
    expect(rootCause(reports)?.rank).toBe(rank);
  });

  it('is absent where nothing was reported', () => {
    expect(rootCause([])).toBeUndefined();
  });
});
