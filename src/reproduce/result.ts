/**
 * The result of `gradwire reproduce` for a figure: one JSON object, from which the page
 * and the table of all figures are made. It repeats the claim and the rule, so it stays
 * readable without the definition and after the definition has changed.
 */
import { z } from 'zod';
import { inputError } from '../shared/errors/errors.ts';
import { plainIssue } from '../shared/checks/plain-issue.ts';
import { LOCAL_NODE } from '../shared/machines/node-entry.ts';
import { chartSchema } from './chart/chart.ts';
import type { Figure } from './figure.ts';
import { judgementOf, type Finding } from './judgement.ts';
import { obstacleToTimes } from './load.ts';
import { plannedRuns } from './planned-runs.ts';
import { setupOf } from './setup.ts';
import { Sweep, type MeasuredRun } from './sweep.ts';

const text = z.string();
const point = z.strictObject({ x: z.number(), y: z.number() });

/** A run that has ended and been measured. */
const runFields = {
  /** The run's id in the store: `gradwire runs show`. */
  run: text,
  case: text,
  seed: z.number(),
  values: z.record(text, z.number()),
  curve: z.array(point).readonly().optional(),
  curves: z.record(text, z.array(point).readonly()).optional(),
  /** Whether its training diverged: then its values are those of a network that guesses. */
  diverged: z.literal(true).optional(),
  /** The share of the processors' time that other work took meanwhile, if known. */
  others: z.number().optional(),
  /** The backend that computed it: `torch (AMD EPYC, PyTorch 2.13.0)`; missing in earlier results. */
  backend: text.optional(),
};
export const storedRunSchema = z.strictObject(runFields);

const outcomeSchema = z.enum(['holds', 'fails', 'unclear']);
const findingSchema = z.strictObject({
  text,
  kind: z.enum(['claim', 'control', 'check']),
  outcome: outcomeSchema,
  readings: z.literal(true).optional(),
  obstacle: text.optional(),
  measured: z
    .array(
      z.strictObject({
        name: text.optional(),
        outcome: outcomeSchema,
        mean: z.number(),
        low: z.number(),
        high: z.number(),
        trueAt: z.number(),
        falseAt: z.number(),
        visible: z.number(),
        seedsToDecide: z.number().optional(),
        thenOutcome: z.enum(['holds', 'fails']).optional(),
        text,
      }),
    )
    .readonly(),
}) satisfies z.ZodType<Finding>;

/** The format of results. */
const VERSION = 2;
const newerSchema = z.looseObject({
  type: z.literal('result'),
  version: z.int().min(VERSION + 1),
});
const resultSchema = z.strictObject({
  type: z.literal('result'),
  version: z.literal(VERSION),
  figure: text,
  paper: z.strictObject({ name: text, title: text }),
  number: text,
  title: text,
  claim: z.strictObject({
    text,
    quoted: z.array(z.strictObject({ text, where: text })).readonly(),
  }),
  rule: text,
  verdict: z.enum(['confirmed', 'refuted', 'undecided', 'checked']),
  /** The largest probability that the verdict is false by chance. */
  falseVerdict: z.number(),
  ours: text,
  findings: z.array(findingSchema).readonly(),
  settings: z.array(z.strictObject({ text, because: text })).readonly(),
  /** A short text of all specs and seeds, wherever they were run; missing in earlier results. */
  setup: text.optional(),
  differences: z.array(text).readonly(),
  chart: chartSchema,
  table: z.strictObject({
    columns: z.array(text).readonly(),
    rows: z.array(z.array(text).readonly()).readonly(),
  }),
  runs: z.array(z.strictObject({ ...runFields, label: text })).readonly(),
  device: z.strictObject({
    processor: text,
    /** Logical processors that this process may use. */
    cores: z.number().int(),
    system: text,
    /** Processes that ran or waited for a processor before the first run, if known. */
    load: z.number().optional(),
  }),
  gradwire: text,
  /** The full-scale figure that was run, if one was, and what the user supplied for it. */
  full: z
    .strictObject({
      of: text,
      nodes: z.array(text).readonly(),
      data: text.optional(),
    })
    .optional(),
  /** The Python whose PyTorch computed the runs that gain by it, if one was named. */
  python: text.optional(),
  /** When a rule that the runs were judged by again was first another one than before, in milliseconds since 1970. */
  ruleChangedAt: z.number().optional(),
  /** When the last run ended, in milliseconds since 1970. */
  measuredAt: z.number(),
  /** Time of all runs together, from start to end. */
  seconds: z.number(),
});
export type Result = z.infer<typeof resultSchema>;

