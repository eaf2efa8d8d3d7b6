/** The arguments of a page's calls, checked at the boundary. */
import { z } from 'zod';
import { LONGEST_NOTE } from '../run-query/run-note.ts';
import { MOST_IDS, runMatchSchema, runPageQuerySchema } from '../run-query/run-page.ts';
import { bucketQuerySchema } from '../buckets/bucket-query.ts';
import { whatIfRequestSchema } from '../forecast/what-if.ts';
import { planRequestSchema } from '../forecast/plan-request.ts';
import { runIdSchema } from '../checks/run-id.ts';
import { runOrderSchema } from '../orders/orders.ts';
import { PIECE_FORMAT_IDS } from '../records/export-format.ts';
import { sweepEditSchema } from '../sweep/sweep-edit.ts';
import { writtenSpecSchema } from '../spec/written-spec.ts';
import { MOST_SWEEP_RUNS } from '../sweep/sweep-definition.ts';
import { sweepRequestSchema } from '../sweep/sweep-request.ts';
import { machineQuerySchema } from '../utilisation/machine-query.ts';
import type { AppApi } from './rpc.ts';
import { binsQuerySchema, EXPORT_PARTS, MOST_ITERATION_RECORDS } from './run-pieces.ts';
import { MOST_TYPED, terminalSizeSchema } from './terminal.ts';

const text = z.string().max(1_000_000);
const nodeName = z.string().min(1).max(64);
const dataSet = z.string().min(1).max(64);
const folderPath = z
  .string()
  .max(32_768)
  .refine((path) => !path.includes('\0'), 'has a NUL character');
const figureId = z.string().min(1).max(100);
const terminal = z.int().min(1);
const someRuns = z.array(runIdSchema).max(MOST_IDS);

