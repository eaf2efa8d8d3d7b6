/** Iterations of a stored run, split into what a replay keeps and what it changes. */
import type { RecordedStep } from '../../shared/forecast/replay.ts';
import type { IterationRecord } from '../../shared/records/iteration.ts';
import { OWN_PHASES, type Phase } from '../../shared/records/phases.ts';
import type { IterationPlace } from '../../shared/rpc/run-pieces.ts';
import type { RunStore } from '../store/run-store.ts';

const PAGE = 5000;

/**
 * Returns the iterations that all ranks have, from ≤ iteration < to, ascending.
 * @param hides whether what is overlapped is hidden behind computing, and in no phase: so it is of programs, whose
 * exchange begins within their backward pass
 */
export function recordedSteps(
  store: RunStore,
  run: string,
  ranks: number,
  { from, to }: { readonly from: number; readonly to: number },
  hides: boolean,
): readonly RecordedStep[] {
  const byIteration = new Map<number, IterationRecord[]>();
  let place: IterationPlace | undefined = { from };
  while (place !== undefined && place.from < to) {
    const piece = store.reads.iterations(run, { ...place, to }, PAGE);
    for (const { record } of piece.entries) {
      const known = byIteration.get(record.iteration);
      if (known === undefined) byIteration.set(record.iteration, [record]);
      else known.push(record);
    }
    place = piece.next;
  }
  return [...byIteration]
    .filter(([, records]) => records.length === ranks)
    .map(([iteration, records]) => split(iteration, records, hides))
    .toSorted((a, b) => a.iteration - b.iteration);
}

type Recorded = Pick<IterationRecord, 'overlapped' | 'phases' | 'wall'>;

/** The slowest rank's own work counts, because the others wait for it. */
export function split(
  iteration: number,
  records: readonly Recorded[],
  hides: boolean,
): RecordedStep {
  const mean = (of: (record: Recorded) => number) =>
    records.reduce((sum, record) => sum + of(record), 0) / records.length;
  const phase = (name: Phase) => mean(({ phases }) => phases[name] ?? 0);
  const wall = mean((record) => record.wall);
  const [compress, decompress] = [phase('compress'), phase('decompress')];
  const slowest = Math.max(
    ...records.map(({ phases }) =>
      [...OWN_PHASES, 'other' as const].reduce(
        (sum, name) => sum + (phases[name] ?? 0),
        0,
      ),
    ),
  );
  const own = Math.max(0, Math.min(slowest, wall - compress - decompress));
  const exchange = Math.max(0, wall - own - compress - decompress);
  const hidden = hides ? mean(({ overlapped }) => overlapped) : 0;
  return { iteration, own, compress, exchange, decompress, hidden };
}
