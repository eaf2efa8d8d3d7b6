/**
 * The experiment spec: everything a run is made of. One zod schema validates it, names
 * the form's fields and makes the JSON Schema. Structure is checked here; the names of
 * models, data sets, methods and their parameters are checked by the agent that will run
 * them, against its own registries.
 */
import { z } from 'zod';
import { networkSpecSchema } from '../machines/emulated-network.ts';
import { inputError, type GradwireError } from '../errors/errors.ts';
import { exchangeSpecSchema } from '../plan/exchange-plan.ts';
import { INTERPRETED } from '../checks/interpreted.ts';
import { nearest } from '../words/nearest.ts';
import { LOCAL_NODE } from '../machines/node-entry.ts';
import { backendKeys } from './backend-spec.ts';
import { optimizerSchema } from './optimizer-spec.ts';
import { parallelismSchema } from './parallelism/parallelism.ts';
import { plainIssue } from '../checks/plain-issue.ts';
import { requirePlainTree, type PlaceOfIssue } from '../checks/plain-tree.ts';
import { portRangeSchema } from '../machines/port-range.ts';
import { besideProgram, withProgramKnown } from './program-spec.ts';
import { keysAt } from './schema-keys.ts';
import { isPrintable, PRINTABLE_RULE, shownValue } from '../words/printable.ts';
import type { Exclusion } from '../checks/spec-key.ts';
import { workloadSchema } from './workload-spec.ts';

/** The most training processes of a run. */
export const MOST_RANKS = 1024;

const positive = z.number().positive();

/** A setting that needs the exchange to run beside the trainer. */
const besideInline = (name: string): Exclusion => ({
  key: 'engine',
  is: 'inline',
  code: 'OVERLAP_MISFIT',
  place: 'engine',
  because:
    `${name} needs the exchange to run while the trainer computes, but engine: inline runs ` +
    'both on one thread',
  next: 'Use engine: thread, or remove engine.',
});

const PROGRAM_CHECKPOINTS = {
  because: 'Gradwire cannot bring a program back to a checkpoint',
  next: 'Remove it; let the program keep its own checkpoints.',
};

