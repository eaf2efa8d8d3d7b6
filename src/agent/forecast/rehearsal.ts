/**
 * A rehearsal of an exchange plan: one rank alone runs the plan's compressors over Gaussian
 * noise, bucket by bucket as in a run, and what it would say to other ranks is noted instead
 * of sent. So every method's payload sizes, messages and time are its own, not a second
 * description of it; what depends on the gradient's values (a fixed threshold, the length of
 * variable codes) is that of noise with a deviation of 0.01.
 *
 * Cost: a few exchanges; memory of gradient and residual, 4·n bytes each.
 */
import type { PayloadKind } from '../../shared/catalogue.ts';
import type { ExchangePlan } from '../../shared/exchange-plan.ts';
import { payloadRegion } from '../collectives/payload-region.ts';
import type { Combined, Payload } from '../memory/payload.ts';
import { carriageOf, type CommunicationRequest } from '../compression/method.ts';
import { ArenaSite } from '../sites/arena-site.ts';
import { planBuckets, type Bucket, type FlatTensor } from '../plan/buckets.ts';
import type { GradientBucket } from '../sites/gradient-site.ts';
import { Arena, type Vector } from '../memory/arena.ts';
import { CounterRandom } from '../kernels/random.ts';
import { loadWasmKernels } from '../kernels/wasm/load.ts';
import { PhaseClock } from '../profile/phase-clock.ts';

export interface RehearsedMessage {
  readonly operation: CommunicationRequest['operation'];
  readonly kind: PayloadKind;
  /** N, elements. */
  readonly length: number;
  readonly bytes: number;
  /** k, of sparse payloads. */
  readonly nnz?: number | undefined;
}

export interface Rehearsal {
  /** Of one exchange, all buckets. */
  readonly messages: readonly RehearsedMessage[];
  /** Seconds of compression and of decompression, one rank's payload decoded. */
  readonly compress: number;
  readonly decompress: number;
}

const WARM_UP = 1;
const MEASURED = 3;
const DEVIATION = 0.01;
/** Values of noise that are drawn, and then repeated: a prime, so that buckets differ. */
const NOISE = 1_048_573;

/** @param iteration of the run that is rehearsed: schedules and warm-ups count by it */
export async function rehearse(
  plan: ExchangePlan,
  tensors: readonly FlatTensor[],
  iteration: number,
): Promise<Rehearsal> {
  const length = tensors.reduce((sum, tensor) => sum + tensor.length, 0);
  const arena = new Arena();
  const kernels = loadWasmKernels(arena);
  const clock = new PhaseClock();
  const gradient = { offset: arena.allocateVector(length).offset, length };
  using site = new ArenaSite({ arena, kernels, clock, gradient });
  const buckets = planBuckets(tensors, plan);
  const parts = buckets.map((bucket) => {
    const { method, parameters } = bucket.policy;
    return site.open({ bucket, method, parameters, seed: 1, rank: 0, world: 1 });
  });
  try {
    let messages: RehearsedMessage[] = [];
    let compress = Infinity;
    let decompress = Infinity;
    for (let round = 0; round < WARM_UP + MEASURED; round++) {
      fillNoise(arena, gradient, round);
      messages = [];
      clock.begin();
      for (const [index, part] of parts.entries()) {
        await exchangeAlone(part, buckets[index]!, iteration + round, clock, messages);
      }
      const { phases } = clock.end();
      if (round < WARM_UP) continue;
      // The least: whatever else this machine does can only add to it.
      compress = Math.min(compress, phases.compress / 1000);
      decompress = Math.min(decompress, phases.decompress / 1000);
    }
    return { messages, compress, decompress };
  } finally {
    for (const part of parts) part[Symbol.dispose]();
  }
}

/** As `PlanExecution` does it, with nobody to talk to. */
async function exchangeAlone(
  part: GradientBucket,
  { policy }: Bucket,
  iteration: number,
  clock: PhaseClock,
  messages: RehearsedMessage[],
): Promise<void> {
  const { reducible } = carriageOf(policy.method, policy.parameters);
  const communicate = (request: CommunicationRequest): Combined => {
    const { operation, payload } = request;
    const { kind, length } = payload;
    messages.push({
      operation,
      kind,
      length,
      bytes: payloadRegion(payload).bytes,
      ...(payload.kind === 'sparse' ? { nnz: payload.count } : {}),
    });
    return answered(operation, payload);
  };
  await clock.follow('compress', () => part.firstNotFinite());
  if (part.exchange !== undefined) {
    await clock.measure('compress', () =>
      part.exchange!(iteration, (request) => Promise.resolve(communicate(request))),
    );
    return;
  }
  const payload = await clock.follow('compress', () => part.encode(iteration));
  const operation = reducible || payload.kind === 'dense' ? 'reduce' : 'gather';
  const combined = communicate({ operation, payload });
  await clock.follow('decompress', () => part.decode(combined, iteration));
}

/** What a world of one makes of a payload. */
function answered(
  operation: CommunicationRequest['operation'],
  payload: Payload,
): Combined {
  const { data } = payload;
  if (operation !== 'reduce') return { form: 'gathered', payloads: [payload] };
  if (payload.kind !== 'sparse') return { form: 'dense', data };
  return { form: 'sparse', count: payload.count, data };
}

function fillNoise(arena: Arena, gradient: Vector, round: number): void {
  const random = new CounterRandom({ seed: 1, iteration: round });
  const values = arena.f32(gradient);
  const drawn = Math.min(NOISE, values.length);
  for (let i = 0; i < drawn; i++) {
    // Box and Muller's transform.
    const radius = Math.sqrt(-2 * Math.log(1 - random.uniform(2 * i)));
    const angle = 2 * Math.PI * random.uniform(2 * i + 1);
    values[i] = DEVIATION * radius * Math.cos(angle);
  }
  for (let filled = drawn; filled < values.length; filled += drawn) {
    const rest = Math.min(drawn, values.length - filled);
    values.copyWithin(filled, 0, rest);
  }
}
