/** A node of the inventory: what a user wrote to add it. It holds no secret. */
import { z } from 'zod';
import { inputError } from './errors.ts';
import { portRangeSchema } from './port-range.ts';
import { slurmSettingsSchema } from './slurm-settings.ts';
import { TRANSPORT_CHOICES } from './ssh-transport.ts';

/** This computer among the nodes. */
export const LOCAL_NODE = 'this-computer';

export const nodeEntrySchema = z.strictObject({
  name: z
    .string()
    .max(63, 'at most 63 characters')
    .regex(/^[A-Za-z0-9][A-Za-z0-9._-]*$/, 'letters, digits and . _ - only')
    // In YAML these stand for something else than a name.
    .refine(
      (name) => !/^(\d+(\.\d*)?|true|false|null|yes|no|on|off)$/i.test(name),
      'YAML reads that as a number or a constant: begin with a letter',
    ),
  /** `[user@]name[:port]`, the name as in ~/.ssh/config. */
  destination: z.string().min(1).max(300),
  /** Files of private keys that are tried first; `~` and relative paths are the home's. */
  identities: z.array(z.string().min(1)).readonly().default([]),
  /** Hosts in between, as in ProxyJump; by default those of ~/.ssh/config. */
  jump: z.string().min(1).optional(),
  /** Absolute path of the file that is read instead of ~/.ssh/config. */
  configFile: z.string().min(1).optional(),
  /** Who speaks SSH to it; by default `auto`. */
  transport: z.enum(TRANSPORT_CHOICES).optional(),
  labels: z
    .array(z.string().min(1).max(60))
    .transform((labels): readonly string[] => [...new Set(labels)])
    .default([]),
  /** Where ranks on other machines find its ranks; by default where SSH reached it. */
  address: z.string().min(1).max(255).optional(),
  /** Ports that its ranks may listen on, as `20000-20100`; by default the system chooses. */
  ports: portRangeSchema.optional(),
  /** It is the login node of a Slurm cluster: ranks run on nodes that Slurm allots. */
  slurm: slurmSettingsSchema.optional(),
});
export type NodeEntry = z.infer<typeof nodeEntrySchema>;

/** @throws GradwireError `NODE_INVALID` */
export function parseNodeEntry(raw: unknown): NodeEntry {
  const parsed = nodeEntrySchema.safeParse(raw);
  if (!parsed.success) {
    const issue = parsed.error.issues[0]!;
    throw inputError('NODE_INVALID', `${issue.path.join('.')}: ${issue.message}`, {
      next: 'Correct the value and try again.',
    });
  }
  if (parsed.data.name === LOCAL_NODE) {
    throw inputError('NODE_INVALID', `"${LOCAL_NODE}" is the name of this computer`, {
      next: 'Choose another name.',
    });
  }
  return parsed.data;
}
