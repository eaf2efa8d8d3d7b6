/** `~` at the beginning of a path as the user's home, as a shell would have it. */
import path from 'node:path';
import { userHome } from '../home/user-home.ts';

export function expandHome(given: string): string {
  return given === '~' || given.startsWith('~/')
    ? path.join(userHome(), given.slice(1))
    : given;
}
