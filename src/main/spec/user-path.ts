/** Paths as a user writes them. */
import path from 'node:path';
import { userHome } from '../home/user-home.ts';

/** The path with `~` at its beginning as the user's home, as a shell would have it. */
export function expandHome(given: string): string {
  return given === '~' || given.startsWith('~/')
    ? path.join(userHome(), given.slice(1))
    : given;
}

/** The path of a Python as an absolute one; a name is looked up where the rank runs. */
export const pythonPath = (given: string, base: string): string =>
  given.includes('/') ? path.resolve(base, expandHome(given)) : given;
