/**
 * A run's records, read in pieces of bounded size, the same from the store and from a page: a
 * page asks main, the command its store.
 */
import type { IterationRecord } from '../../shared/records/iteration.ts';
import type { JournalEntry } from '../../shared/records/journal-entry.ts';
import {
  MOST_ITERATION_RECORDS,
  type IterationPlace,
  type IterationsPiece,
} from '../../shared/rpc/run-pieces.ts';
import { type CoreApi } from '../../shared/rpc/rpc.ts';

export type RunReader = Pick<CoreApi, 'iterations' | 'runLog'>;

/** All iteration records by iteration and rank, a piece at a time. */
export async function* iterationPieces(
  reader: RunReader,
  run: string,
): AsyncGenerator<readonly IterationRecord[]> {
  let place: IterationPlace | undefined = { from: 0 };
  while (place !== undefined) {
    const piece: IterationsPiece = await reader.iterations(run, {
      ...place,
      to: Number.MAX_SAFE_INTEGER,
      most: MOST_ITERATION_RECORDS,
    });
    yield piece.entries.flatMap(({ record }) =>
      record.type === 'iteration' ? [record] : [],
    );
    place = piece.next;
  }
}

/** Everything else of a run (events, and lines that its ranks printed), a page at a time. */
export async function* logPages(
  reader: RunReader,
  run: string,
): AsyncGenerator<readonly JournalEntry[]> {
  let after = 0;
  for (;;) {
    const page = await reader.runLog(run, after);
    if (page.length === 0) return;
    after = page.at(-1)!.sequence;
    yield page;
  }
}