export const experimentSpecSchema = z.strictObject({
  name: z
    .string()
    .min(1)
    .max(120)
    .refine(isPrintable, PRINTABLE_RULE)
    .default('untitled')
    .describe('Name shown in lists')
    .meta({ title: 'Name', section: 'Workload' }),
  description: z.string().max(2000).optional().describe('What the run is for'),
  workload: workloadSchema.meta({ section: 'Workload' }),
  world: z
    .strictObject({
      nodes: z
        .array(z.string())
        .min(1)
        .refine(
          (nodes) => new Set(nodes).size === nodes.length,
          'a machine is listed twice',
        )
        .default([LOCAL_NODE])
        .describe('Machines')
        .meta({ title: 'Machines' }),
      ranks: z
        .int()
        .min(1)
        .max(MOST_RANKS)
        .default(4)
        .describe('Training processes')
        .meta({ title: 'Ranks' }),
      shareGpu: z
        .boolean()
        .optional()
        .describe(
          'Let ranks on one machine share its GPUs; otherwise each rank needs its own',
        ),
      ports: portRangeSchema
        .optional()
        .describe(
          'Ports that ranks on this computer may listen on, such as 20000-20100; other machines have their own setting',
        )
        .meta({ title: 'Ports', folded: true }),
    })
    .meta({ section: 'World' })
    .prefault({}),
  optimizer: optimizerSchema.meta({ section: 'Optimiser' }).prefault({}),
  exchange: exchangeSpecSchema
    .meta({ section: 'Exchange', changes: 'in-run' })
    .prefault({}),
  parallelism: parallelismSchema
    .optional()
    .describe('How ranks share the work; default: synchronous')
    .meta({ section: 'Parallelism' }),
  iterations: z
    .int()
    .min(1)
    .max(1_000_000_000)
    .default(400)
    .meta({ title: 'Iterations', section: 'Length' }),
  evaluateEvery: z
    .int()
    .min(0)
    .default(50)
    .describe('Iterations between evaluations on the test set; 0: only at the end')
    .meta({ title: 'Evaluate every', section: 'Length' }),
  compareEvery: z
    .int()
    .min(1)
    .max(1_000_000_000)
    .optional()
    .describe(
      'Iterations between comparisons of the applied gradient with the uncompressed one',
    )
    .meta({ title: 'Compare with the uncompressed gradient every', section: 'Length' }),
  inspectEvery: z
    .int()
    .min(1)
    .max(1_000_000_000)
    .optional()
    .describe(
      'Iterations between records of what each bucket sent and kept, and of the thresholds of activations',
    )
    .meta({ title: 'Inspect buckets every', section: 'Length' }),
  seed: z
    .int()
    .min(0)
    .max(0xffffffff)
    .default(1)
    .meta({ title: 'Seed', section: 'Length' }),
  ...backendKeys,
  engine: z
    .enum(['auto', 'thread', 'inline'])
    .default('auto')
    .describe(
      'Run the exchange in its own thread; auto: if cores suffice and no GPU is used',
    ),
  overlap: z
    .boolean()
    .optional()
    .describe(
      'Exchange gradients of the last layers while those of the first are still being computed',
    )
    .meta({ excludes: [besideInline('overlap')] }),
  doubleBuffer: z
    .boolean()
    .optional()
    .describe(
      'Exchange a gradient while the next is being computed; each is applied one iteration late',
    )
    .meta({
      excludes: [
        {
          key: 'overlap',
          code: 'OVERLAP_MISFIT',
          because:
            'overlap and doubleBuffer cannot be combined: overlap hides an exchange behind the ' +
            'backward pass of its own iteration, doubleBuffer behind the next iteration',
          next: 'Set one of them.',
        },
        besideInline('doubleBuffer'),
        besideProgram({
          because: 'a program applies each gradient before it computes the next',
        }),
      ],
    }),
  transport: z
    .enum(['auto', 'tcp', 'native'])
    .default('auto')
    .describe(
      'Transport between ranks; auto: native (libc sockets) where available, else tcp',
    ),
  network: networkSpecSchema
    .optional()
    .describe('A network to emulate between the ranks; default: the real one')
    .meta({ section: 'Emulated network' }),
  encrypt: z
    .boolean()
    .optional()
    .describe(
      'Encrypt messages between ranks (AES-256-GCM); default: only between several machines',
    ),
  onFailure: z
    .enum(['stop', 'restart'])
    .default('stop')
    .describe(
      'What to do when a rank or a machine is lost; restart: continue from the last checkpoint',
    )
    .meta({
      title: 'On failure',
      section: 'Length',
      folded: true,
      excludes: [besideProgram({ value: 'restart', ...PROGRAM_CHECKPOINTS })],
    }),
  checkpointEvery: z
    .int()
    .min(0)
    .max(1_000_000_000)
    .optional()
    .describe(
      'Iterations between checkpoints; default: 100 if onFailure is restart, else none',
    )
    .meta({
      title: 'Checkpoint every',
      section: 'Length',
      folded: true,
      excludes: [besideProgram(PROGRAM_CHECKPOINTS)],
    }),
  journalMB: z
    .int()
    .min(1)
    .max(1_000_000)
    .optional()
    .describe(
      'Megabytes of records a machine keeps for an app to collect before it thins the oldest; default: 256',
    ),
  timeoutSeconds: positive
    .max(3600)
    .default(3)
    .describe('Seconds of silence from a rank before the run fails'),
  patienceSeconds: positive
    .max(86_400)
    .default(600)
    .describe('Seconds a rank waits for a live rank that sends nothing'),
});

export type ExperimentSpec = z.infer<typeof experimentSpecSchema>;

/** Marks what `parseExperimentSpec` has returned: a private member, which a literal cannot have. */
declare class Parsed {
  private readonly parsed: true;
}

/**
 * A spec as `parseExperimentSpec` has returned it; nothing else makes one. A changed copy is an
 * `ExperimentSpec` again, since a spread leaves the mark behind.
 */
export type ParsedSpec = ExperimentSpec & Parsed;

const CHECKPOINT_EVERY = 100;

/** Iterations between checkpoints; 0 for none. */
export const checkpointInterval = ({
  checkpointEvery,
  onFailure,
}: Pick<ExperimentSpec, 'checkpointEvery' | 'onFailure'>): number =>
  checkpointEvery ?? (onFailure === 'restart' ? CHECKPOINT_EVERY : 0);

const JOURNAL_MB = 256;

/** Most bytes of the run's journal on a machine before its oldest details are thinned. */
export const journalBytes = ({
  journalMB,
}: Pick<ExperimentSpec, 'journalMB'>): number => (journalMB ?? JOURNAL_MB) * 1_000_000;

/** The machines that get ranks: the first ones if there are more machines than ranks. */
export const nodesOf = ({ world }: Pick<ExperimentSpec, 'world'>): readonly string[] =>
  world.nodes.slice(0, world.ranks);

/** Whether ranks encrypt their messages: by default only between machines. */
export const isEncrypted = (spec: Pick<ExperimentSpec, 'encrypt' | 'world'>): boolean =>
  spec.encrypt ?? nodesOf(spec).length > 1;

