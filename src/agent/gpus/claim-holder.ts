/** Names the holder of a claim on a GPU, as far as the system tells this user. */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

export interface ClaimHolder {
  /** Process id; undefined if it is not known, or the process is outside this container. */
  readonly pid?: number | undefined;
  readonly uid?: number | undefined;
}

const MOST_CHARACTERS = 120;

/** `process 4711 of alice, gradwire worker 3f9c 0`; a rank's command names its run. */
export function describeHolder({ pid, uid }: ClaimHolder): string {
  const of = uid === undefined ? '' : ` of ${userName(uid)}`;
  if (pid === undefined) {
    return uid === undefined
      ? 'a process that does not say who it is'
      : `a process${of}, outside this container`;
  }
  const command = commandOf(pid);
  return `process ${pid}${of}${command === '' ? '' : `, ${command}`}`;
}

/** Name of a user as the system knows it, wherever its users are listed. */
function userName(uid: number): string {
  try {
    const name = execFileSync('id', ['-nu', String(uid)], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    }).trim();
    return name === '' ? `user ${uid}` : name;
  } catch {
    return `user ${uid}`; // one without a name
  }
}

/** Reads a process's command; empty if it has ended, or is hidden from this user. */
function commandOf(pid: number): string {
  try {
    const words = readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ');
    // Another user's words: nothing in them may steer a terminal.
    const plain = words.replace(/\p{Cc}/gu, ' ').trim();
    return plain.length <= MOST_CHARACTERS
      ? plain
      : `${plain.slice(0, MOST_CHARACTERS)}…`;
  } catch {
    return '';
  }
}
