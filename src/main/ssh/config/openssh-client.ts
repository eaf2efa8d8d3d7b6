/** OpenSSH's own view of a host's configuration: `ssh -G`, which does not connect. */
import { execFile } from 'node:child_process';
import { configInvalid } from './config-file.ts';
import type { ConfigValues } from './own-parser.ts';

/** Allows for a slow `Match exec`. */
const DEADLINE_MS = 10_000;
const MAX_BYTES = 2 ** 20;

/** Keywords of which `ssh -G` prints several values on one line. */
const LISTS = new Set(['userknownhostsfile', 'globalknownhostsfile']);

export interface OpensshQuestion {
  /** A name that `checkHostName` has accepted, so never an option. */
  readonly name: string;
  readonly user?: string | undefined;
  readonly port?: number | undefined;
  /** Instead of the user's and the system's files. */
  readonly configFile?: string | undefined;
  readonly program?: string | undefined;
}

/**
 * The answer of the system's client; undefined if there is none.
 * @throws GradwireError `SSH_CONFIG_INVALID` with the client's complaint
 */
export function askOpenssh({
  name,
  user,
  port,
  configFile,
  program = 'ssh',
}: OpensshQuestion): Promise<ConfigValues | undefined> {
  const args = [
    '-G',
    ...(configFile === undefined ? [] : ['-F', configFile]),
    ...(user === undefined ? [] : ['-l', user]),
    ...(port === undefined ? [] : ['-p', String(port)]),
    '--',
    name,
  ];
  return new Promise((resolve, reject) => {
    const options = { timeout: DEADLINE_MS, maxBuffer: MAX_BYTES, windowsHide: true };
    const child = execFile(program, args, options, (error, stdout, stderr) => {
      if (error === null) resolve(parseAnswer(stdout));
      else if (error.code === 'ENOENT') resolve(undefined);
      else {
        const said = stderr.trim().split('\n').at(-1) ?? '';
        const what = error.killed
          ? `did not answer within ${DEADLINE_MS} ms`
          : `refuses it: ${said === '' ? error.message : said}`;
        reject(configInvalid(`OpenSSH's client ${what}`, name));
      }
    });
    child.stdin?.end();
  });
}

/** `keyword value` lines. */
export function parseAnswer(text: string): ConfigValues {
  const values = new Map<string, readonly string[]>();
  for (const line of text.split('\n')) {
    const space = line.indexOf(' ');
    if (space <= 0) continue;
    const keyword = line.slice(0, space).toLowerCase();
    const value = line.slice(space + 1);
    const given = LISTS.has(keyword) ? splitPaths(value) : [value];
    values.set(keyword, [...(values.get(keyword) ?? []), ...given]);
  }
  return values;
}

/**
 * Paths are printed without quotes, so a word that does not begin a path continues the
 * previous one.
 */
function splitPaths(text: string): readonly string[] {
  const paths: string[] = [];
  for (const word of text.split(' ')) {
    if (paths.length === 0 || /^([/~]|[A-Za-z]:|none$)/.test(word)) paths.push(word);
    else paths.push(`${paths.pop()!} ${word}`);
  }
  return paths;
}
