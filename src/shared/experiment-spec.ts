/**
 * The experiment spec: everything a run is made of. One zod schema validates it, names
 * the form's fields and makes the JSON Schema. Structure is checked here; the names of
 * models, datasets, methods and their parameters are checked by the agent that will run
 * them, against its own registries.
 */
import { z } from 'zod';
import { inputError, type GradwireError } from './errors.ts';
import { exchangeSpecSchema } from './exchange-plan.ts';
import { networkSpecSchema } from './emulated-network.ts';
import { nearest } from './nearest.ts';
import { LOCAL_NODE } from './node-entry.ts';
import { parallelismSchema } from './parallelism.ts';
import { plainIssue } from './plain-issue.ts';
import { portRangeSchema } from './port-range.ts';

const positive = z.number().positive();
const columnName = z.string().min(1);

/** Characters that a model's file may have. */
export const MOST_MODEL_SOURCE = 256_000;

const syntheticSchema = z.strictObject({
  profile: z.string().optional().describe('The network whose layers it has'),
  layers: z
    .array(
      z
        .int()
        .min(1)
        .max(2 ** 29),
    )
    .min(1)
    .max(10_000)
    .optional()
    .describe('Elements of each layer, first to last, in place of a profile'),
  computeMs: z
    .number()
    .min(0)
    .max(3_600_000)
    .optional()
    .describe('Milliseconds that it takes; default: those of a GPU of 10 TFLOP/s'),
  distribution: z
    .enum(['normal', 'laplace'])
    .default('normal')
    .describe('Of its values'),
  overlap: z
    .number()
    .min(0)
    .max(1)
    .default(0.5)
    .describe('Share of its values that all ranks have alike'),
});
export type SyntheticSpec = z.infer<typeof syntheticSchema>;

