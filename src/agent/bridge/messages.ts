/**
 * Messages between a rank and its program (docs/decisions/081): JSON behind a length of four
 * bytes. The program's are checked here: it is the user's own code in another language.
 */
import { z } from 'zod';
import type { ErrorData } from '../../shared/errors/errors.ts';
import { escapeControls } from '../../shared/words/printable.ts';
import { checkedMessage, type Refusal } from '../../shared/protocol/checked-message.ts';
import { MOST_RANKS } from '../../shared/protocol/requests.ts';
import type { FrameDecoder } from '../../shared/protocol/frame.ts';
import { jsonDecoder } from './json-frames.ts';

export const BRIDGE_VERSION = 1;

/** Characters of a name. */
const MOST_NAME = 1000;

const count = z.int().min(0);
const duration = z.number().min(0);
/** A name as it may be shown: it is the program's own text. */
const name = z
  .string()
  .min(1)
  .max(MOST_NAME)
  .transform((text) => escapeControls(text).slice(0, MOST_NAME));
/** JSON has no numbers that are not finite. */
const measured = z.union([
  z.number(),
  z.enum(['NaN', 'Infinity', '-Infinity']).transform(Number),
]);

/** Most buckets of a program. */
export const MOST_BUCKETS = 10_000;

const layoutSchema = z.object({
  /** The bucket's number in `buckets` of steps. */
  place: count.max(MOST_BUCKETS),
  /** The names of its first and last tensor: `layer1.weight … layer3.bias`. */
  name,
  tensors: count,
  length: count,
  bytes: count,
  /** PyTorch's name of its elements' type: `bfloat16`. */
  dtype: z.string().max(40),
  /** Whether a hook of the program communicates it, so that what is sent is not known. */
  encoded: z.boolean(),
  /** The ranks that average it, if they are not all. */
  ranks: z.array(count).max(MOST_RANKS).readonly().optional(),
});
export type BucketLayout = Readonly<z.infer<typeof layoutSchema>>;

/**
 * A bucket in a step: its place, its begin and end from the begin of the first, the part of its time for which
 * the program waits, and that behind computing, and how often it was averaged; where several are in flight, each
 * time is the oldest one's.
 */
const bucketTimesSchema = z.tuple([
  count,
  duration,
  duration,
  duration,
  duration,
  z.int().min(1),
]);

/** Models that may step in turns: a set of them is a number of 32 bits. */
export const MOST_MODELS = 30;

/** Adam with AMSGrad has three. */
const MOST_STATES = 16;

const tensorSchema = z.object({ name, shape: z.array(count).max(64).readonly() });

/** Most spans of a step that is traced. */
const MOST_PROGRAM_SPANS = 4000;

/** Nanoseconds of a step, which takes less than twelve days. */
const nanoseconds = z
  .int()
  .min(0)
  .max(2 ** 50);

/** Phases that a program computes, in their spans of a trace. */
const computedPhase = z.enum(['data', 'forward', 'backward', 'apply']);

/** A step's moments, if they were asked for: nanoseconds since its begin. */
const programTraceSchema = z.object({
  /** Time from its begin to the next one's, as these are told. */
  wall: nanoseconds.default(0),
  /** Spans: [phase, begin, duration]. */
  spans: z
    .array(z.tuple([computedPhase, nanoseconds, nanoseconds]))
    .max(MOST_PROGRAM_SPANS)
    .readonly(),
  /** Spans beyond the most. */
  dropped: count.default(0),
  /** Moments at which all of the gradient was there, and the average. */
  exchange: z.tuple([nanoseconds, nanoseconds]).optional(),
  /**
   * Buckets that the program has averaged by itself: [place, begin, end, the moment since which its time is its own
   * and not that of the one before, the moment at which all of the gradient was there].
   */
  sums: z
    .array(z.tuple([count, nanoseconds, nanoseconds, nanoseconds, nanoseconds]))
    .max(MOST_PROGRAM_SPANS)
    .readonly()
    .default([]),
  /** Times in which ranks have waited for something of rank 0's before a forward pass: [begin, end]. */
  met: z
    .array(z.tuple([nanoseconds, nanoseconds]))
    .max(MOST_PROGRAM_SPANS)
    .readonly()
    .default([]),
});
export type ProgramTrace = Readonly<z.infer<typeof programTraceSchema>>;

const stepSchema = z.object({
  /** When it began, ms since 1970. */
  at: z.number(),
  /** Milliseconds, as all that follow. */
  wall: duration,
  /** Absent where no hook sees it: a program without DDP is seen by its optimiser alone. */
  data: duration.optional(),
  forward: duration.optional(),
  backward: duration.optional(),
  apply: duration,
  /** Communication of its own that computation does not hide, and that it hides. */
  wait: duration.optional(),
  overlapped: duration.optional(),
  /** Dense size of what it averaged by itself. */
  bytes: count.optional(),
  /** The buckets that it averaged by itself. */
  buckets: z.array(bucketTimesSchema).max(MOST_BUCKETS).readonly().optional(),
  /** The learning rate of the first group of parameters. */
  lr: z.number(),
  trace: programTraceSchema.optional(),
});
const helloSchema = z.object({
  type: z.literal('hello'),
  version: count,
  mode: z.enum(['join', 'observe']),
  pid: count,
  python: name,
  torch: name,
});

