/**
 * The place where a rank waits for a program that something else starts, such as torchrun: a
 * socket in a directory whose name says run, number of ranks and rank, so that the program finds
 * it by the variables that launchers set (python/gradwire/src/gradwire/awaiting.py).
 */
import path from 'node:path';
import { failure } from '../../shared/errors/errors.ts';
import { ownDirectory } from '../bundle/own-directory.ts';

export interface AwaitedRank {
  readonly run: string;
  readonly ranks: number;
  readonly rank: number;
}

/** The parent of the directories, the same for all: a launcher may set another TMPDIR than ours. */
const PARENT = '/tmp';
const NAME = 'gradwire-awaiting';

/**
 * The path of the rank's socket, in a directory of its own.
 * @throws GradwireError `AWAITING_UNSAFE`
 */
export function awaitingPath(
  { rank, ranks, run }: AwaitedRank,
  parent = PARENT,
): string {
  const place = ownDirectory(parent, NAME);
  if (place !== undefined) {
    return path.join(place, `${run}.${ranks}.${rank}`, 'bridge');
  }
  throw failure(
    'AWAITING_UNSAFE',
    `${path.join(parent, NAME)}-UID is not a directory of this user’s alone`,
    { rank, next: 'Remove it, if you can, or ask who administers the machine.' },
  );
}
