/** The machines of a run, as lists and pages name them. */
import { LOCAL_NODE } from './node-entry.ts';

const SHOWN = 3;

/** The local computer's name in texts. */
export const HERE = 'this computer';

/**
 * A machine's name in texts. Records have this computer's host name, which may be another
 * machine's too.
 * @param nodes the machines of the run, as its spec names them
 */
export function machineName(node: string, nodes: readonly string[]): string {
  const isHere = node === LOCAL_NODE || !nodes.includes(node);
  return isHere && nodes.includes(LOCAL_NODE) ? HERE : node;
}

/** A machine of the list in texts: `this computer`, `box`. Specs and commands have its name. */
export const machineTitle = (name: string): string =>
  name === LOCAL_NODE ? HERE : name;

/** `this computer`, `box and crate`, `a, b, c and 5 others` */
export function machineNames(nodes: readonly string[]): string {
  const names = nodes.map(machineTitle);
  const others = names.length - SHOWN;
  if (others > 1) return `${names.slice(0, SHOWN).join(', ')} and ${others} others`;
  const [last = '', ...before] = names.toReversed();
  return before.length === 0 ? last : `${before.toReversed().join(', ')} and ${last}`;
}