/** Argument tuples by call. */
export const rpcArguments = {
  info: z.tuple([]),
  catalogue: z.tuple([]),
  presets: z.tuple([]),
  checkSpec: z.tuple([text]),
  specToYaml: z.tuple([z.unknown(), writtenSpecSchema.optional()]),
  launch: z.tuple([z.unknown(), runIdSchema.optional()]),
  sweeps: z.tuple([]),
  sweep: z.tuple([runIdSchema]),
  checkSweep: z.tuple([sweepRequestSchema]),
  startSweep: z.tuple([sweepRequestSchema]),
  stopSweep: z.tuple([runIdSchema, z.boolean()]),
  resumeSweep: z.tuple([runIdSchema]),
  editSweep: z.tuple([runIdSchema, sweepEditSchema]),
  removeSweep: z.tuple([runIdSchema]),
  relaunch: z.tuple([runIdSchema]),
  order: z.tuple([runIdSchema, runOrderSchema]),
  fetchMissing: z.tuple([runIdSchema]),
  runs: z.tuple([
    z.strictObject({
      search: z.string().max(200).optional(),
      limit: z.int().min(1).max(1000).optional(),
      offset: z.int().min(0).optional(),
      deleted: z.boolean().optional(),
      live: z.boolean().optional(),
    }),
  ]),
  runPage: z.tuple([runPageQuerySchema]),
  matchingRuns: z.tuple([runMatchSchema]),
  runVocabulary: z.tuple([]),
  tagRuns: z.tuple([someRuns, z.string().max(200), z.boolean()]),
  renameRun: z.tuple([runIdSchema, z.string().max(1000).optional()]),
  notes: z.tuple([runIdSchema]),
  writeNote: z.tuple([
    runIdSchema,
    z.strictObject({
      id: z.int().min(1).optional(),
      text: z.string().max(2 * LONGEST_NOTE),
      iteration: z.int().min(0).optional(),
    }),
  ]),
  removeNote: z.tuple([runIdSchema, z.int().min(1)]),
  run: z.tuple([runIdSchema]),
  iterations: z.tuple([
    runIdSchema,
    z.strictObject({
      from: z.int().min(0),
      fromRank: z.int().min(0).optional(),
      to: z.int().min(0),
      most: z.int().min(1).max(MOST_ITERATION_RECORDS),
    }),
  ]),
  bins: z.tuple([runIdSchema, binsQuerySchema]),
  runLog: z.tuple([runIdSchema, z.int().min(0)]),
  tracedIterations: z.tuple([runIdSchema]),
  trace: z.tuple([
    runIdSchema,
    z.strictObject({
      from: z.int().min(0),
      fromRank: z.int().min(0).optional(),
      to: z.int().min(0),
    }),
  ]),
  buckets: z.tuple([runIdSchema, bucketQuerySchema]),
  machines: z.tuple([runIdSchema, machineQuerySchema]),
  setDeleted: z.tuple([runIdSchema, z.boolean()]),
  setAllDeleted: z.tuple([someRuns, z.boolean()]),
  history: z.tuple([]),
  purge: z.tuple([someRuns.optional()]),
  figures: z.tuple([]),
  figurePage: z.tuple([figureId]),
  startFigure: z.tuple([figureId, z.enum(['anew', 'resume'])]),
  stopFigure: z.tuple([]),
  planStep: z.tuple([planRequestSchema]),
  predictPoint: z.tuple([sweepRequestSchema, z.int().min(1).max(MOST_SWEEP_RUNS)]),
  whatIf: z.tuple([whatIfRequestSchema]),
  measuredSteps: z.tuple([
    z.strictObject({
      model: z.string().max(1000),
      dataset: z.string().max(1000),
      batchPerRank: z.int().min(0),
    }),
  ]),
  comparedRun: z.tuple([runIdSchema]),
  exportRun: z.tuple([
    runIdSchema,
    z.enum(PIECE_FORMAT_IDS),
    z
      .strictObject({
        part: z.enum(EXPORT_PARTS),
        from: z.int().min(0),
        fromRank: z.int().min(0).optional(),
        last: z.int().min(0).optional(),
        isFirst: z.boolean(),
      })
      .optional(),
  ]),
  catchUps: z.tuple([]),
  notices: z.tuple([]),
  watch: z.tuple([runIdSchema]),
  unwatch: z.tuple([runIdSchema]),
  nodes: z.tuple([]),
  importableHosts: z.tuple([]),
  addNode: z.tuple([z.unknown()]),
  editNode: z.tuple([
    nodeName,
    z.unknown(),
    z.strictObject({
      shown: z.unknown().optional(),
      sameMachine: z.boolean().optional(),
    }),
  ]),
  removeNode: z.tuple([nodeName]),
  nodeLog: z.tuple([nodeName]),
  checkNode: z.tuple([nodeName]),
  deployNode: z.tuple([nodeName]),
  uninstallNode: z.tuple([nodeName]),
  stopOn: z.tuple([nodeName, runIdSchema]),
  cancelNode: z.tuple([nodeName]),
  network: z.tuple([]),
  measureNetwork: z.tuple([]),
  cancelNetwork: z.tuple([]),
  dataSets: z.tuple([]),
  fetchDataSet: z.tuple([dataSet]),
  cancelDataSet: z.tuple([dataSet]),
  folder: z.tuple([folderPath]),
  questions: z.tuple([]),
  answer: z.tuple([
    z.int().min(1),
    z.discriminatedUnion('type', [
      z.strictObject({ type: z.literal('refuse') }),
      z.strictObject({ type: z.literal('accept') }),
      z.strictObject({
        type: z.literal('secrets'),
        answers: z.array(z.string().max(10_000)).max(20),
      }),
    ]),
  ]),
  settings: z.tuple([]),
  changeSetting: z.tuple([
    z.string().min(1).max(100),
    z.union([z.boolean(), z.number(), z.string().max(2000)]).optional(),
  ]),
  openTerminal: z.tuple([terminal, nodeName, terminalSizeSchema]),
  writeTerminal: z.tuple([terminal, z.string().max(MOST_TYPED)]),
  resizeTerminal: z.tuple([terminal, terminalSizeSchema]),
  closeTerminal: z.tuple([terminal]),
} as const satisfies Record<keyof AppApi, z.ZodType>;
