/**
 * The requests that a main may make of a supervisor, each with the schema of its body: the
 * definition of both ends. `replies.ts` has the replies. An order to a run
 * (`orders/orders.ts`) is a request too, named by its type, with the run's id beside its keys.
 */
import { orderNamed, type AskedKeys, type AskedType } from '../orders/orders.ts';
import { planSwitchesSchema, switchRequestsSchema } from '../plan/plan-schemas.ts';
import { z } from 'zod';
import { networkCostSchema } from '../cost-model/network-cost-schema.ts';
import { inputError } from '../errors/errors.ts';
import { errorDataSchema } from '../records/fields.ts';
import { runIdSchema } from '../checks/run-id.ts';
import { slurmSettingsSchema } from '../machines/slurm-settings.ts';
import { checkedMessage, type Refusal } from './checked-message.ts';
import { hostSchema, nodeNameSchema, rankAddressSchema } from './rank-address.ts';
import {
  fileContentSchema,
  filePieceSchema,
  MOST_TREE_ENTRIES,
  sha256Schema,
  treeEntriesSchema,
} from './work-tree.ts';

const SECRET_BYTES = 32;
export const MOST_RANKS = 1024;

const run = z.object({ run: runIdSchema });
const nothing = z.object({});
const link = z.string().min(1).max(100);
const linkEnd = z.literal([0, 1]);
const sequence = z.int().min(0);
const rank = z.int().min(0).lt(MOST_RANKS);
const port = z.int().min(1).max(65_535);

/** 32 random bytes: peers prove that they know them before any payload is read. */
export const secretSchema = z.custom<Uint8Array>(
  (value) => value instanceof Uint8Array && value.length === SECRET_BYTES,
  `expected ${SECRET_BYTES} bytes`,
);

/** Ports that ranks may listen on. */
export const portsSchema = z
  .object({ first: port, last: port })
  .refine(({ first, last }) => first <= last, 'the first port is above the last');

/** Numbers of nodes by rank. */
export const placesSchema = z.array(rank).min(1).max(MOST_RANKS).readonly();

export const requestSchemas = {
  /** The spec with every name and parameter checked against the registries. */
  validate: z.object({
    spec: z.unknown(),
    switches: switchRequestsSchema.optional(),
    /** Whether a scheduler allots the machines of the ranks. */
    allotted: z.boolean().optional(),
  }),
  /** Start the given ranks; answered when all of them listen. */
  prepare: run.extend({
    /** An experiment's spec; the launch checks it against everything that the agent knows. */
    spec: z.unknown(),
    switches: switchRequestsSchema,
    ranks: z
      .array(rank)
      .min(1)
      .max(MOST_RANKS)
      .refine((ranks) => new Set(ranks).size === ranks.length, 'a rank is given twice')
      .readonly(),
    secret: secretSchema,
    /** Measurements of the network, for all ranks of the run. */
    network: networkCostSchema.optional(),
    /** The node of each rank of the run, by rank; default: all are on one. */
    places: placesSchema.optional(),
    /** The node's name in records; default: its host name. */
    node: nodeNameSchema.optional(),
    /**
     * Address where its ranks listen and peers find them; default: 127.0.0.1. If it is not
     * one of the machine's own addresses, or is `::`, the ranks listen on those instead.
     */
    listen: hostSchema.optional(),
    /** Ports that its ranks may listen on; default: the system chooses. */
    ports: portsSchema.optional(),
    /**
     * The iteration from which an interrupted run resumes, which every node must have;
     * default: the run starts. `switches` is then ignored.
     */
    resume: z
      .object({ iteration: z.int().min(0), schedule: planSwitchesSchema })
      .optional(),
    /**
     * Runs all ranks of the run on nodes that Slurm allocates. Answered when the job is
     * submitted; the run starts by itself when Slurm has started the job.
     */
    slurm: slurmSettingsSchema.strip().optional(),
    /**
     * The copied directory, made by `makeTree`, in which the ranks' programs run; default: the
     * directory that the spec names.
     */
    tree: sha256Schema.optional(),
  }),
  /** Connect all ranks and start the first iteration. */
  begin: run.extend({
    addresses: z.array(rankAddressSchema).min(1).max(MOST_RANKS).readonly(),
  }),
  /** Switches planned by another node's supervisor; known ones are skipped. */
  adopt: run.extend({ switches: planSwitchesSchema }),
  /** End at once: the run has failed on another node, with this error. */
  abort: run.extend({ error: errorDataSchema.strip() }),
  /** Replay the journal after a sequence, then follow it. */
  subscribe: run.extend({ after: sequence }),
  unsubscribe: run,
  /** Everything up to here is stored: the journal of an ended run may be deleted. */
  acknowledge: run.extend({ sequence }),
  /**
   * Opens one end of a link to measure: a listening process. It lives until it is closed, the
   * client disconnects or a minute has passed; a machine has one link at a time.
   */
  openLinkEnd: z.object({
    /** The same at both ends. */
    link,
    /** 0 leads and gets the result. */
    end: linkEnd,
    /** The interfaces and ports to listen on, as in `prepare`. */
    listen: hostSchema,
    ports: portsSchema.optional(),
  }),
  /** Connects the two ends and times messages. */
  timeLink: z.object({
    link,
    end: linkEnd,
    addresses: z.tuple([rankAddressSchema, rankAddressSchema]).readonly(),
    /** The secret of the two ends, as that of a run's ranks. */
    secret: secretSchema,
    encrypt: z.boolean(),
  }),
  /** Closes the ends that are here, if any. */
  closeLink: z.object({ link }),
  /**
   * Measures latency, bandwidth, kernels and collectives between processes on this machine; ends
   * with the client.
   */
  measureNetwork: z.object({
    /** Number of processes, at least 2. */
    ranks: z.int().min(2).max(MOST_RANKS),
    transport: z.enum(['auto', 'tcp', 'native']),
    effort: z.enum(['full', 'quick']),
  }),
  /** Asks whether Slurm would take the job of a run. Refused with Slurm's words if it would not. */
  testJob: run.extend({
    ranks: z.int().min(1).max(MOST_RANKS),
    slurm: slurmSettingsSchema.strip(),
    node: nodeNameSchema,
  }),
  /** Asks which of these contents are not there yet. */
  missingFiles: z.object({
    files: z.array(fileContentSchema).max(MOST_TREE_ENTRIES).readonly(),
  }),
  /** Brings contents, whole or in parts; a client's parts of a content come in order. */
  putFiles: z.object({ pieces: z.array(filePieceSchema).max(1000).readonly() }),
  /** Makes a copied directory of contents that are there, unless it is there already. */
  makeTree: z.object({ entries: treeEntriesSchema }),
  /** Answered at once, to measure the round trip. */
  ping: nothing,
  runs: nothing,
} as const satisfies Readonly<Record<string, z.ZodType>>;

