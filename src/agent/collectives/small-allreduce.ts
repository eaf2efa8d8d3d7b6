/**
 * Allreduce of a few f64 numbers, each with its own operation, for agreements besides
 * gradients (the newest epoch known everywhere, a vote to stop, sums for a report).
 *
 * Cost: that of recursive doubling, one small message per round. All ranks get the same
 * bits. NaN wins any min or max.
 */
import { doubleRecursively } from './recursive-doubling.ts';
import type { Communicator } from './collective.ts';

export type SmallOperation = 'min' | 'max' | 'sum';

/** The numbers combined over all ranks; `values` is not changed. */
export async function smallAllreduce(
  communicator: Communicator,
  values: ArrayLike<number>,
  operations: readonly SmallOperation[],
): Promise<readonly number[]> {
  const { length } = values;
  if (operations.length !== length) {
    throw new Error(`internal: ${operations.length} operations for ${length} values`);
  }
  const { arena } = communicator;
  const { offset } = communicator.scratch('small-allreduce', 8 * length);
  const own = new Float64Array(arena.buffer, offset, length);
  for (let i = 0; i < length; i++) own[i] = values[i]!;
  await doubleRecursively(communicator, { offset, bytes: 8 * length }, (other) => {
    const theirs = new Float64Array(arena.buffer, other.offset, length);
    for (let i = 0; i < length; i++) {
      own[i] = combine(operations[i]!, own[i]!, theirs[i]!);
    }
  });
  return Array.from(own);
}

function combine(operation: SmallOperation, a: number, b: number): number {
  switch (operation) {
    case 'min':
      return Math.min(a, b);
    case 'max':
      return Math.max(a, b);
    case 'sum':
      return a + b;
    default:
      return operation satisfies never;
  }
}
