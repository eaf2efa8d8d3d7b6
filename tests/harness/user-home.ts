/**
 * Another home directory for the user who runs the tests, for one command: a password file
 * of ours lies over the system's in its mount namespace. `~/.ssh/config` is looked up
 * there, not by HOME. Linux, as root.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { shellQuoted } from '../../src/shared/words/shell-word.ts';

/** A command for bash that goes before another one, which then has that home. */
export function inUserHome(directory: string): string {
  const { username } = os.userInfo();
  const lines = readFileSync('/etc/passwd', 'utf8')
    .split('\n')
    .map((line) => {
      const fields = line.split(':');
      return fields[0] === username ? fields.with(5, directory).join(':') : line;
    });
  const file = path.join(directory, 'passwd');
  writeFileSync(file, lines.join('\n'));
  const script = 'mount --bind "$0" /etc/passwd && exec "$@"';
  const words = ['unshare', '--mount', '--propagation', 'private', 'sh', '-c', script];
  return `exec ${[...words, file].map(shellQuoted).join(' ')} "$@"`;
}