/** Requests that are no orders to a run. */
export type PlainMethod = keyof typeof requestSchemas;
export type SupervisorMethod = PlainMethod | AskedType;

/** The body of each request, as the handler gets it. */
export type RequestBodies = {
  readonly [M in PlainMethod]: Readonly<z.infer<(typeof requestSchemas)[M]>>;
} & {
  readonly [T in AskedType]: Readonly<z.infer<typeof run> & AskedKeys<T>>;
};

export interface RequestMessage<M extends SupervisorMethod = SupervisorMethod> {
  readonly type: 'request';
  readonly id: number;
  readonly method: M;
  readonly body: RequestBodies[M];
}

const envelopeSchema = z.object({
  type: z.literal('request'),
  id: z.int(),
  method: z.string().max(100),
  body: z.unknown().optional(),
});

/** The id under which a message is answered; undefined if it has none. */
export function requestId(raw: unknown): number | undefined {
  if (typeof raw !== 'object' || raw === null || !Object.hasOwn(raw, 'id')) {
    return undefined;
  }
  const { id } = raw as { readonly id: unknown };
  return Number.isSafeInteger(id) ? (id as number) : undefined;
}

/** @throws GradwireError `REQUEST_INVALID`, `REQUEST_UNKNOWN` */
export function parseRequest(raw: unknown): RequestMessage {
  const refusal: Refusal = { code: 'REQUEST_INVALID', what: 'request' };
  const { type, id, method, body } = checkedMessage(envelopeSchema, raw, refusal);
  const schema = bodySchema(method);
  if (schema === undefined) {
    throw inputError('REQUEST_UNKNOWN', `unknown request "${method}"`);
  }
  return {
    type,
    id,
    method: method as SupervisorMethod,
    body: checkedMessage(schema, body, {
      ...refusal,
      what: method,
    }) as RequestMessage['body'],
  };
}

/** The schema of a request's body; undefined if there is no such request. */
function bodySchema(method: string): z.ZodType | undefined {
  if (isPlainMethod(method)) return requestSchemas[method];
  const asked = orderNamed(method)?.asked;
  return asked && run.extend(asked.shape);
}

export const isPlainMethod = (name: string): name is PlainMethod =>
  Object.hasOwn(requestSchemas, name);
