/**
 * A rehearsal of a plan's compressors: one rank runs and times them on Gaussian noise,
 * bucket by bucket as in a run, without peers. What they send is ignored, because the
 * methods' definitions state it.
 *
 * Cost: a few exchanges; memory of gradient and residual, 4·n bytes each. Of a gradient that no arena
 * has room for, the first buckets stand for all, in proportion to their elements.
 */
import { ASSUMED_DEVIATION } from '../methods/expected-messages.ts';
import type { Combined } from '../memory/payload.ts';
import type { GradientBucket } from '../methods/bucket-compressor.ts';
import {
  carriageOf,
  type Communicate,
  type CommunicationRequest,
} from '../methods/method.ts';
import { ArenaSite } from '../sites/arena-site.ts';
import type { Bucket } from '../plan/buckets.ts';
import { timedExchange } from '../sites/timed-exchange.ts';
import { fitsWhole } from '../plan/windows.ts';
import { Arena, ARENA_BYTES, type Vector } from '../memory/arena.ts';
import { CounterRandom } from '../kernels/random.ts';
import { loadWasmKernels } from '../kernels/wasm/load.ts';
import { PhaseClock } from '../profile/phase-clock.ts';
import { cos, log, sin } from '../../shared/numbers/portable-math.ts';

/** Seconds of one exchange, all buckets. */
export interface Rehearsal {
  readonly compress: number;
  /** One rank's payload decoded. */
  readonly decompress: number;
  /** The part of this that each rank's payload takes, of buckets whose payloads are gathered. */
  readonly gathered: number;
}

/** An iteration later than any warm-up or ramp that parameters allow. */
const STEADY = 2_000_000_000;
const WARM_UP = 1;
const MEASURED = 3;
/** Number of noise values drawn and then repeated: a prime, so that buckets differ. */
const NOISE = 262_139;
/** The offset between rounds, so that a residual does not meet the same gradient. */
const STRIDE = 65_537;

/** Elements of the buckets that stand for a gradient too large for an arena. */
const PART = 100_000_000;

/** Rehearses the buckets of all tensors of a model. */
export async function rehearse(all: readonly Bucket[]): Promise<Rehearsal> {
  if (fitsWhole(all, { arenaBytes: ARENA_BYTES, ranks: 1 })) return rehearseAll(all);
  const buckets = firstOf(all);
  const share = lengthOf(all) / lengthOf(buckets);
  const { compress, decompress, gathered } = await rehearseAll(buckets);
  return {
    compress: share * compress,
    decompress: share * decompress,
    gathered: share * gathered,
  };
}

const lengthOf = (buckets: readonly Bucket[]): number =>
  buckets.reduce((sum, bucket) => sum + bucket.length, 0);

/** The first buckets, side by side; at least one. */
function firstOf(buckets: readonly Bucket[]): readonly Bucket[] {
  const first: Bucket[] = [];
  let flat = 0;
  for (const bucket of buckets) {
    const { length } = bucket;
    if (first.length > 0 && flat + length > PART) break;
    first.push({ ...bucket, runs: [{ flat, start: 0, length }] });
    flat += length;
  }
  return first;
}

async function rehearseAll(buckets: readonly Bucket[]): Promise<Rehearsal> {
  const length = lengthOf(buckets);
  const arena = new Arena();
  const kernels = loadWasmKernels(arena);
  const clock = new PhaseClock();
  const gradient = { offset: arena.allocateVector(length).offset, length };
  using site = new ArenaSite({ arena, kernels, clock, gradient });
  const parts = buckets.map((bucket) => {
    const { method, parameters } = bucket.policy;
    return site.open({ bucket, method, parameters, seed: 1, rank: 0, world: 1 });
  });
  try {
    let least = { compress: Infinity, decompress: Infinity, gathered: Infinity };
    for (let round = 0; round < WARM_UP + MEASURED; round++) {
      fillNoise(arena, gradient, round);
      const sum = { compress: 0, decompress: 0, gathered: 0 };
      for (const [index, part] of parts.entries()) {
        clock.begin();
        const gathers = await exchangeAlone(
          part,
          buckets[index]!,
          STEADY + round,
          clock,
        );
        const { compress, decompress } = clock.end().phases;
        sum.compress += compress / 1000;
        sum.decompress += decompress / 1000;
        if (gathers) sum.gathered += decompress / 1000;
      }
      if (round < WARM_UP) continue;
      // The minimum, because other work on this machine can only add to it.
      least = {
        compress: Math.min(least.compress, sum.compress),
        decompress: Math.min(least.decompress, sum.decompress),
        gathered: Math.min(least.gathered, sum.gathered),
      };
    }
    return least;
  } finally {
    for (const part of parts) part[Symbol.dispose]();
  }
}

/**
 * Exchanges as `PlanExecution` does, but without peers.
 * @returns whether the payload of every rank is decoded: scalars are only added up
 */
async function exchangeAlone(
  part: GradientBucket,
  { policy }: Bucket,
  iteration: number,
  clock: PhaseClock,
): Promise<boolean> {
  const { reducible } = carriageOf(policy.method, policy.parameters);
  await clock.follow('compress', () => part.begin());
  if (part.talks) {
    let gathers = false;
    const answer: Communicate = (request) => {
      gathers ||= isDecoded(request);
      return Promise.resolve(answered(request));
    };
    await timedExchange(clock, part, iteration, answer);
    return gathers;
  }
  const payload = await clock.follow('compress', () => part.encode(iteration));
  const operation = reducible || payload.kind === 'dense' ? 'reduce' : 'gather';
  const request = { operation, payload } as const;
  const combined = answered(request);
  await clock.follow('decompress', () => part.decode(combined, iteration));
  return isDecoded(request);
}

const isDecoded = ({ operation, payload }: CommunicationRequest): boolean =>
  operation === 'gather' && payload.kind !== 'scalars';

/** Combines the payload of a single rank. */
function answered({ operation, payload }: CommunicationRequest): Combined {
  const { data } = payload;
  if (operation !== 'reduce') return { form: 'gathered', payloads: [payload] };
  if (payload.kind !== 'sparse') return { form: 'dense', data };
  return { form: 'sparse', count: payload.count, data };
}

function fillNoise(arena: Arena, gradient: Vector, round: number): void {
  const values = arena.f32(gradient);
  const noise = noiseOf(Math.min(NOISE, values.length));
  const start = (round * STRIDE) % noise.length;
  values.set(noise.subarray(start));
  values.set(noise.subarray(0, start), noise.length - start);
  for (let filled = noise.length; filled < values.length; filled += noise.length) {
    const rest = Math.min(noise.length, values.length - filled);
    values.copyWithin(filled, 0, rest);
  }
}

/** Drawn values, cached (at most 1 MiB), because drawing takes longer than most methods. */
let drawn = new Float32Array(0);

/** Gaussian values by Box and Muller's transform, two from two uniform numbers. */
function noiseOf(length: number): Float32Array {
  if (drawn.length < length) {
    const random = new CounterRandom({ seed: 1 });
    drawn = new Float32Array(length);
    for (let i = 0; i < length; i += 2) {
      const radius = Math.sqrt(-2 * log(1 - random.uniform(i)));
      const angle = 2 * Math.PI * random.uniform(i + 1);
      drawn[i] = ASSUMED_DEVIATION * radius * cos(angle);
      if (i + 1 < length) drawn[i + 1] = ASSUMED_DEVIATION * radius * sin(angle);
    }
  }
  return drawn.subarray(0, length);
}
