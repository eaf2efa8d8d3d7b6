/**
 * A machine's entry is changed. Where runs have ranks there, or records that are not stored
 * yet, the entry must go on to mean that machine: it would be asked for them, and another
 * one's answer would be that it knows no such run.
 *
 *     at any time              labels, ports, address, keys, transport, settings of Slurm
 *     if it is the same machine  host, user, port, jump hosts
 *     not while it is in use   name, being a Slurm login node or not
 */
import { inputError } from '../../shared/errors.ts';
import type { NodeEntry } from '../../shared/node-entry.ts';
import type { RunStore } from '../store/run-store.ts';

export interface NodeChangeOptions {
  /** The user says that another host, port, user or jump host leads to the same account. */
  readonly sameMachine?: boolean | undefined;
  /** What the user knows a value of the entry as; default: its path. */
  readonly placeOf?: (path: string) => string;
}

/** Paths of what tells which machine an entry means. */
const WHERE = [
  'destination',
  'jump',
  'configFile',
] as const satisfies readonly (keyof NodeEntry)[];

/**
 * @param before as it is in the store: a change by somebody else meanwhile is refused
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
        : ' If it is the same machine and account, say so: --same-machine.';
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

/** What is still wanted of a machine, if anything. */
function useOf(
  store: RunStore,
  name: string,
): { readonly what: string; readonly next: string } | undefined {
  const run = store.unended().find(({ nodes }) => nodes.includes(name));
  if (run !== undefined) {
    return {
      what: `run ${run.id} (${run.name}) has ranks on ${name}`,
      next: `Stop it first: gradwire runs stop ${run.id}.`,
    };
  }
  const missing = store.missingJournals().find(({ node }) => node === name);
  return missing === undefined
    ? undefined
    : {
        what: `${name} has records of run ${missing.run} that are not stored here`,
        next: `Read them first: gradwire runs attach ${missing.run}.`,
      };
}
