/**
 * Names of processes in the history: who launches a run, who drives a sweep. Other hosts and
 * containers may share the home, where a process id is another process or none, so a name says
 * where its id is valid.
 */
import { randomBytes } from 'node:crypto';
import { fateOf, ownHolder, parseHolder } from '../../disk/lock-holder.ts';
import { isAlive } from './process-life.ts';

/** `unknown`: on another host or in another container, of which nothing can be seen here. */
export type ProcessLife = 'alive' | 'dead' | 'unknown';

let own: string | undefined;

/** The name of this process, which no other process has. */
export function ownName(): string {
  own ??= JSON.stringify(ownHolder(randomBytes(16).toString('hex')));
  return own;
}

export function lifeOf(name: string): ProcessLife {
  if (name === own) return 'alive';
  const holder = parseHolder(name);
  if (holder === undefined) return lifeOfNumber(Number(name));
  const fate = fateOf(holder);
  return fate === 'alive' || fate === 'dead' ? fate : 'unknown';
}

/** Earlier versions wrote down the process id alone. */
const lifeOfNumber = (pid: number): ProcessLife =>
  Number.isSafeInteger(pid) && pid > 0 && isAlive(pid) ? 'alive' : 'dead';
