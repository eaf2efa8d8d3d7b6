/**
 * The fields of a machine: the options of `nodes add` and `nodes edit`, and the fields of the
 * app's form, are made from this one list, and so is the entry from what was given.
 */
import { joinDestination, splitDestination } from './destination.ts';
import type { NodeEntry } from './node-entry.ts';
import { TRANSPORT_CHOICES } from './ssh-transport.ts';

export type NodeKey =
  | 'host'
  | 'name'
  | 'user'
  | 'port'
  | 'identity'
  | 'identitiesOnly'
  | 'jump'
  | 'transport'
  | 'labels'
  | 'address'
  | 'ports'
  | SlurmKey;

export type SlurmKey =
  | 'partition'
  | 'account'
  | 'time'
  | 'nodes'
  | 'ranksPerNode'
  | 'cpusPerNode'
  | 'gpusPerNode'
  | 'setup'
  | 'options';

export interface NodeField {
  readonly key: NodeKey;
  /** The place of the field's value in the entry, as errors name it. */
  readonly path: string;
  readonly kind: 'text' | 'count' | 'list';
  /** Flags of the field's option, as commander takes them. */
  readonly flags: string;
  readonly description: string;
  readonly choices?: readonly string[];
  readonly title: string;
  readonly hint?: string;
  /** The value that counts where nothing is given. */
  readonly placeholder?: string;
  /** The separator of a list's parts in the form. */
  readonly separator?: ',' | '\n';
}

/** Fields for the way to a machine, and for its name. */
export const MAIN_FIELDS: readonly NodeField[] = [
  {
    key: 'name',
    path: 'name',
    kind: 'text',
    title: 'Name in specs',
    flags: '--name <name>',
    description: 'its name in world.nodes of specs',
  },
  {
    key: 'user',
    path: 'destination',
    kind: 'text',
    title: 'User',
    flags: '--user <user>',
    description: 'account there',
  },
  {
    key: 'port',
    path: 'destination',
    kind: 'text',
    title: 'Port',
    flags: '--port <port>',
    description: 'port of its SSH server',
  },
  {
    key: 'identity',
    path: 'identities',
    kind: 'list',
    separator: '\n',
    title: 'Private key file',
    flags: '--identity <file>',
    description: 'private key to try first; repeatable',
  },
];

export const HOST_FIELD: NodeField = {
  key: 'host',
  path: 'destination',
  kind: 'text',
  title: 'Host: name, address, or a Host from ~/.ssh/config',
  flags: '--host <host>',
  description: 'name or address, or a Host from ~/.ssh/config',
};

export const TRANSPORT_FIELD: NodeField = {
  key: 'transport',
  path: 'transport',
  kind: 'text',
  title: 'SSH client',
  flags: '--transport <who>',
  description: 'SSH client: built-in, or the system’s ssh (Kerberos, certificates, …)',
  choices: TRANSPORT_CHOICES,
};

/** Fields that are rarely needed. */
export const MORE_FIELDS: readonly NodeField[] = [
  {
    key: 'identitiesOnly',
    path: 'identitiesOnly',
    kind: 'text',
    title: 'Only the named keys',
    hint: 'yes: offer no other key of the SSH agent',
    placeholder: 'as in ~/.ssh/config',
    flags: '--identities-only <yes|no>',
    description: 'whether to offer no other key of the SSH agent (IdentitiesOnly)',
    choices: ['yes', 'no'],
  },
  {
    key: 'jump',
    path: 'jump',
    kind: 'list',
    separator: ',',
    title: 'Jump hosts',
    hint: 'Separated by commas',
    flags: '--jump <host>',
    description: 'jump host; repeatable',
  },
  {
    key: 'labels',
    path: 'labels',
    kind: 'list',
    separator: ',',
    title: 'Labels',
    hint: 'Separated by commas',
    flags: '--label <text>',
    description: 'your own label; repeatable',
  },
  {
    key: 'address',
    path: 'address',
    kind: 'text',
    title: 'Address for other machines',
    hint: 'Address at which ranks on other machines reach its ranks',
    placeholder: 'the address that SSH uses',
    flags: '--address <address>',
    description: 'address at which other machines reach it; default: the one for SSH',
  },
  {
    key: 'ports',
    path: 'ports',
    kind: 'text',
    title: 'Ports for ranks',
    hint: 'Ports that its firewall lets through, such as 20000-20100',
    placeholder: 'any',
    flags: '--ports <range>',
    description: 'ports that its ranks may listen on, such as 20000-20100',
  },
];

