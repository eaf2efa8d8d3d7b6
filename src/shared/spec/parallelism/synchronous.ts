/** Synchronous training: all ranks exchange in every iteration. */
import type { ParallelismKind } from './kind.ts';

export const synchronous = {
  id: 'synchronous',
  brief: 'exchange in every iteration',
  hint: 'Ranks exchange in every iteration',
  instead: 'ranks exchange in every iteration',
  keys: {},
  misfits: () => [],
} as const satisfies ParallelismKind;