const attachSchema = z.object({
  type: z.literal('attach'),
  tensors: z.array(tensorSchema).min(1).max(1_000_000).readonly(),
  device: z.string().max(1000).optional(),
  /** Whether a GradScaler skips steps whose gradients are not finite. */
  scaler: z.boolean().default(false),
  /**
   * Models that step in turns, each with its number of tensors, in the tensors' order; default: each
   * step is of all tensors.
   */
  turns: z
    .array(z.object({ name, tensors: count.min(1) }))
    .min(2)
    .max(MOST_MODELS)
    .readonly()
    .optional(),
});
export type Attach = Readonly<z.infer<typeof attachSchema>>;

const steppedSchema = z.object({
  type: z.literal('stepped'),
  step: stepSchema,
  values: z.record(z.string(), measured).default({}),
  /** Buckets that no step has had before. */
  layout: z.array(layoutSchema).max(MOST_BUCKETS).readonly().default([]),
  /** The line from which the loss was read, if the program has printed and not logged it; told once. */
  printed: z.string().max(200).optional(),
});
export type Stepped = Readonly<z.infer<typeof steppedSchema>>;

/** The end of being observed: something failed in it, and the program goes on. */
const unseenSchema = z.object({ type: z.literal('unseen'), why: name });
export type Unseen = Readonly<z.infer<typeof unseenSchema>>;

/** A message of an observed program while it runs. */
export type Observed = Stepped | Unseen;

/** Methods' state as a rank has saved it, before the first gradient. */
const restoreSchema = z.object({
  type: z.literal('restore'),
  method: name,
  /** Iterations that it had made. */
  iteration: count,
  /** Whether this rank saved it, among as many. */
  own: z.boolean(),
  states: z.array(z.base64()).max(1_000_000).readonly(),
});
export type Restore = Readonly<z.infer<typeof restoreSchema>>;

const fromProgramSchema = z.discriminatedUnion('type', [
  helloSchema,
  attachSchema,
  z.object({ type: z.literal('mapped') }),
  /** Elements from here on are in the vector; `models`: only those of these, which step in turns. */
  z.object({
    type: z.literal('ready'),
    from: count,
    models: z.array(count).min(1).max(MOST_MODELS).readonly().optional(),
  }),
  steppedSchema,
  unseenSchema,
  /** `states`: vectors of the optimisers' state, each as long as the weights. */
  z.object({ type: z.literal('written'), states: count.max(MOST_STATES).default(0) }),
  z.object({ type: z.literal('loaded') }),
  /** Asks for what the program is to keep in its own checkpoint. */
  z.object({ type: z.literal('save') }),
  restoreSchema,
  /** `last`: the program's own code has ended, too; its interpreter ends next. */
  z.object({ type: z.literal('end'), last: z.boolean().optional() }),
]);
export type FromProgram = Readonly<z.infer<typeof fromProgramSchema>>;

export type ToProgram =
  | { readonly type: 'memory'; readonly path: string; readonly bytes: number }
  | { readonly type: 'attached' }
  /**
   * `finite`: whether the vector is the average; otherwise there is none, on any rank. `trace`: whether
   * the step is to be told with its moments.
   */
  | {
      readonly type: 'averaged';
      readonly hold: boolean;
      readonly finite: boolean;
      readonly trace?: true;
    }
  /** An observed program is to tell these steps with their moments, unless it has told them. */
  | { readonly type: 'trace'; readonly first: number; readonly steps: number }
  /** `vector`: 0 for the weights, then those of the optimisers' state. */
  | { readonly type: 'read' | 'write'; readonly vector: number }
  | { readonly type: 'go'; readonly stop: boolean }
  /** `residual`: whether the vector is one; `states` in base64, empty if they are too long. */
  | {
      readonly type: 'saved';
      readonly iteration: number;
      readonly method: string;
      readonly residual: boolean;
      readonly states: readonly string[];
    }
  | { readonly type: 'failed'; readonly error: ErrorData };

/** Decodes what a program sends. It throws at what is no message (`BRIDGE_INVALID`). */
export const programDecoder = (rank: number): FrameDecoder<FromProgram> =>
  jsonDecoder((raw) => {
    const refusal: Refusal = {
      code: 'BRIDGE_INVALID',
      what: 'message of the program',
      rank,
    };
    return checkedMessage(fromProgramSchema, raw, refusal);
  });