export const SLURM_FIELDS: readonly (NodeField & { readonly key: SlurmKey })[] = [
  {
    key: 'partition',
    path: 'slurm.partition',
    kind: 'text',
    title: 'Partition',
    placeholder: 'the default',
    flags: '--partition <name>',
    description: 'with --slurm: the partition',
  },
  {
    key: 'account',
    path: 'slurm.account',
    kind: 'text',
    title: 'Account',
    placeholder: 'your default',
    flags: '--account <name>',
    description: 'with --slurm: the account',
  },
  {
    key: 'time',
    path: 'slurm.time',
    kind: 'text',
    title: 'Time limit',
    placeholder: 'the partition’s default',
    hint: 'Minutes, or 2:00:00, or 1-12:00:00',
    flags: '--time <limit>',
    description: 'with --slurm: time limit of a job, as for sbatch',
  },
  {
    key: 'nodes',
    path: 'slurm.nodes',
    kind: 'count',
    title: 'Nodes per run',
    placeholder: 'as many as needed',
    flags: '--nodes <count>',
    description: 'with --slurm: compute nodes per run',
  },
  {
    key: 'ranksPerNode',
    path: 'slurm.ranksPerNode',
    kind: 'count',
    title: 'Most ranks per node',
    placeholder: 'all',
    flags: '--ranks-per-node <count>',
    description: 'with --slurm: ranks per node',
  },
  {
    key: 'cpusPerNode',
    path: 'slurm.cpusPerNode',
    kind: 'count',
    title: 'Cores per node',
    placeholder: 'one per rank',
    flags: '--cpus-per-node <count>',
    description: 'with --slurm: cores per node',
  },
  {
    key: 'gpusPerNode',
    path: 'slurm.gpusPerNode',
    kind: 'count',
    title: 'GPUs per node',
    placeholder: 'none',
    flags: '--gpus-per-node <count>',
    description: 'with --slurm: GPUs per node',
  },
  {
    key: 'setup',
    path: 'slurm.setup',
    kind: 'list',
    separator: '\n',
    title: 'Setup lines',
    hint: 'Shell commands run before each rank, such as module load cuda',
    flags: '--setup <line>',
    description: 'with --slurm: shell line to run before each rank; repeatable',
  },
  {
    key: 'options',
    path: 'slurm.options',
    kind: 'list',
    separator: '\n',
    title: 'Other sbatch options',
    hint: 'One per line, such as --qos=high',
    flags: '--sbatch <option>',
    description:
      'with --slurm: another sbatch option, such as --sbatch=--qos=high; repeatable',
  },
];

export const NODE_FIELDS: readonly NodeField[] = [
  HOST_FIELD,
  ...MAIN_FIELDS,
  ...MORE_FIELDS,
  TRANSPORT_FIELD,
  ...SLURM_FIELDS,
];

/**
 * Values that are given of a machine; the others are left out. A count may be a text that is
 * no number: the check of the entry names it.
 */
export interface NodeValues {
  readonly fields: Readonly<Partial<Record<NodeKey, NodeValue>>>;
  /** Whether the machine is a Slurm cluster's login node; settings of Slurm count only then. */
  readonly slurm: boolean;
}
export type NodeValue = string | number | readonly string[];

/**
 * The entry that values make, right or wrong.
 * @param base the entry that is changed: what no field tells of it stays
 */
export function entryFrom(
  { fields, slurm }: NodeValues,
  base?: NodeEntry,
): Record<string, unknown> {
  const text = (key: NodeKey): string | undefined => fields[key]?.toString();
  const list = (key: NodeKey): readonly string[] =>
    (fields[key] as readonly string[] | undefined) ?? [];
  const given = (...keys: readonly NodeKey[]): Record<string, NodeValue> =>
    Object.fromEntries(
      keys.flatMap((key) => (fields[key] === undefined ? [] : [[key, fields[key]]])),
    );
  const [user, port] = [text('user'), text('port')];
  const destination = joinDestination({
    ...splitDestination(text('host') ?? ''),
    ...(user === undefined ? {} : { user }),
    ...(port === undefined ? {} : { port }),
  });
  const jump = list('jump').join(',');
  return {
    ...given('name'),
    destination,
    identities: list('identity'),
    ...given('identitiesOnly'),
    ...(jump === '' ? {} : { jump }),
    ...(base?.configFile === undefined ? {} : { configFile: base.configFile }),
    ...(text('transport') === 'auto' ? {} : given('transport')),
    labels: list('labels'),
    ...given('address', 'ports'),
    ...(slurm ? { slurm: given(...SLURM_FIELDS.map(({ key }) => key)) } : {}),
  };
}

/** Returns an entry's values by field: `entryFrom` makes it again. */
export function valuesOf(entry: NodeEntry): NodeValues {
  const { slurm, name, identities, identitiesOnly, jump, labels } = entry;
  const { address, ports, transport } = entry;
  const fields: Readonly<Partial<Record<NodeKey, NodeValue | undefined>>> = {
    ...splitDestination(entry.destination),
    name,
    identity: identities,
    jump: jump?.split(','),
    labels,
    address,
    ports,
    identitiesOnly,
    transport,
    ...slurm,
  };
  return {
    fields: Object.fromEntries(
      Object.entries(fields).filter(
        ([, value]) =>
          value !== undefined && !(typeof value === 'object' && value.length === 0),
      ),
    ),
    slurm: slurm !== undefined,
  };
}
