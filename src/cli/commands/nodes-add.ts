/** `gradwire nodes add`: a machine by name. Nothing is connected to. */
import path from 'node:path';
import { InvalidArgumentError, Option, type Command } from 'commander';
import { inputError } from '../../shared/errors.ts';
import { TRANSPORT_CHOICES, type TransportChoice } from '../../shared/ssh-transport.ts';
import { withWorkspace } from '../session/workspace.ts';
import { repeated } from '../text/repeated.ts';

interface AddOptions {
  readonly host: string;
  readonly port?: string;
  readonly user?: string;
  readonly identity: readonly string[];
  readonly jump: readonly string[];
  readonly transport: TransportChoice;
  readonly label: readonly string[];
  readonly address?: string;
  readonly ports?: string;
  readonly slurm: boolean;
  readonly partition?: string;
  readonly account?: string;
  readonly time?: string;
  readonly nodes?: number;
  readonly ranksPerNode?: number;
  readonly cpusPerNode?: number;
  readonly gpusPerNode?: number;
  readonly setup: readonly string[];
  readonly sbatch: readonly string[];
}

export function addNodesAddCommand(nodes: Command): void {
  nodes
    .command('add')
    .description('add a machine; what ~/.ssh/config says of the host holds')
    .argument('<name>', 'the name that specs give in world.nodes')
    .requiredOption('--host <host>', 'name or address, or a Host of ~/.ssh/config')
    .option('--port <port>', 'port of its SSH server')
    .option('--user <user>', 'account there')
    .option('--identity <file>', 'private key to try first; repeat it', repeated, [])
    .option('--jump <host>', 'host in between; repeat it for more', repeated, [])
    .addOption(
      new Option(
        '--transport <who>',
        'who speaks SSH: the built-in client, or the system’s ssh (Kerberos, certificates, …)',
      )
        .choices(TRANSPORT_CHOICES)
        .default('auto'),
    )
    .option('--label <text>', 'for your own order; repeat it', repeated, [])
    .option('--address <address>', 'where other machines reach it, if not by SSH’s')
    .option('--ports <range>', 'that its ranks may listen on, as 20000-20100')
    .option('--slurm', 'it is the login node of a Slurm cluster', false)
    .option('--partition <name>', 'with --slurm: the partition')
    .option('--account <name>', 'with --slurm: the account')
    .option('--time <limit>', 'with --slurm: time of an allocation, as for sbatch')
    .option('--nodes <count>', 'with --slurm: compute nodes of a run', parseCount)
    .option('--ranks-per-node <count>', 'with --slurm: ranks on each', parseCount)
    .option('--cpus-per-node <count>', 'with --slurm: cores on each', parseCount)
    .option('--gpus-per-node <count>', 'with --slurm: GPUs on each', parseCount)
    .option(
      '--setup <line>',
      'with --slurm: shell before a rank; repeat it',
      repeated,
      [],
    )
    .option(
      '--sbatch <option>',
      'with --slurm: another option, --sbatch=--qos=high; repeat it',
      repeated,
      [],
    )
    .action(async (name: string, options: AddOptions) => {
      const { host, port, user, identity, jump, label, address, ports } = options;
      const { transport } = options;
      const bracketed = host.includes(':') && port !== undefined ? `[${host}]` : host;
      const raw = {
        name,
        destination:
          (user === undefined ? '' : `${user}@`) +
          bracketed +
          (port === undefined ? '' : `:${port}`),
        identities: identity.map((file) => path.resolve(file)),
        ...(jump.length === 0 ? {} : { jump: jump.join(',') }),
        ...(transport === 'auto' ? {} : { transport }),
        labels: label,
        ...(address === undefined ? {} : { address }),
        ...(ports === undefined ? {} : { ports }),
        ...slurmOf(options),
      };
      await withWorkspace(async ({ store, inventory }) => {
        store.nodes.add(inventory.parse(raw, (field) => optionOf(field, options)));
        process.stdout.write(
          `added ${name}; see what it is like: gradwire nodes check ${name}\n`,
        );
      });
    });
}

/** The option, or the argument, by which a value of the entry was given. */
function optionOf(field: string, { user, port }: AddOptions): string {
  if (field === 'destination') {
    return [
      ...['--host', ...(user === undefined ? [] : ['--user'])],
      ...(port === undefined ? [] : ['--port']),
    ].join(', ');
  }
  return OPTIONS[field] ?? `--${dashed(field.replace(/^slurm\./, ''))}`;
}

const OPTIONS: Readonly<Record<string, string>> = {
  name: '<name>',
  identities: '--identity',
  labels: '--label',
  'slurm.options': '--sbatch',
};

/** `gpusPerNode` → `gpus-per-node` */
const dashed = (key: string): string =>
  key.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);

const SLURM_OPTIONS = [
  'partition',
  'account',
  'time',
  'nodes',
  'ranksPerNode',
  'cpusPerNode',
  'gpusPerNode',
  'setup',
] as const satisfies readonly (keyof AddOptions)[];

/** @throws GradwireError `NODE_INVALID`: options of Slurm for a machine that is not of it */
function slurmOf(options: AddOptions): { readonly slurm?: unknown } {
  const { sbatch } = options;
  const given = SLURM_OPTIONS.map((name) => [name, options[name]] as const).filter(
    ([, value]) => value !== undefined && !(Array.isArray(value) && value.length === 0),
  );
  const settings = Object.fromEntries(given);
  if (options.slurm) {
    return { slurm: sbatch.length === 0 ? settings : { ...settings, options: sbatch } };
  }
  const [stray] = sbatch.length > 0 ? ['sbatch'] : given.map(([name]) => name);
  if (stray === undefined) return {};
  throw inputError('NODE_INVALID', `--${dashed(stray)} is an option of Slurm`, {
    next: 'Give --slurm too, or leave it out.',
  });
}

function parseCount(text: string): number {
  const count = Number(text);
  if (Number.isInteger(count) && count >= 1) return count;
  throw new InvalidArgumentError('It must be a whole number from 1.');
}
