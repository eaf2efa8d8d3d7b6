/** A node of the inventory: what a user wrote to add it. It holds no secret. */
import { z } from 'zod';
import { inputError } from './errors.ts';

/** This computer among the nodes. */
export const LOCAL_NODE = 'this-computer';

export const nodeEntrySchema = z.strictObject({
  name: z
    .string()
    .regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$/, 'letters, digits and . _ - only'),
  /** `[user@]name[:port]`, the name as in ~/.ssh/config. */
  destination: z.string().min(1).max(300),
  /** Files of private keys that are tried first; `~` and relative paths are the home's. */
  identities: z.array(z.string().min(1)).readonly().default([]),
  /** Hosts in between, as in ProxyJump; by default those of ~/.ssh/config. */
  jump: z.string().min(1).optional(),
  /** Absolute path of the file that is read instead of ~/.ssh/config. */
  configFile: z.string().min(1).optional(),
  labels: z.array(z.string().min(1).max(60)).readonly().default([]),
  /** Where ranks on other machines find its ranks; by default where SSH reached it. */
  address: z.string().min(1).max(255).optional(),
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
