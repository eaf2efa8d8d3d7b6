/**
 * The cost of being observed: the same DDP program over Gloo by itself and under
 * `gradwire exec --observe`, in turns, so that what the machine does beside it meets both. The
 * steps in which Gradwire times its methods, once in a run, are left out.
 */
import { textTable } from '../../src/cli/text/text-table.ts';
import { median } from '../quantiles.ts';
import { measure, type Measured } from './programs.ts';

/**
 * Steps before those that count. From the 20th on Gradwire times its methods, for a second or two
 * beside a program of two ranks and more.
 */
const FIRST = 300;

/** Steps of one run by itself and of one that was observed, milliseconds. */
interface ObservedPair {
  readonly alone: number;
  readonly observed: number;
  /** Whether the methods were timed while steps counted, or not at all. */
  readonly isLate: boolean;
}

export interface ObservedRow {
  readonly type: 'observing';
  readonly model: string;
  readonly ranks: number;
  readonly cores: number;
  /** Medians of the pairs. */
  readonly alone: number;
  readonly observed: number;
  readonly ratio: number;
  /** Ratios of the pairs. */
  readonly ratios: readonly number[];
  readonly late: number;
}

type About = Pick<ObservedRow, 'model' | 'ranks' | 'cores'>;

export async function measureObserving(
  about: About,
  { pairs, steps }: { readonly pairs: number; readonly steps: number },
): Promise<ObservedRow> {
  const { model, ranks } = about;
  const program = { model, ranks, link: 'loopback', hook: 'none', steps, first: FIRST };
  const alone = (): Promise<Measured> => measure(program);
  const observed = (): Promise<Measured> =>
    measure({ ...program, exec: ['--observe'] });
  const measured: ObservedPair[] = [];
  while (measured.length < pairs) {
    // Each is first as often as the other.
    if (measured.length % 2 === 0) {
      const first = await alone();
      measured.push(pairOf(first, await observed()));
    } else {
      const first = await observed();
      measured.push(pairOf(await alone(), first));
    }
  }
  return observedRow(about, measured);
}

export function pairOf(alone: Measured, observed: Measured): ObservedPair {
  const { predictedAt, result } = observed;
  return {
    alone: median(alone.result.times),
    observed: median(result.times),
    isLate: predictedAt === undefined || predictedAt > result.countedFrom,
  };
}

export function observedRow(about: About, pairs: readonly ObservedPair[]): ObservedRow {
  const ratios = pairs.map(({ alone, observed }) => observed / alone);
  return {
    type: 'observing',
    ...about,
    alone: median(pairs.map(({ alone }) => alone)),
    observed: median(pairs.map(({ observed }) => observed)),
    ratio: median(ratios),
    ratios,
    late: pairs.filter(({ isLate }) => isLate).length,
  };
}

export function observedTable(rows: readonly ObservedRow[]): string {
  const lines = rows.map(({ alone, model, observed, ranks, ratio, ratios }) => [
    ...[model, String(ranks), alone.toFixed(2), observed.toFixed(2)],
    ...[
      asPercent(ratio),
      `${asPercent(Math.min(...ratios))} to ${asPercent(Math.max(...ratios))}`,
    ],
    String(ratios.length),
  ]);
  const head = [
    'model',
    'ranks',
    'alone ms',
    'observed ms',
    'longer',
    'of pairs',
    'pairs',
  ];
  const right = ['right', 'right', 'right', 'right', 'right'] as const;
  return textTable([head, ...lines], ['left', 'left', ...right]);
}

/** Pairs that say less than they should. */
export function latePairs(rows: readonly ObservedRow[]): readonly string[] {
  return rows
    .filter(({ late }) => late > 0)
    .map(
      ({ late, model, ranks, ratios }) =>
        `${model}, ${ranks} ranks: in ${late} of ${ratios.length} pairs the methods were not timed before the steps that count.`,
    );
}

/** A ratio as what it is above 1: `+0.4 %`. */
function asPercent(ratio: number): string {
  const percent = 100 * (ratio - 1);
  return `${percent < 0 ? '−' : '+'}${Math.abs(percent).toFixed(1)} %`;
}