/** A run that has ended and been measured. */
export interface StoredRun extends MeasuredRun {
  readonly run: string;
  /** The share of the processors' time that other work took meanwhile, if known. */
  readonly others?: number | undefined;
  /** The backend that computed it. */
  readonly backend?: string | undefined;
}

/** Place and time of the runs, so that readers can judge the numbers by them. */
export type Circumstances = Pick<
  Result,
  'device' | 'full' | 'gradwire' | 'measuredAt' | 'python' | 'seconds'
>;

export function resultOf(
  figure: Figure,
  runs: readonly StoredRun[],
  circumstances: Circumstances,
): Result {
  const sweep = new Sweep(runs);
  const { parts, ours } = figure.judge(sweep);
  const obstacle = obstacleOn(figure, runs, circumstances);
  const { falseVerdict, findings, verdict } = judgementOf(parts, obstacle);
  const labels = new Map(figure.cases.map(({ id, label }) => [id, label]));
  return {
    type: 'result',
    version: VERSION,
    figure: figure.id,
    paper: figure.paper,
    number: figure.number,
    title: figure.title,
    claim: figure.claim,
    rule: figure.rule,
    verdict,
    falseVerdict,
    ours,
    findings,
    settings: figure.settings,
    setup: setupOf(figure),
    differences: [...figure.differences, ...unwatched(figure, runs, circumstances)],
    chart: figure.chart(sweep),
    table: figure.table(sweep),
    runs: runs.map(({ case: id, values, ...run }) => ({
      ...run,
      case: id,
      label: labels.get(id) ?? id,
      values: { ...values },
    })),
    ...circumstances,
  };
}

/** The reason why times of these runs decide nothing; undefined if they can. */
function obstacleOn(
  figure: Figure,
  runs: readonly StoredRun[],
  { device, full }: Circumstances,
): string | undefined {
  const ranks = Math.max(...plannedRuns(figure).map(({ spec }) => spec.world.ranks));
  const others = runs.map((run) => run.others);
  if (full === undefined) return obstacleToTimes(ranks, device.cores, others);
  // Machines with fewer processors were refused before the first run.
  return full.nodes.includes(LOCAL_NODE)
    ? obstacleToTimes(
        ranks,
        ranks,
        others.filter((share) => share !== undefined),
      )
    : undefined;
}

/** A sentence about the machines that were named for times, if other work there was not measured. */
function unwatched(
  { timed }: Figure,
  runs: readonly StoredRun[],
  { full }: Circumstances,
): readonly string[] {
  if (full === undefined || timed !== true) return [];
  const isKnown = runs.every(({ others }) => others !== undefined);
  const unknown = full.nodes.filter((node) => !isKnown || node !== LOCAL_NODE);
  return unknown.length === 0
    ? []
    : [
        `What else ran meanwhile was not measured on ${unknown.join(', ')}: the times count as if it were nothing.`,
      ];
}

/** @throws GradwireError `RESULT_INVALID`, `RESULT_TOO_NEW` */
export function parseResult(source: string, place: string): Result {
  const next = 'Make it again: gradwire reproduce.';
  let raw: unknown;
  try {
    raw = JSON.parse(source);
  } catch (cause) {
    const message = `this is not JSON: ${(cause as Error).message}`;
    throw inputError('RESULT_INVALID', message, { place, next });
  }
  const parsed = resultSchema.safeParse(raw);
  if (parsed.success) return parsed.data;
  const newer = newerSchema.safeParse(raw).data;
  if (newer !== undefined) {
    throw inputError(
      'RESULT_TOO_NEW',
      `this result has format ${newer.version}; this Gradwire reads ${VERSION}`,
      { place, next: 'Update Gradwire, or use another directory.' },
    );
  }
  const [issue] = parsed.error.issues;
  const where = issue!.path.join('.');
  throw inputError(
    'RESULT_INVALID',
    `this is not a result of gradwire reproduce: ${where === '' ? '' : `"${where}": `}${plainIssue(issue!)}`,
    { place, next },
  );
}
