/**
 * The results of calls, as far as a page cannot do without them: a page that stayed open while
 * Gradwire was updated may ask a main of another version. Keys that are not named here, and what
 * is in lists of records, are not checked: a check costs less than drawing.
 */
import { z } from 'zod';
import type { AppApi } from './rpc.ts';

const list = z.custom<readonly unknown[]>(Array.isArray, 'expected a list');
const names = z.array(z.string());

const summary = z.looseObject({
  id: z.string(),
  name: z.string(),
  state: z.string(),
  createdAt: z.number(),
  iterations: z.number(),
  iterationsPlanned: z.number(),
  ranks: z.number(),
  nodes: names,
  methods: names,
});
const detail = summary.extend({
  spec: z.looseObject({ workload: z.looseObject({}), world: z.looseObject({}) }),
  events: list,
  lastSequence: z.number(),
});
const sweep = z.looseObject({
  id: z.string(),
  name: z.string(),
  state: z.string(),
  counts: z.record(z.string(), z.number()),
});
const space = z.looseObject({ bytes: z.number() });

export const rpcResults = {
  info: z.looseObject({ version: z.string(), host: z.string(), hostname: z.string() }),
  presets: z.array(z.looseObject({ id: z.string(), title: z.string() })),
  checkSpec: z.looseObject({ ok: z.boolean() }),
  specToYaml: z.string(),
  launch: summary,
  relaunch: summary,
  sweeps: z.array(sweep),
  sweep: sweep.extend({ keys: names, points: list, runs: list }),
  checkSweep: z.looseObject({ ok: z.boolean() }),
  startSweep: z.looseObject({ id: z.string() }),
  runs: z.array(summary),
  runPage: z.looseObject({
    rows: z.array(z.looseObject({ run: summary, values: list })),
    total: z.number(),
    bytes: z.number(),
  }),
  matchingRuns: names,
  runVocabulary: z.looseObject({
    specKeys: names,
    values: z.record(z.string(), names),
  }),
  tagRuns: names,
  notes: list,
  buckets: z.looseObject({ columns: list, buckets: list }),
  machines: z.looseObject({ columns: list, machines: list }),
  setAllDeleted: z.looseObject({ changed: names, refused: list }),
  run: detail,
  watch: detail,
  iterations: z.looseObject({ entries: list }),
  bins: z.looseObject({ starts: list, cells: list, lastSequence: z.number() }),
  runLog: list,
  history: space.extend({ deleted: space }),
  purge: z.looseObject({ before: z.number(), after: z.number(), refused: list }),
  planStep: z.looseObject({
    compute: z.number(),
    elements: z.number(),
    worlds: z.array(
      z.looseObject({ candidates: list, verdict: z.looseObject({ text: z.string() }) }),
    ),
  }),
  figures: z.array(z.looseObject({ id: z.string(), runs: z.number() })),
  figurePage: z.looseObject({
    html: z.string(),
    table: z.looseObject({ columns: names, rows: list }),
    parts: list,
  }),
  predictPoint: z.looseObject({ point: z.number() }),
  measuredSteps: list,
  whatIf: z.looseObject({
    text: z.string(),
    steps: z.looseObject({ recorded: list, replayed: list }),
    switches: list,
  }),
  comparedRun: z.looseObject({
    id: z.string(),
    name: z.string(),
    spec: z.looseObject({ exchange: z.looseObject({}), workload: z.looseObject({}) }),
    curve: z.looseObject({ ends: list, time: list, loss: list, metric: list }),
    observations: list,
    switches: names,
    missing: names,
    nodes: names,
    metricKind: z.looseObject({ id: z.string() }),
  }),
  exportRun: z.looseObject({ text: z.string() }),
  catchUps: list,
  notices: list,
  nodes: z.array(z.looseObject({ name: z.string() })),
  importableHosts: names,
  dataSets: z.array(z.looseObject({ id: z.string() })),
  folder: z.looseObject({
    path: z.string(),
    places: list,
    folders: list,
    scripts: names,
  }),
  questions: list,
  settings: z.looseObject({
    values: z.record(z.string(), z.unknown()),
    changed: names,
  }),
} as const satisfies Partial<Record<keyof AppApi, z.ZodType>>;
