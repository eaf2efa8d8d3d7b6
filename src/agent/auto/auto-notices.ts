/** The notices of `auto`: what it chose, why, and why it changed its choice. */
import type { Correction } from '../../shared/cost-model/network-correction.ts';
import type { Notice } from '../../shared/records/notice.ts';
import { formatCount, formatDuration } from '../../shared/words/units.ts';
import type { ExchangeShape } from '../collectives/collective.ts';
import type { Prediction } from '../collectives/prediction.ts';
import type { BucketCarrier, CarrierChange } from './collective-choice.ts';
import type { Observation } from './exchange-observation.ts';
import { bytesOf, entriesOf, unionsOf } from './reduction-shapes.ts';

const seconds = (time: number): string => formatDuration(time * 1000);

/** A notice of the δ that `auto` chose for the largest bucket; none if it chose none. */
export function deltaNotice(
  carriers: readonly BucketCarrier[],
  origin: string,
): readonly Notice[] {
  const [largest] = carriers
    .filter(({ choosesDelta }) => choosesDelta)
    .toSorted((a, b) => b.length - a.length);
  if (largest?.delta === undefined) return [];
  const { delta, length } = largest;
  const message =
    `auto chose δ = ${delta.toPrecision(3)}·N: streams of N = ${formatCount(length)} ` +
    `turn dense at ${formatCount(Math.ceil(delta * length))} entries, ${origin}`;
  return [{ level: 'info', code: 'DELTA_CHOSEN', message }];
}

/** One notice for each chosen collective, about its largest bucket. */
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
        `auto chose ${best.collective}: ${seconds(best.seconds)} predicted${others}, ` +
        `${expectation(largest, largest.shapes)}${buckets}, ${origin}`,
    };
  });
}

/** The assumed sums of a bucket, in the papers' terms. */
function expectation(
  { estimated, kind, length }: BucketCarrier,
  shapes: readonly ExchangeShape[],
): string {
  const equals = estimated ? '≈' : '=';
  const sums =
    kind === 'sparse'
      ? [
          `k ${equals} ${formatCount(entriesOf(shapes))}`,
          `K ${equals} ${formatCount(unionsOf(shapes))}`,
        ]
      : bytesOf(shapes) === 4 * length
        ? []
        : [bytesToSum(shapes, estimated)];
  const { ranks } = shapes[0]!;
  return [`N = ${formatCount(length)}`, ...sums, `P = ${ranks}`].join(', ');
}

function bytesToSum(shapes: readonly ExchangeShape[], estimated = false): string {
  const about = estimated ? 'about ' : '';
  const messages = shapes.length === 1 ? '' : ` in ${shapes.length} messages`;
  return `${about}${formatCount(bytesOf(shapes))} bytes to sum${messages}`;
}

export function movedNotice(moved: {
  readonly index: number;
  readonly carrier: BucketCarrier;
  readonly change: CarrierChange;
  /** The previously assumed sums. */
  readonly assumed: readonly ExchangeShape[];
  readonly correction: Correction;
}): Notice {
  const { index, carrier, change, correction, assumed } = moved;
  const { from, to } = change;
  const before =
    carrier.kind === 'sparse'
      ? ` (K = ${formatCount(unionsOf(assumed))} was assumed)`
      : assumed === carrier.shapes
        ? ''
        : ` (${formatCount(bytesOf(assumed))} bytes were assumed)`;
  const seen = expectation(carrier, carrier.shapes) + before;
  return {
    level: 'info',
    code: 'COLLECTIVE_CHANGED',
    message:
      `auto moved bucket ${index} from ${from.collective} to ${to.collective}: ` +
      `${seconds(to.seconds)} instead of ${seconds(from.seconds)} predicted, after observing ` +
      [seen, ...corrections(correction)].join(', '),
  };
}

/** Notice of what `auto` would choose by measured times, which differ from run to run. */
export function advisedNotice(
  index: number,
  { from, to }: CarrierChange,
  correction: Correction,
): Notice {
  return {
    level: 'info',
    code: 'COLLECTIVE_ADVICE',
    message:
      `judging by measured times (${corrections(correction).join(', ')}), bucket ${index} ` +
      `would take ${seconds(to.seconds)} over ${to.collective} and ${seconds(from.seconds)} ` +
      `over ${from.collective}; auto keeps its choice so that runs can be repeated exactly; set ` +
      `collective=${to.collective} or collective=adaptive to change it`,
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
    .map(
      ([name, factor]) =>
        `${name} is ${factor.toPrecision(2)} times its value in the network profile`,
    );
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
  const compressed = seen.seconds + seen.overhead;
  return {
    level: 'warning',
    code: 'COMPRESSION_DOES_NOT_PAY',
    message:
      `${label} takes ${seconds(compressed)} per exchange, ` +
      `${seconds(seen.overhead)} of it for compression; an uncompressed exchange ` +
      `${measured ? 'took' : 'is predicted to take'} ${seconds(uncompressed)}: ` +
      'do not compress on this network',
    exchange: {
      compressed: 1000 * compressed,
      uncompressed: 1000 * uncompressed,
      measured,
    },
  };
}
