/**
 * A run as an event file of TensorBoard: at each iteration the mean over ranks of every number
 * that its records have, what the test set gave, and switches as texts. Steps are iterations,
 * times those of the records.
 */
import type { EvaluationRecord } from '../../shared/records/evaluation.ts';
import { ACCURACY, type MetricKind } from '../../shared/records/metric.ts';
import type { IterationField } from '../../shared/records/iteration-field.ts';
import { eventText } from '../../shared/records/record-kinds.ts';
import {
  ITERATION_FIELDS,
  type IterationRecord,
} from '../../shared/records/iteration.ts';
import type { RunSummary } from '../../shared/rpc/run-summary.ts';
import type { FilePart } from '../formats/file-part.ts';
import { fieldColumn } from '../tables/column-name.ts';
import { iterationPieces, logPages, type RunReader } from '../tables/run-reader.ts';
import { EventFile } from './event-file.ts';

interface Scalar {
  readonly tag: string;
  /** The value in a record; undefined if it was not observed. */
  readonly of: (record: IterationRecord) => unknown;
}

/** Parts of the file, with all iterations, evaluations and switches of a run. */
export async function* eventFileParts(
  reader: RunReader,
  run: RunSummary,
): AsyncGenerator<FilePart> {
  const { createdAt, id, iterations, metricKind = ACCURACY } = run;
  const file = new EventFile(createdAt / 1000);
  for await (const page of logPages(reader, id)) {
    for (const { record } of page) {
      if (record.type === 'evaluation') addEvaluation(file, record, metricKind);
      if (record.type === 'switch') {
        const time = { wallTime: record.at / 1000, step: record.fence };
        file.text(time, 'switches', eventText(record).text);
      }
    }
    yield { content: file.take(), done: 0 };
  }
  const means = new IterationMeans(scalarsOf(metricKind));
  for await (const records of iterationPieces(reader, id)) {
    for (const record of records) {
      if (means.iteration !== record.iteration) means.addTo(file);
      means.add(record);
    }
    const done = (records.at(-1)?.iteration ?? 0) / Math.max(1, iterations);
    yield { content: file.take(), done: Math.min(1, done) };
  }
  means.addTo(file);
  yield { content: file.take(), done: 1 };
}

function addEvaluation(
  file: EventFile,
  { at, averaged, iteration, loss, metric, wall }: EvaluationRecord,
  { id }: MetricKind,
): void {
  const values: readonly (readonly [string, number | undefined])[] = [
    ['test/loss', loss],
    [`test/${id}`, metric],
    ['test/averaged_loss', averaged?.loss],
    [`test/averaged_${id}`, averaged?.metric],
    ['test/wall_ms', wall],
  ];
  file.scalars(
    { wallTime: at / 1000, step: iteration },
    values.flatMap(([tag, value]) => (value === undefined ? [] : [[tag, value]])),
  );
}

/** Groups of the tags, by the group of a field. */
const GROUPS = { '': 'step', phases: 'phases', bytes: 'bytes', activations: 'bytes' };

/** Every field that may be a number, but the time of day, which each event has. */
const scalarsOf = ({ id }: MetricKind): readonly Scalar[] =>
  ITERATION_FIELDS.flatMap(({ fields, group }) =>
    Object.entries<IterationField>(fields).flatMap(
      ([name, { absent, schema, unit }]): readonly Scalar[] => {
        if (unit === 'moment') return [];
        const named: Readonly<Partial<Record<string, string>>> = {
          loss: 'training/loss',
          metric: `training/${id}`,
          lr: 'training/lr',
        };
        const tag =
          named[group === '' ? name : ''] ??
          `${GROUPS[group]}/${fieldColumn(group, name, unit)}`;
        // A flag's stands for the flag in columns, and is no value of the field.
        const otherwise = schema.safeParse(absent).success ? absent : undefined;
        const of = (record: IterationRecord): unknown => {
          const holder = group === '' ? record : record[group];
          const value = (holder as Readonly<Record<string, unknown>> | undefined)?.[
            name
          ];
          return value ?? otherwise;
        };
        return [{ tag, of }];
      },
    ),
  );

/** Means over the ranks of an iteration, of what they observed or what its absence means. */
class IterationMeans {
  readonly #scalars: readonly Scalar[];
  readonly #sums: Float64Array;
  readonly #counts: Uint32Array;
  #at = 0;
  #ranks = 0;
  iteration: number | undefined;

  constructor(scalars: readonly Scalar[]) {
    this.#scalars = scalars;
    this.#sums = new Float64Array(scalars.length);
    this.#counts = new Uint32Array(scalars.length);
  }

  add(record: IterationRecord): void {
    this.iteration = record.iteration;
    this.#at += record.at;
    this.#ranks += 1;
    for (const [index, { of }] of this.#scalars.entries()) {
      const value = of(record);
      if (typeof value !== 'number') continue;
      this.#sums[index]! += value;
      this.#counts[index]! += 1;
    }
  }

  /** Adds what was gathered to a file, and begins anew. */
  addTo(file: EventFile): void {
    if (this.iteration === undefined) return;
    const time = { wallTime: this.#at / this.#ranks / 1000, step: this.iteration };
    file.scalars(
      time,
      this.#scalars.flatMap(({ tag }, index) => {
        const count = this.#counts[index]!;
        return count === 0 ? [] : [[tag, this.#sums[index]! / count] as const];
      }),
    );
    this.#sums.fill(0);
    this.#counts.fill(0);
    [this.#at, this.#ranks, this.iteration] = [0, 0, undefined];
  }
}