export const experimentSpecSchema = z.strictObject({
  name: z.string().min(1).max(120).default('untitled').describe('Shown in lists'),
  description: z.string().max(2000).optional().describe('What it is for'),
  workload: z.strictObject({
    model: z
      .string()
      .describe('Which network is trained: a name, or a file of your own'),
    modelSource: z
      .string()
      .max(MOST_MODEL_SOURCE)
      .optional()
      .describe('The text of that file; it is read when the spec is'),
    dataset: z.string().describe('What it is trained on'),
    features: z
      .int()
      .min(1)
      .max(2 ** 30)
      .optional()
      .describe('Features of sparse samples: weights of a linear model'),
    columns: z
      .strictObject({
        label: columnName.optional(),
        numeric: z
          .array(columnName)
          .optional()
          .describe(
            'Columns of numbers, as ["price", "age"]; without lists: all that are',
          ),
        categorical: z
          .array(columnName)
          .optional()
          .describe('Columns of categories, as ["city"]; without lists: all others'),
      })
      .optional()
      .describe(
        'Columns of a CSV file: of the label [label], of numbers, of categories',
      ),
    synthetic: syntheticSchema
      .optional()
      .describe('What the model synthetic-gradient makes up'),
    data: z
      .string()
      .optional()
      .describe('The data set’s file, or the directory of its files'),
    batchPerRank: z.int().min(1).max(65_536).default(32).describe('Samples per rank'),
  }),
  world: z
    .strictObject({
      ranks: z.int().min(1).max(1024).default(4).describe('Training processes'),
      nodes: z
        .array(z.string())
        .min(1)
        .refine(
          (nodes) => new Set(nodes).size === nodes.length,
          'a machine comes twice',
        )
        .default([LOCAL_NODE])
        .describe('Machines'),
      shareGpu: z
        .boolean()
        .optional()
        .describe(
          'Whether ranks of a machine may share its GPU; else each has one alone',
        ),
      ports: portRangeSchema
        .optional()
        .describe(
          'Ports that ranks on this computer may listen on, as 20000-20100; machines have their own',
        ),
    })
    .prefault({}),
  optimizer: z
    .strictObject({
      kind: z.string().default('sgd'),
      lr: positive.default(0.05).describe('Learning rate'),
      momentum: z.number().min(0).lt(1).default(0.9).describe('Of sgd and lars'),
      nesterov: z.boolean().optional().describe('Nesterov’s momentum, of sgd'),
      weightDecay: z
        .number()
        .min(0)
        .max(1)
        .optional()
        .describe('Default: 0.01 for adamw, else 0'),
      beta1: z
        .number()
        .min(0)
        .lt(1)
        .optional()
        .describe('Of adam and adamw; default: 0.9'),
      beta2: z
        .number()
        .min(0)
        .lt(1)
        .optional()
        .describe('Of adam and adamw; default: 0.999'),
      epsilon: positive
        .optional()
        .describe('Of adam and adamw, default: 1e-8; of adagrad, default: 1e-10'),
      trust: positive.optional().describe('Trust coefficient of lars; default: 0.001'),
      clipNorm: positive
        .optional()
        .describe(
          'Largest norm of the averaged gradient; what is longer is scaled down',
        ),
      fullGradientEvery: z
        .int()
        .min(1)
        .max(1_000_000_000)
        .optional()
        .describe(
          'SVRG: iterations from one gradient of all samples to the next, which takes noise out of those of batches; default: never',
        ),
      schedule: z
        .enum(['constant', 'cosine', 'linear', 'polynomial', 'step'])
        .default('constant'),
      warmupIterations: z
        .int()
        .min(0)
        .max(1_000_000_000)
        .optional()
        .describe(
          'Iterations over which the rate grows to its full height; default: 0',
        ),
      scaleWithRanks: z
        .boolean()
        .optional()
        .describe('Multiply the rate by the number of ranks'),
      decayAt: z
        .array(z.int().min(1))
        .max(100)
        .optional()
        .describe(
          'Iterations at which the schedule step lowers the rate, as [1000, 2000]',
        ),
      decayFactor: positive
        .lt(1)
        .optional()
        .describe('What it multiplies the rate by; default: 0.1'),
      power: positive
        .max(10)
        .optional()
        .describe('Of the schedule polynomial; default: 2'),
    })
    .prefault({}),
  exchange: exchangeSpecSchema.prefault({}),
  parallelism: parallelismSchema
    .optional()
    .describe('How ranks share the work; default: they exchange in every iteration'),
  iterations: z.int().min(1).max(1_000_000_000).default(400),
  compareEvery: z
    .int()
    .min(1)
    .max(1_000_000_000)
    .optional()
    .describe(
      'Iterations from one comparison of the applied gradient with the uncompressed one to the next',
    ),
  inspectEvery: z
    .int()
    .min(1)
    .max(1_000_000_000)
    .optional()
    .describe(
      'Iterations from one record of what each bucket sent and kept back, and of how large activations are, to the next',
    ),
  evaluateEvery: z
    .int()
    .min(0)
    .default(50)
    .describe('Iterations between evaluations on the test set; 0: only at the end'),
  seed: z.int().min(0).max(0xffffffff).default(1),
  backend: z.enum(['auto', 'wasm', 'webgpu']).default('auto'),
  engine: z
    .enum(['auto', 'thread', 'inline'])
    .default('auto')
    .describe(
      'Whether the exchange has a thread of its own; auto: if cores suffice and no GPU computes',
    ),
  overlap: z
    .boolean()
    .optional()
    .describe(
      'Exchange the gradients of the last layers while those of the first are being computed',
    ),
  doubleBuffer: z
    .boolean()
    .optional()
    .describe(
      'Exchange a gradient while the next is being computed: each is applied one iteration late',
    ),
  transport: z
    .enum(['auto', 'tcp', 'native'])
    .default('auto')
    .describe('What carries messages; auto: native, on libc’s sockets, where it loads'),
  network: networkSpecSchema
    .optional()
    .describe('A network to emulate between the ranks; default: the real one'),
  encrypt: z
    .boolean()
    .optional()
    .describe(
      'Encrypt what ranks send one another (AES-256-GCM); default: when they are on several machines',
    ),
  onFailure: z
    .enum(['stop', 'restart'])
    .default('stop')
    .describe(
      'When a rank or a machine is lost; restart: the run goes on from its last checkpoint',
    ),
  checkpointEvery: z
    .int()
    .min(0)
    .max(1_000_000_000)
    .optional()
    .describe(
      'Iterations between checkpoints; default: 100 where onFailure is restart, else none',
    ),
  journalMB: z
    .int()
    .min(1)
    .max(1_000_000)
    .optional()
    .describe(
      'Megabytes of records that a machine keeps until an app has stored them, before it thins the oldest; default: 256',
    ),
  timeoutSeconds: positive
    .max(3600)
    .default(3)
    .describe('How long a rank may give no sign of life before the run fails'),
  patienceSeconds: positive
    .max(86_400)
    .default(600)
    .describe('How long a rank waits for one that lives but sends nothing'),
});

