/** `~` at the beginning of a path as the user's home, as a shell would have it. */
import os from 'node:os';
import path from 'node:path';

export function expandHome(given: string): string {
  return given === '~' || given.startsWith('~/')
    ? path.join(os.homedir(), given.slice(1))
    : given;
}
