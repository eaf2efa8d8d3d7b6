/** A follower of a journal that stores, without a machine. */
import type { NodeLink } from '../../../src/main/cluster/node-link.ts';
import { JournalFollower } from '../../../src/main/runs/journal-follower.ts';
import type { CoordinatorParts } from '../../../src/main/runs/coordinator-parts.ts';
import type { StoredBatch } from '../../../src/main/store/record-writer.ts';
import type { RunStore } from '../../../src/main/store/run-store.ts';

interface FollowedStore {
  readonly records: Pick<RunStore['records'], 'append'>;
  readonly journals: Pick<RunStore['journals'], 'isOpen' | 'position'>;
}

export interface Heard {
  /** Called with what is stored. */
  readonly stored?: (batch: Pick<StoredBatch, 'entries'>) => void;
  /** Called with the sequences that are acknowledged. */
  readonly acknowledged?: (sequence: number) => void;
  /** Called with why something that is stored was not told; default: an error. */
  readonly untold?: (error: unknown) => void;
}

/** @param errors gets the reasons why something was not stored */
export function followerOf(
  store: FollowedStore,
  run: string,
  errors: unknown[],
  {
    acknowledged,
    stored = () => undefined,
    untold = (error) => errors.push(error),
  }: Heard = {},
): JournalFollower {
  const link = {
    name: 'this-computer',
    connection: {
      request: (_: string, body: { readonly sequence: number }) => {
        acknowledged?.(body.sequence);
        return Promise.resolve({});
      },
      leave: () => undefined,
    },
  };
  const news = { lastTold: () => undefined, stored };
  return new JournalFollower(
    { store, news } as unknown as CoordinatorParts,
    run,
    link as unknown as NodeLink,
    {
      over: () => undefined,
      untold,
      failed: (error) => errors.push(error),
    },
  );
}
