/**
 * Changes a machine's entry. While runs have ranks there, or records that are not stored
 * yet, the entry must keep meaning that machine: another machine would be asked about these
 * runs and answer that it does not know them.
 *
 *     at any time              labels, ports, address, keys, transport, settings of Slurm
 *     if it is the same machine  host, user, port, jump hosts
 *     not while it is in use   name, being a Slurm login node or not
 */
import { inputError } from '../../shared/errors/errors.ts';
import type { NodeEntry } from '../../shared/machines/node-entry.ts';
import type { RunStore } from '../store/run-store.ts';

export interface NodeChangeOptions {
  /** The user says that another host, port, user or jump host leads to the same account. */
  readonly sameMachine?: boolean | undefined;
  /** The user's name for a value of the entry; default: its path. */
  readonly placeOf?: (path: string) => string;
}

/** Paths of the values that identify an entry's machine. */
const WHERE = [
  'destination',
  'jump',
  'configFile',
] as const satisfies readonly (keyof NodeEntry)[];

/**
 * @param before the entry in the store; if someone else has changed it meanwhile, the
 * change is refused
 * @throws GradwireError `NODE_IN_USE`, `NODE_CHANGED`, `NODE_EXISTS`, `NODE_UNKNOWN`
 */
export function changeNode(
  store: RunStore,
  before: NodeEntry,
  after: NodeEntry,
  { sameMachine = false, placeOf = (path) => path }: NodeChangeOptions = {},
): void {
  const settled = settledOf(before, after);
  const where = WHERE.find((key) => before[key] !== after[key]);
  const held = settled ?? (sameMachine ? undefined : where);
  const use = held === undefined ? undefined : useOf(store, before.name);
  if (held !== undefined && use !== undefined) {
    const orSame =
      held === settled
        ? ''
        : ' If it is still the same machine and account, add --same-machine.';
    throw inputError('NODE_IN_USE', `${use.what}: ${WHAT[held]} cannot change`, {
      place: placeOf(held),
      next: use.next + orSame,
    });
  }
  store.nodes.replace(before, after);
}

type Held = (typeof WHERE)[number] | 'name' | 'slurm';

const WHAT: Readonly<Record<Held, string>> = {
  name: 'its name',
  slurm: 'whether it is a Slurm login node',
  destination: 'its host, port and user',
  jump: 'the jump hosts before it',
  configFile: 'its file of SSH settings',
};

function settledOf(before: NodeEntry, after: NodeEntry): Held | undefined {
  if (before.name !== after.name) return 'name';
  return (before.slurm === undefined) === (after.slurm === undefined)
    ? undefined
    : 'slurm';
}

/** Returns the use that a machine still has, if any. */
function useOf(
  store: RunStore,
  name: string,
): { readonly what: string; readonly next: string } | undefined {
  const run = store.runs.unended().find(({ nodes }) => nodes.includes(name));
  if (run !== undefined) {
    return {
      what: `run ${run.id} (${run.name}) has ranks on ${name}`,
      next: `Stop it first: gradwire runs stop ${run.id}.`,
    };
  }
  const missing = store.journals.missing().find(({ node }) => node === name);
  return missing === undefined
    ? undefined
    : {
        what: `${name} has records of run ${missing.run} that are not stored here`,
        next: `Read them first: gradwire runs attach ${missing.run}.`,
      };
}
