/**
 * The form of a machine: its fields, the entry that they make, and what is wrong with it,
 * field by field.
 */
import { entryProblems } from '../../shared/node-entry.ts';
import { nameOf } from './node-text.ts';

export interface NodeField {
  readonly key: NodeKey;
  readonly title: string;
  readonly hint?: string;
  /** What counts where nothing is given. */
  readonly placeholder?: string;
  readonly lines?: boolean;
}

export const MAIN_FIELDS: readonly NodeField[] = [
  { key: 'name', title: 'Name in specs' },
  { key: 'user', title: 'User' },
  { key: 'port', title: 'Port' },
  { key: 'identity', title: 'Private key file' },
];

export const MORE_FIELDS: readonly NodeField[] = [
  { key: 'jump', title: 'Jump hosts', hint: 'With commas between them' },
  { key: 'labels', title: 'Labels', hint: 'With commas between them' },
  {
    key: 'address',
    title: 'Address for other machines',
    hint: 'Where ranks elsewhere find its ranks',
    placeholder: 'as SSH reaches it',
  },
  {
    key: 'ports',
    title: 'Ports for ranks',
    hint: 'Those that its firewall lets pass, as 20000-20100',
    placeholder: 'any',
  },
];

export const SLURM_FIELDS: readonly NodeField[] = [
  { key: 'partition', title: 'Partition', placeholder: 'the default one' },
  { key: 'account', title: 'Account', placeholder: 'your default' },
  {
    key: 'time',
    title: 'Time limit',
    placeholder: 'the partition’s',
    hint: 'Minutes, or 2:00:00, or 1-12:00:00',
  },
  { key: 'nodes', title: 'Nodes of a run', placeholder: 'as many as needed' },
  { key: 'ranksPerNode', title: 'Ranks on a node, at most', placeholder: 'all' },
  { key: 'cpusPerNode', title: 'Cores on each node', placeholder: 'one for a rank' },
  { key: 'gpusPerNode', title: 'GPUs on each node', placeholder: 'none' },
  {
    key: 'setup',
    title: 'Setup lines',
    hint: 'Shell before each rank, as module load cuda',
    lines: true,
  },
  {
    key: 'options',
    title: 'Other options of sbatch',
    hint: 'One a line, as --qos=high',
    lines: true,
  },
];

const KEYS = [
  'host',
  'name',
  'user',
  'port',
  'identity',
  'jump',
  'labels',
  'address',
  'ports',
  'partition',
  'account',
  'time',
  'nodes',
  'ranksPerNode',
  'cpusPerNode',
  'gpusPerNode',
  'setup',
  'options',
  'transport',
] as const;
export type NodeKey = (typeof KEYS)[number];

/** What was typed, and whether it is a Slurm login node. */
export type NodeForm = Record<NodeKey, string> & { isSlurm: boolean };

export const emptyNodeForm = (): NodeForm => ({
  ...(Object.fromEntries(KEYS.map((key) => [key, ''])) as Record<NodeKey, string>),
  transport: 'auto',
  isSlurm: false,
});

/** The entry that the form makes, right or wrong. Empty fields are left out. */
export function entryOf(form: NodeForm): Record<string, unknown> {
  const text = (key: NodeKey): string => form[key].trim();
  const given = (...keys: readonly NodeKey[]): Record<string, string> =>
    Object.fromEntries(
      keys.flatMap((key) => (text(key) === '' ? [] : [[key, text(key)]])),
    );
  return {
    name: text('name') === '' ? nameOf(text('host')) : text('name'),
    destination: destinationOf(text('host'), text('user'), text('port')),
    identities: Object.values(given('identity')),
    ...given('jump', 'address', 'ports'),
    ...(text('transport') === 'auto' ? {} : { transport: text('transport') }),
    labels: partsOf(text('labels'), ','),
    ...(form.isSlurm
      ? {
          slurm: {
            ...given('partition', 'account', 'time'),
            ...numbersIn(given('nodes', 'ranksPerNode', 'cpusPerNode', 'gpusPerNode')),
            setup: partsOf(form.setup, '\n'),
            options: partsOf(form.options, '\n'),
          },
        }
      : {}),
  };
}

/** What is wrong, by field; as far as that can be told here. */
export function formProblems(form: NodeForm): ReadonlyMap<NodeKey, string> {
  const problems = new Map<NodeKey, string>();
  const port = form.port.trim();
  if (
    port !== '' &&
    !(/^\d+$/.test(port) && Number(port) >= 1 && Number(port) < 2 ** 16)
  )
    problems.set('port', `"${port}" is not valid: a number from 1 to 65535`);
  if (form.host.trim() === '') problems.set('host', 'it is missing');
  for (const { path, message } of entryProblems(entryOf(form))) {
    const key = fieldOf(path);
    // Without a host there is no name that could be suggested.
    const follows = key === 'name' && form.name.trim() === '' && problems.has('host');
    if (key !== undefined && !follows && !problems.has(key)) problems.set(key, message);
  }
  return problems;
}

/** The field of a value of the entry, by its path as errors name it. */
export function fieldOf(path: string | undefined): NodeKey | undefined {
  if (path === 'destination') return 'host';
  if (path === 'identities') return 'identity';
  const key = path?.replace(/^slurm\./, '');
  return KEYS.find((known) => known === key);
}

function destinationOf(host: string, user: string, port: string): string {
  const bracketed = host.includes(':') && port !== '' ? `[${host}]` : host;
  if (host === '') return '';
  return (user === '' ? '' : `${user}@`) + bracketed + (port === '' ? '' : `:${port}`);
}

const partsOf = (text: string, separator: string): readonly string[] =>
  text
    .split(separator)
    .map((part) => part.trim())
    .filter((part) => part !== '');

/** What is no number stays as it was typed, for the check to name it. */
const numbersIn = (
  given: Readonly<Record<string, string>>,
): Record<string, number | string> =>
  Object.fromEntries(
    Object.entries(given).map(([key, text]) => [
      key,
      /^-?\d+(\.\d+)?$/.test(text) ? Number(text) : text,
    ]),
  );
