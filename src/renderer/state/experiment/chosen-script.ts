/** A script that was chosen from a folder, as the command and working directory of a draft. */
import type { JsonValue } from '../../../shared/checks/json.ts';
import { shellWord } from '../../../shared/words/shell-word.ts';

/** A script in a line for the shell, in quotes or not. */
const IN_LINE = /(?<=^|\s)(?:'[^']*\.py'|[^\s'"]+\.py)(?=\s|$)/;

const isText = (value: unknown): value is string => typeof value === 'string';

/**
 * A command with another script, and everything else in it as it was; one without a script is
 * replaced by Python with this one.
 */
export function withScript(
  command: JsonValue | undefined,
  script: string,
): string | string[] {
  // Not an option, even where its name begins as one.
  const named = script.startsWith('-') ? `./${script}` : script;
  const line = lineOf(command);
  if (line !== undefined && IN_LINE.test(line)) {
    return line.replace(IN_LINE, () => shellWord(named));
  }
  if (line === undefined && Array.isArray(command) && command.every(isText)) {
    const at = command.findIndex((word) => word.endsWith('.py'));
    if (at >= 0) return command.with(at, named);
  }
  return `python3 ${shellWord(named)}`;
}

/** The line of a command that the shell reads, also once it was checked. */
function lineOf(command: JsonValue | undefined): string | undefined {
  if (isText(command)) return command;
  if (!Array.isArray(command) || command.length !== 3) return undefined;
  const [program, option, line] = command;
  return program === '/bin/sh' && option === '-c' && isText(line) ? line : undefined;
}

/**
 * The working directory for a script and its path from there: a script below the one that was given
 * leaves it as it is.
 * @param folder absolute, of the script
 * @param given the absolute path of `workload.workdir`, if that was found
 */
export function scriptPlace(
  folder: string,
  name: string,
  given: string | undefined,
): { readonly workdir: string | undefined; readonly script: string } {
  if (given === undefined) return { workdir: folder, script: name };
  if (folder === given) return { workdir: undefined, script: name };
  const start = given.endsWith('/') ? given : `${given}/`;
  return folder.startsWith(start)
    ? { workdir: undefined, script: `${folder.slice(start.length)}/${name}` }
    : { workdir: folder, script: name };
}
