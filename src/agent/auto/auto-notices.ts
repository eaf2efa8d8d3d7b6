/** What `auto` tells a person: what it chose, why, what made it change its mind. */
import type { Notice } from '../../shared/records.ts';
import type { Correction } from '../../shared/cost-model/network-correction.ts';
import { formatDuration } from '../../shared/units.ts';
import type { ExchangeShape } from '../collectives/collective.ts';
import type { Prediction } from '../collectives/prediction.ts';
import type { BucketCarrier, CarrierChange } from './collective-choice.ts';
import type { Observation } from './exchange-observation.ts';

const seconds = (time: number): string => formatDuration(time * 1000);
const count = (entries: number): string => Math.round(entries).toLocaleString('en');

/** One notice for each collective chosen, by the largest of its buckets. */
export function chosenNotice(
  carriers: readonly BucketCarrier[],
  origin: string,
): readonly Notice[] {
  const byCollective = Map.groupBy(carriers, ({ collective }) => collective?.id ?? '');
  return [...byCollective.values()].map((alike) => {
    const largest = alike.reduce((most, carrier) =>
      carrier.length > most.length ? carrier : most,
    );
    const [best, second] = largest.ranking as readonly [Prediction, Prediction?];
    const others =
      second === undefined ? '' : `, ${second.collective} ${seconds(second.seconds)}`;
    const buckets =
      alike.length === 1 ? '' : ` (the largest of ${alike.length} such buckets)`;
    return {
      level: 'info',
      code: 'COLLECTIVE_CHOSEN',
      message:
        `auto takes ${best.collective}: ${seconds(best.seconds)} predicted${others}, ` +
        `${expectation(largest.shape, largest.expectedUnion)}${buckets}, ${origin}`,
    };
  });
}

/** What a shape means, in the words of the papers. */
function expectation(shape: ExchangeShape, union: number): string {
  const { length, nnz, ranks } = shape;
  return nnz === undefined
    ? `N = ${count(length)}, P = ${ranks}`
    : `N = ${count(length)}, k = ${count(nnz)}, K = ${count(union)}, P = ${ranks}`;
}

export function movedNotice(moved: {
  readonly index: number;
  readonly carrier: BucketCarrier;
  readonly change: CarrierChange;
  /** What was assumed of K before. */
  readonly expectedUnion: number;
  readonly correction: Correction;
}): Notice {
  const { index, carrier, change, correction, expectedUnion } = moved;
  const { from, to } = change;
  const shape = carrier.shape;
  const before =
    shape.nnz === undefined ? '' : ` (K = ${count(expectedUnion)} was assumed)`;
  const seen = expectation(shape, carrier.expectedUnion) + before;
  return {
    level: 'info',
    code: 'COLLECTIVE_CHANGED',
    message:
      `auto moves bucket ${index} from ${from.collective} to ${to.collective}: ` +
      `${seconds(to.seconds)} instead of ${seconds(from.seconds)} predicted, as observed ` +
      [seen, ...corrections(correction)].join(', '),
  };
}

/** What `auto` would move to if it heeded times, which no two runs share. */
export function advisedNotice(
  index: number,
  { from, to }: CarrierChange,
  correction: Correction,
): Notice {
  return {
    level: 'info',
    code: 'COLLECTIVE_ADVICE',
    message:
      `by the times seen, ${corrections(correction).join(', ')}: bucket ${index} would ` +
      `take ${seconds(to.seconds)} by ${to.collective}, ${seconds(from.seconds)} by ` +
      `${from.collective}; auto stays, to be repeatable: collective=${to.collective}, or ` +
      'collective=adaptive, moves it',
  };
}

function corrections({ latency, bandwidth, reduction }: Correction): readonly string[] {
  const factors = [
    ['α', latency],
    ['β', bandwidth],
    ['γ', reduction],
  ] as const;
  return factors
    .filter(([, factor]) => factor !== 1)
    .map(([name, factor]) => `${name} is ${factor.toPrecision(2)} times the profile's`);
}

export function notPayingNotice(verdict: {
  readonly label: string;
  readonly seen: Observation;
  /** Seconds of an uncompressed exchange. */
  readonly uncompressed: number;
  /** Whether those were measured in this run. */
  readonly measured: boolean;
}): Notice {
  const { label, seen, uncompressed, measured } = verdict;
  return {
    level: 'warning',
    code: 'COMPRESSION_DOES_NOT_PAY',
    message:
      `${label} takes ${seconds(seen.seconds + seen.overhead)} an exchange ` +
      `(${seconds(seen.overhead)} of it compression), uncompressed ` +
      `${measured ? 'took' : 'is predicted to take'} ${seconds(uncompressed)}: ` +
      'on this network, do not compress',
  };
}
