/**
 * Messages between a supervisor and one worker: length-prefixed MessagePack, towards the
 * worker on its stdin, from the worker on file descriptor 3. The end of stdin means that the
 * supervisor is gone: the worker exits. Both ends check what they get: a worker may run a
 * model of the user's own, which can write to any descriptor.
 */
import { rankOrderSchema } from '../orders/orders.ts';
import { z } from 'zod';
import { networkCostSchema } from '../cost-model/network-cost-schema.ts';
import type { ErrorData } from '../errors/errors.ts';
import type { ExperimentSpec } from '../spec/experiment-spec.ts';
import { metricKindSchema } from '../records/metric.ts';
import type { RunRecord } from '../records/record-kinds.ts';
import { runIdSchema } from '../checks/run-id.ts';
import { exchangePlanSchema, planSwitchesSchema } from '../plan/plan-schemas.ts';
import { hostSchema, rankAddressSchema } from './rank-address.ts';
import { placesSchema, portsSchema, secretSchema } from './requests.ts';

const count = z.int().min(0);
const text = z.string().max(10_000);

/** A spec that the supervisor has checked at the launch. */
const specSchema = z.custom<ExperimentSpec>(
  (value) => typeof value === 'object' && value !== null && !Array.isArray(value),
  'expected a section with keys',
);

const configureSchema = z.object({
  type: z.literal('configure'),
  run: runIdSchema,
  rank: count,
  spec: specSchema,
  plan: exchangePlanSchema,
  switches: planSwitchesSchema,
  secret: secretSchema,
  /** Address to listen on for peers. */
  listen: hostSchema,
  /** Ports to choose from; default: the system chooses. */
  ports: portsSchema.optional(),
  /** Threads that autodiff may use: cores ÷ ranks on the node, at least 1. */
  threads: z.int().min(1),
  /** Whether the engine gets its own thread. */
  engine: z.enum(['thread', 'inline']),
  /** Measurements of the network, the same for all ranks; default: none. */
  network: networkCostSchema.optional(),
  /** The node of each rank of the run, by rank; default: all are on one. */
  places: placesSchema.optional(),
  /** Directory of the run's checkpoints on this node; default: no checkpoints. */
  checkpoints: z.string().min(1).optional(),
  /** Iteration of the checkpoint to resume from; default: the run starts. */
  resume: count.optional(),
});

export const toWorkerSchema = z.discriminatedUnion('type', [
  configureSchema,
  z.object({
    type: z.literal('begin'),
    addresses: z.array(rankAddressSchema).min(1).readonly(),
  }),
  /** An order to the run, which may come before the ranks are connected. */
  z.object({ type: z.literal('order'), order: rankOrderSchema }),
]);
export type ToWorker = Readonly<z.infer<typeof toWorkerSchema>>;

const writtenCheckpointSchema = z.object({
  /** The next iteration. */
  iteration: count,
  bytes: count,
  /** Milliseconds during which the rank did nothing else. */
  wall: z.number().min(0),
});
/** A checkpoint that a rank has written, from which the run can resume. */
export type WrittenCheckpoint = Readonly<z.infer<typeof writtenCheckpointSchema>>;

export const fromWorkerSchema = z.discriminatedUnion('type', [
  z.object({ type: z.literal('listening'), address: rankAddressSchema }),
  /** Model built, data loaded, peers connected. */
  z.object({
    type: z.literal('ready'),
    /** The process's id on its own machine, which its supervisor may not be on. */
    pid: z.int().min(1).optional(),
    backend: text,
    /** The device that computes. */
    device: text.optional(),
    /** The GPU's PCI bus id, as nvidia-smi prints it, if that is known. */
    bus: text.optional(),
    /** Cores that the rank may use; others on the machine may use them, too. */
    cores: count.optional(),
    /** The reason why `auto` did not choose a GPU, if it did not. */
    why: text.optional(),
    parameters: count,
    /** The model's metric; default: accuracy. */
    metricKind: metricKindSchema.strip().optional(),
    /** The metric that guessing reaches, if it is known. */
    chance: z.number().min(0).max(1).optional(),
  }),
  z.object({
    type: z.literal('records'),
    /** Each is checked when it is admitted to the journal. */
    records: z.custom<readonly RunRecord[]>(Array.isArray, 'expected a list'),
  }),
  /** The rank's error, checked as the record that it becomes. */
  writtenCheckpointSchema.extend({ type: z.literal('checkpoint') }),
  z.object({ type: z.literal('finished') }),
  z.object({
    type: z.literal('failed'),
    /** Checked as the record that it becomes. */
    error: z.custom<ErrorData>((value) => value !== undefined),
  }),
]);
export type FromWorker = Readonly<z.infer<typeof fromWorkerSchema>>;
