/**
 * Asynchronous training: each rank pushes its gradients to servers and pulls weights from them, at
 * most `staleness` iterations ahead of the slowest (docs/decisions/052-asynchronous-servers.md),
 * and may compute several gradients at the same time (docs/decisions/053-trainer-threads.md).
 */
import { z } from 'zod';
import '../../checks/spec-key.ts';
import {
  beside,
  drawn,
  type Misfit,
  type ParallelismKind,
  type SharedWork,
} from './kind.ts';

const keys = {
  staleness: z
    .int()
    .min(0)
    .max(1_000_000)
    .optional()
    .describe(
      'For asynchronous: iterations a rank may be ahead of the slowest; default: 4',
    )
    .meta({ title: 'Staleness' }),
  servers: z
    .int()
    .min(1)
    .max(1024)
    .optional()
    .describe('For asynchronous: number of ranks that are also servers; default: 1')
    .meta({ title: 'Servers' }),
  trainerThreads: z
    .int()
    .min(1)
    .max(256)
    .optional()
    .describe(
      'For asynchronous: threads of a rank that compute gradients in parallel and share its ' +
        'residual; default: 1',
    )
    .meta({ title: 'Trainer threads' }),
  drainEvery: z
    .int()
    .min(1)
    .max(1_000_000_000)
    .optional()
    .describe(
      'Average number of iterations after which a rank sends all of its residual, for ' +
        'asynchronous; default: never',
    )
    .meta({ title: 'Drain every' }),
};

type AsynchronousKeys = { readonly kind: string } & z.infer<z.ZodObject<typeof keys>>;

/** The part of a spec that says how ranks share the work. */
interface Shared {
  readonly parallelism?: AsynchronousKeys | undefined;
}

export interface StalenessSettings {
  /** s: iterations that a rank may be ahead of the slowest. */
  readonly staleness: number;
  /** S: ranks that each hold a part of the weights. */
  readonly servers: number;
  /** Trainer threads per rank, at most s + 1. */
  readonly trainerThreads: number;
  /** Average iterations between drains of a rank's residual; default: never. */
  readonly drainEvery?: number | undefined;
}

const STALENESS = 4;
const SERVERS = 1;
const TRAINER_THREADS = 1;

/** Settings of asynchronous training; undefined if ranks wait for each other. */
export function asynchronousOf({ parallelism }: Shared): StalenessSettings | undefined {
  if (parallelism?.kind !== 'asynchronous') return undefined;
  const { drainEvery, servers = SERVERS, staleness = STALENESS } = parallelism;
  const { trainerThreads = TRAINER_THREADS } = parallelism;
  return {
    servers,
    staleness,
    trainerThreads,
    ...(drainEvery === undefined ? {} : { drainEvery }),
  };
}

function misfits(spec: SharedWork): readonly Misfit[] {
  const { backend, compareEvery, engine, optimizer, world } = spec;
  const { servers, staleness, trainerThreads } = asynchronousOf(spec as Shared)!;
  const isSgd = optimizer.kind === 'sgd';
  const found: (Misfit | false)[] = [
    servers > world.ranks && {
      place: 'parallelism.servers',
      message: `${servers} servers, but servers are ranks, and the run has ${world.ranks}`,
      next: `Give a number from 1 to ${world.ranks}.`,
    },
    trainerThreads > staleness + 1 && {
      place: 'parallelism.trainerThreads',
      message:
        `with ${trainerThreads} trainer threads the newest gradient is ` +
        `${trainerThreads - 1} iterations ahead of the oldest, but staleness is ${staleness}`,
      next: `Lower it to ${staleness + 1}, or raise staleness to ${trainerThreads - 1}.`,
    },
    trainerThreads > 1 &&
      backend === 'webgpu' && {
        place: 'backend',
        message: 'a GPU computes one gradient at a time, regardless of trainerThreads',
        next: 'Use backend: wasm, or remove parallelism.trainerThreads.',
      },
    !isSgd && {
      place: 'optimizer.kind',
      message: `servers apply gradients one at a time, which ${optimizer.kind} does not support`,
      next: 'Use optimizer.kind: sgd.',
    },
    isSgd &&
      optimizer.clipNorm !== undefined && {
        place: 'optimizer.clipNorm',
        message:
          'servers apply gradients one at a time, so there is no average to clip',
        next: 'Remove it.',
      },
    ...beside(
      spec,
      'asynchronous ranks do not wait for a sum, so there is nothing to overlap',
    ),
    compareEvery !== undefined && {
      place: 'compareEvery',
      message: 'asynchronous training has no average gradient to compare',
      next: 'Remove it, or use parallelism.kind: synchronous.',
    },
    engine === 'inline' && {
      place: 'engine',
      message:
        'a server must answer while its rank computes, which one thread cannot do',
      next: 'Use engine: thread, or remove engine.',
    },
    ...drawn(spec, 'servers hand out weights, but a synthetic gradient moves none'),
  ];
  return found.filter((one) => one !== false);
}

export const asynchronous = {
  id: 'asynchronous',
  brief: 'each rank on its own with parameter servers',
  hint: 'Ranks push gradients to parameter servers and wait only for a rank that is far behind',
  instead: 'asynchronous ranks push in every iteration',
  keys,
  misfits,
  uncorrected:
    'a full gradient needs the same weights on all ranks, which asynchronous ranks do not have',
  unsplittable: {
    message: 'stages wait for each other in every iteration, so none can be ahead',
    next: 'Use kind: synchronous or local-steps, or remove the pipeline.',
  },
  withoutUpdates: {
    message:
      'in asynchronous training, servers apply gradients of several ranks, each at its own rate',
    next: 'Remove residualUnits, or set parallelism.kind: synchronous.',
  },
  unpredictable: {
    message:
      'plan cannot predict asynchronous training: its ranks do not wait for each other, and ' +
      'the load of the servers depends on when each rank arrives',
    next: 'Set parallelism.kind: synchronous to predict that instead, or run the spec and measure.',
  },
  untraceable: 'asynchronous ranks share no iterations',
} as const satisfies ParallelismKind;
