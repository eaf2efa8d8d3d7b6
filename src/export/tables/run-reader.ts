/**
 * A run's records, read in pieces of bounded size, the same from the store and from a page: a
 * page asks main, the command its store.
 */
import type { BucketSumsRecord } from '../../shared/records/bucket-sums.ts';
import type { IterationRecord } from '../../shared/records/iteration.ts';
import type { JournalEntry } from '../../shared/records/journal-entry.ts';
import type { UtilisationRecord } from '../../shared/records/utilisation.ts';
import {
  MOST_ITERATION_RECORDS,
  type ExportPiece,
  type ExportPlace,
  type IterationPlace,
  type IterationsPiece,
} from '../../shared/rpc/run-pieces.ts';
import { type CoreApi } from '../../shared/rpc/rpc.ts';

export type RunReader = Pick<CoreApi, 'exportRun' | 'iterations' | 'runLog'>;

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

/** Records of these kinds, which come beside the iterations, by the part of an export that has them. */
export interface MeasureRecords {
  readonly buckets: BucketSumsRecord;
  readonly utilisation: UtilisationRecord;
}

/** All records of such a part, in the order of the export, a piece at a time. */
export async function* measurePieces<P extends keyof MeasureRecords>(
  reader: RunReader,
  run: string,
  part: P,
): AsyncGenerator<readonly MeasureRecords[P][]> {
  let place: ExportPlace | undefined = { part, from: 0, isFirst: true };
  while (place?.part === part) {
    const piece: ExportPiece = await reader.exportRun(run, 'jsonl', place);
    yield piece.text
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line) as MeasureRecords[P]);
    place = piece.next;
  }
}