/**
 * Checks a raw value (parsed YAML or JSON) as a spec and fills in defaults.
 * @throws GradwireError `SPEC_UNKNOWN_KEY`, `SPEC_INVALID`: the first problem found,
 * with its path, the value given and the nearest valid key.
 */
export function parseExperimentSpec(raw: unknown, place = 'spec'): ParsedSpec {
  const where: PlaceOfIssue = { code: 'SPEC', place };
  requirePlainTree(raw, where);
  const parsed = experimentSpecSchema.safeParse(withImplied(raw), INTERPRETED);
  if (parsed.success) return parsed.data as ParsedSpec;
  throw explainIssue(experimentSpecSchema, raw, parsed.error, where);
}

/**
 * A spec that another process has checked, which may have another version: keys that only that
 * one knows are dropped.
 */
export function readableSpec(raw: unknown): z.ZodSafeParseResult<ExperimentSpec> {
  const spec = structuredClone(withImplied(raw));
  for (;;) {
    const parsed = experimentSpecSchema.safeParse(spec);
    const unknown =
      parsed.error?.issues.filter((issue) => issue.code === 'unrecognized_keys') ?? [];
    if (unknown.length === 0) return parsed;
    for (const { path, keys } of unknown) {
      const section = sectionAt(spec, path);
      if (section === undefined) return parsed;
      // Of bytes in place of a section nothing can be taken.
      if (!keys.every((key) => Reflect.deleteProperty(section, key))) return parsed;
    }
  }
}

/** The section at a path; undefined if a key of the path is missing or inherited. */
function sectionAt(
  raw: unknown,
  path: readonly PropertyKey[],
): Record<string, unknown> | undefined {
  let value = raw;
  for (const step of path) {
    if (typeof value !== 'object' || value === null) return undefined;
    if (!Object.hasOwn(value, step)) return undefined;
    value = (value as Record<PropertyKey, unknown>)[step];
  }
  return isObject(value) ? value : undefined;
}

/** Optimisers without momentum: another one than 0 would be ignored. */
export const WITHOUT_MOMENTUM: readonly string[] = ['adagrad', 'adam', 'adamw'];

/**
 * A spec of an earlier version, or of another optimiser, without the momentum that its optimiser
 * ignores: it would be refused.
 */
export function withoutIdleMomentum<S extends { readonly optimizer?: unknown }>(
  spec: S,
): S {
  const { optimizer } = spec;
  if (!isObject(optimizer) || !WITHOUT_MOMENTUM.includes(String(optimizer['kind'])))
    return spec;
  return { ...spec, optimizer: { ...optimizer, momentum: 0 } };
}

/** Momentum that is not given is the default, for optimisers that have any. */
function withMomentumKnown(raw: unknown): unknown {
  if (!isObject(raw) || !isObject(raw['optimizer'])) return raw;
  const { kind, momentum } = raw['optimizer'];
  if (momentum !== undefined || !WITHOUT_MOMENTUM.includes(String(kind))) return raw;
  return { ...raw, optimizer: { ...raw['optimizer'], momentum: 0 } };
}

/** A raw spec with values that others of its values imply. */
const withImplied = (raw: unknown): unknown => withProgramKnown(withMomentumKnown(raw));

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/**
 * The first issue of a failed parse as one coded error: `<code>_UNKNOWN_KEY` or
 * `<code>_INVALID`, with the path, the value and the nearest valid key.
 */
export function explainIssue(
  schema: z.ZodType,
  raw: unknown,
  error: z.ZodError,
  where: PlaceOfIssue,
): GradwireError {
  const issue =
    error.issues.find((candidate) => candidate.code === 'unrecognized_keys') ??
    error.issues[0]!;
  const path = issue.path.map(String);
  if (issue.code === 'unrecognized_keys') {
    const key = issue.keys[0]!;
    const valid = keysAt(schema, path);
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
              : 'It takes no keys.',
      },
    );
  }
  const value = valueAt(raw, path);
  const shown = value === undefined ? 'is missing' : `is ${shownValue(value)}`;
  return inputError(
    `${where.code}_INVALID`,
    `"${path.join('.') || '(whole)'}" ${shown}: ${plainIssue(issue)}`,
    { place: where.place, next: 'Correct the value and try again.' },
  );
}

function valueAt(raw: unknown, path: readonly string[]): unknown {
  let value: unknown = raw;
  for (const step of path) {
    if (typeof value !== 'object' || value === null) return undefined;
    value = (value as Record<string, unknown>)[step];
  }
  return value;
}
