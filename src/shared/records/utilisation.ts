/**
 * The use of a machine's processors, memory, network and GPUs in an interval of a run. Made by its
 * supervisor.
 */
import { z } from 'zod';
import { count, time } from './fields.ts';
import { NEVER_REPEATED, recordKind, unprinted } from './record-kind.ts';

const amount = z.number().min(0);

const utilisationRecordSchema = z.strictObject({
  type: z.literal('utilisation'),
  /** The end of the interval. */
  at: z.number(),
  node: z.string(),
  /** The iteration under way when the interval began. */
  from: count,
  /** The iteration under way when it ended, or the one after `from`. */
  to: count,
  /** Milliseconds of the interval. */
  wall: time,
  /** The processors together. */
  processors: z
    .strictObject({
      /**
       * Processors that a run may use there: those that its processes may run on, or fewer where a
       * quota allows fewer.
       */
      count: z.number().positive(),
      /** Processors that were busy, in the mean, with anything. */
      busy: amount,
      /** Processors that were busy in the busiest second. */
      peak: amount,
      /** Processors that the supervisor itself kept busy, or its watcher on a node of Slurm. */
      own: amount.optional(),
      /** Processors that the machine's host gave to others, if it is a virtual one. */
      stolen: amount.optional(),
    })
    .optional(),
  /** The machine's memory. */
  memory: z
    .strictObject({
      /** Bytes of the machine, or those that a limit allows. */
      total: count,
      /** Most bytes that were in use and could not have been given to others. */
      used: count,
    })
    .optional(),
  /** Traffic of all programs. */
  network: z
    .strictObject({
      /** Bytes per second that left the machine. */
      sent: amount,
      /** Bytes per second that reached the machine. */
      received: amount,
      /** Bytes per second from the machine to itself. */
      loopback: amount,
    })
    .optional(),
  /** The machine's GPUs, if nvidia-smi names them. */
  gpus: z
    .array(
      z.strictObject({
        /** The GPU's PCI bus id. */
        bus: z.string().max(100),
        /** The name of its model. */
        name: z.string().max(200),
        /** Share of the time in which something ran on it, 0…1. */
        busy: amount.max(1).optional(),
        /** Most bytes of its memory that were in use. */
        memory: count.optional(),
        /** Bytes of its memory. */
        total: count.optional(),
      }),
    )
    .max(1000)
    .readonly()
    .optional(),
  /** The ranks on the machine. */
  ranks: z
    .array(
      z.strictObject({
        rank: count,
        /** Processors that the rank's processes kept busy, its program included. */
        busy: amount.optional(),
        /** Most bytes that they had in memory; what they share counts once. */
        memory: count.optional(),
      }),
    )
    .max(10_000)
    .readonly(),
});
export type UtilisationRecord = z.infer<typeof utilisationRecordSchema>;
export type GpuUse = NonNullable<UtilisationRecord['gpus']>[number];
export type RankUse = UtilisationRecord['ranks'][number];

export const utilisationKind = recordKind({
  schema: utilisationRecordSchema,
  // Ranks that resume repeat iterations, the machine does not repeat its time.
  repetition: NEVER_REPEATED,
  thinning: 'measures',
  printed: unprinted,
  tables: [
    {
      id: 'machines',
      title: 'Machines, a row per machine and interval',
      columns: 'parts',
    },
    {
      id: 'processes',
      title: 'Ranks’ processes, a row per rank and interval',
      columns: 'parts',
    },
    { id: 'gpus', title: 'GPUs, a row per GPU and interval', columns: 'parts' },
  ],
});
