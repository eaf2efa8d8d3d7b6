/** A node of the inventory, as the user entered it. It contains no secret. */
import { z } from 'zod';
import { inputError } from '../errors/errors.ts';
import { INTERPRETED } from '../checks/interpreted.ts';
import { portRangeSchema } from './port-range.ts';
import { optionProblem } from './slurm-options.ts';
import { slurmSettingsSchema } from './slurm-settings.ts';
import { TRANSPORT_CHOICES } from './ssh-transport.ts';

/** The local computer's name among the nodes. */
export const LOCAL_NODE = 'this-computer';

/**
 * YAML reads these as something other than a text, in `world.nodes=[…]`. No part of the schema:
 * an entry that was stored with such a name can still be read, and renamed.
 */
const NOT_A_TEXT =
  /^(\d+(\.\d*)?(e[-+]?\d+)?|0x[\da-f]+|0o[0-7]+|true|false|null|yes|no|on|off)$/i;

export const nodeEntrySchema = z.strictObject({
  name: z
    .string()
    .max(63, 'at most 63 characters')
    .regex(/^[A-Za-z0-9][A-Za-z0-9._-]*$/, 'letters, digits and . _ - only'),
  /** `[user@]name[:port]`, the name as in ~/.ssh/config. */
  destination: z
    .string()
    .min(1, 'a name or an address, as in ssh')
    .max(300, 'at most 300 characters'),
  /** Files of private keys that are tried first; `~` and relative paths are the home's. */
  identities: z.array(z.string().min(1)).readonly().default([]),
  /** Whether other keys of the agent are left alone; by default as in ~/.ssh/config. */
  identitiesOnly: z.enum(['yes', 'no'], 'yes or no').optional(),
  /** Jump hosts, as in ProxyJump; by default those of ~/.ssh/config. */
  jump: z.string().min(1).optional(),
  /** Absolute path of the file that is read instead of ~/.ssh/config. */
  configFile: z.string().min(1).optional(),
  /** The SSH client to use; by default `auto`. */
  transport: z.enum(TRANSPORT_CHOICES).optional(),
  labels: z
    .array(z.string().min(1).max(60))
    .transform((labels): readonly string[] => [...new Set(labels)])
    .default([]),
  /** Address of its ranks for other machines; by default the one that SSH uses. */
  address: z.string().min(1).max(255).optional(),
  /** Ports that its ranks may listen on, such as `20000-20100`; default: any. */
  ports: portRangeSchema.optional(),
  /** Set for the login node of a Slurm cluster: ranks run on nodes that Slurm allocates. */
  slurm: slurmSettingsSchema.optional(),
});
export type NodeEntry = z.infer<typeof nodeEntrySchema>;

/**
 * Identifies the machine that an entry means and the way to it, as a text that another way
 * there makes another one. Its name and its settings are no part of it.
 */
export const wayTo = (entry: NodeEntry): string =>
  JSON.stringify([sshWayTo(entry), entry.address]);

/** Identifies the way by which SSH reaches a machine. */
export const sshWayTo = ({
  destination,
  identities,
  identitiesOnly,
  jump,
  configFile,
  transport,
}: NodeEntry): string =>
  JSON.stringify({
    destination,
    identities,
    identitiesOnly,
    jump,
    configFile,
    transport,
  });

/** A fault of one of an entry's values. */
export interface EntryProblem {
  /** Dotted, as in `slurm.partition`; without the index in a list. */
  readonly path: string;
  readonly message: string;
}

/** The problems of an entry that a schema can find: at most one per value. */
export function entryProblems(raw: unknown): readonly EntryProblem[] {
  const { error, data } = nodeEntrySchema.safeParse(raw, INTERPRETED);
  const problems = new Map<string, EntryProblem>();
  for (const issue of error?.issues ?? []) {
    const keys = issue.path.map(String);
    const path = keys.filter((key) => !/^\d+$/.test(key)).join('.');
    const message = problemText(raw, keys, issue.message);
    if (!problems.has(path)) problems.set(path, { path, message });
  }
  if (data?.name === LOCAL_NODE) {
    problems.set('name', { path: 'name', message: `"${LOCAL_NODE}" is this computer` });
  } else if (data !== undefined && NOT_A_TEXT.test(data.name)) {
    const message = problemText(
      raw,
      ['name'],
      'YAML reads that as a number or a constant; start with a letter',
    );
    problems.set('name', { path: 'name', message });
  }
  const time = data?.slurm?.time;
  // To sbatch it means no limit at all.
  if (time !== undefined && !/[1-9]/.test(time)) {
    const keys = ['slurm', 'time'];
    const message = problemText(raw, keys, 'a job needs some time: 30, 2:00:00');
    problems.set('slurm.time', { path: 'slurm.time', message });
  }
  // No part of the schema: an entry that was stored with such an option can still be read.
  for (const [index, option] of (data?.slurm?.options ?? []).entries()) {
    const problem = optionProblem(option);
    if (problem === undefined) continue;
    const message = problemText(raw, ['slurm', 'options', String(index)], problem);
    problems.set('slurm.options', { path: 'slurm.options', message });
  }
  return [...problems.values()];
}

/**
 * @param placeOf the user's name for a value; default: its path
 * @throws GradwireError `NODE_INVALID`
 */
export function parseNodeEntry(
  raw: unknown,
  placeOf: (path: string) => string = (path) => path,
): NodeEntry {
  const [problem] = entryProblems(raw);
  if (problem === undefined) return nodeEntrySchema.parse(raw, INTERPRETED);
  throw inputError('NODE_INVALID', problem.message, {
    place: placeOf(problem.path),
    next: 'Correct the value and try again.',
  });
}

/** `"80-90" is not valid: at least two ports from 1024 to 65535, the lower one first` */
function problemText(raw: unknown, keys: readonly string[], rule: string): string {
  let value = raw;
  for (const key of keys) value = (value as Record<string, unknown> | undefined)?.[key];
  if (value === undefined) return 'it is missing';
  const text = JSON.stringify(value);
  const shown = text.length > SHOWN ? `${text.slice(0, SHOWN)}…` : text;
  return `${shown} is not valid: ${rule}`;
}

const SHOWN = 60;