export type ExperimentSpec = z.infer<typeof experimentSpecSchema>;

const CHECKPOINT_EVERY = 100;

/** Iterations between checkpoints; 0: none are kept. */
export const checkpointInterval = ({
  checkpointEvery,
  onFailure,
}: Pick<ExperimentSpec, 'checkpointEvery' | 'onFailure'>): number =>
  checkpointEvery ?? (onFailure === 'restart' ? CHECKPOINT_EVERY : 0);

const JOURNAL_MB = 256;

/** Bytes that the run's journal on a machine may have before its oldest details are thinned. */
export const journalBytes = ({
  journalMB,
}: Pick<ExperimentSpec, 'journalMB'>): number => (journalMB ?? JOURNAL_MB) * 1_000_000;

/** The machines that get ranks: the first ones, where there are more machines than ranks. */
export const nodesOf = ({ world }: Pick<ExperimentSpec, 'world'>): readonly string[] =>
  world.nodes.slice(0, world.ranks);

/** Whether ranks encrypt what they send one another: between machines unless told not to. */
export const isEncrypted = (spec: Pick<ExperimentSpec, 'encrypt' | 'world'>): boolean =>
  spec.encrypt ?? nodesOf(spec).length > 1;

/**
 * A raw value (parsed YAML or JSON) as a spec, defaults filled in.
 * @throws GradwireError `SPEC_UNKNOWN_KEY`, `SPEC_INVALID`: the first problem found,
 * with its path, the value given and the nearest valid key.
 */
export function parseExperimentSpec(raw: unknown, place = 'spec'): ExperimentSpec {
  const parsed = experimentSpecSchema.safeParse(raw);
  if (parsed.success) return parsed.data;
  throw explainIssue(experimentSpecSchema, raw, parsed.error, { code: 'SPEC', place });
}

/**
 * The first issue of a failed parse as one coded error: `<code>_UNKNOWN_KEY` or
 * `<code>_INVALID`, with the path, the value and the nearest valid key.
 */
export function explainIssue(
  schema: z.ZodType,
  raw: unknown,
  error: z.ZodError,
  where: { readonly code: string; readonly place: string },
): GradwireError {
  const issue =
    error.issues.find((candidate) => candidate.code === 'unrecognized_keys') ??
    error.issues[0]!;
  const path = issue.path.map(String);
  if (issue.code === 'unrecognized_keys') {
    const key = issue.keys[0]!;
    const valid = validKeys(schema, path);
    const suggestion = nearest(key, valid);
    return inputError(
      `${where.code}_UNKNOWN_KEY`,
      `unknown key "${[...path, key].join('.')}"`,
      {
        place: where.place,
        next:
          suggestion !== undefined
            ? `Did you mean "${[...path, suggestion].join('.')}"?`
            : valid.length > 0
              ? `Valid keys here: ${valid.join(', ')}.`
              : 'It takes none.',
      },
    );
  }
  const value = valueAt(raw, path);
  const shown = value === undefined ? 'is missing' : `is ${JSON.stringify(value)}`;
  return inputError(
    `${where.code}_INVALID`,
    `"${path.join('.') || '(whole)'}" ${shown}: ${plainIssue(issue)}`,
    { place: where.place, next: 'Correct the value and try again.' },
  );
}

/** Keys an object schema takes at a path, read from its JSON Schema. */
function validKeys(schema: z.ZodType, path: readonly string[]): string[] {
  type Node = { properties?: Record<string, Node>; items?: Node };
  let node: Node | undefined = z.toJSONSchema(schema, { io: 'input' }) as Node;
  for (const step of path) node = node?.properties?.[step] ?? node?.items;
  return Object.keys(node?.properties ?? {});
}

function valueAt(raw: unknown, path: readonly string[]): unknown {
  let value: unknown = raw;
  for (const step of path) {
    if (typeof value !== 'object' || value === null) return undefined;
    value = (value as Record<string, unknown>)[step];
  }
  return value;
}
