/**
 * Messages between a supervisor and a watcher on a node where the supervisor is not: frames as those of
 * ranks (`agent/world`). Both ends check what they get.
 */
import { z } from 'zod';

const count = z.int().min(0);
const amount = z.number().min(0);

/** Told once: the ranks whose processes run on the watcher's node. */
export const toWatcherSchema = z.strictObject({
  type: z.literal('watch'),
  processes: z
    .array(z.strictObject({ rank: count, pid: z.int().min(1) }))
    .max(10_000)
    .readonly(),
});
export type ToWatcher = Readonly<z.infer<typeof toWatcherSchema>>;

const machineSchema = z.strictObject({
  processors: z
    .strictObject({ busy: amount, stolen: amount.optional() })
    .readonly()
    .optional(),
  memory: z.strictObject({ total: count, used: amount }).readonly().optional(),
  network: z
    .strictObject({ received: amount, sent: amount, loopback: amount })
    .readonly()
    .optional(),
});

/** Readings as `UseReading` and `GpuReading` have them, with the ranks in a list. */
export const fromWatcherSchema = z.discriminatedUnion('type', [
  z.strictObject({
    type: z.literal('read'),
    /** Processors that may be used there. */
    processors: z.number().positive(),
    at: amount,
    machine: machineSchema.readonly(),
    ranks: z
      .array(z.strictObject({ rank: count, busy: amount, memory: count }))
      .max(10_000)
      .readonly(),
    own: amount,
  }),
  z.strictObject({
    type: z.literal('gpu'),
    bus: z.string().max(100),
    name: z.string().max(200),
    busy: amount.max(1).optional(),
    memory: count.optional(),
    total: count.optional(),
  }),
]);
export type FromWatcher = Readonly<z.infer<typeof fromWatcherSchema>>;
