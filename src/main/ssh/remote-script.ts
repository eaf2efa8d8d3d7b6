/**
 * A script for the remote `sh`, sent over its stdin, so that neither the script nor a value
 * is ever part of a command line. Random markers around the script's own output separate it
 * from anything that the login shell prints.
 */
import { randomBytes } from 'node:crypto';
import { failure } from '../../shared/errors.ts';
import { shellQuoted } from '../../shared/shell-word.ts';
import type { RemoteConnection } from './remote-connection.ts';
import type { CommandOptions, CommandResult } from './remote-command.ts';
import { printable } from './ssh-errors.ts';
import { placeOf } from './target.ts';

export interface ScriptOptions extends Omit<CommandOptions, 'input'> {
  /** The script's name in errors. */
  readonly name?: string | undefined;
  /** Shell variables, with any values. */
  readonly variables?: Readonly<Record<string, string>> | undefined;
}

/**
 * The script's stdin is empty; its exit code is not an error.
 * @throws GradwireError `SSH_SCRIPT_BROKEN` if the host did not run it to its end, and
 * those of `RemoteConnection.run`
 */
export async function runScript(
  connection: RemoteConnection,
  script: string,
  { variables = {}, name = 'the script', ...options }: ScriptOptions = {},
): Promise<CommandResult> {
  const mark = `gradwire-${randomBytes(12).toString('hex')}`;
  const input = [
    ...Object.entries(variables).map(([key, value]) => assignment(key, value)),
    // The parentheses make the shell read the whole script before it runs, so commands
    // inside cannot consume the rest.
    `(printf '\\n%s\\n' ${mark}`,
    script,
    `) </dev/null; printf '\\n%s %s\\n' ${mark} $?`,
    '',
  ].join('\n');
  const result = await connection.run('sh -s', { ...options, title: name, input });
  const start = result.stdout.indexOf(`\n${mark}\n`);
  const end = new RegExp(`\\n${mark} (\\d+)\\n`).exec(result.stdout);
  if (start < 0 || end === null) {
    const said = printable(result.stderr || result.stdout).slice(-200);
    throw failure(
      'SSH_SCRIPT_BROKEN',
      `the remote shell did not finish ${name}: ${said}`,
      {
        place: placeOf(connection.target),
        next: 'Check that the account has a login shell that runs commands.',
      },
    );
  }
  return {
    ...result,
    code: Number(end[1]),
    stdout: result.stdout.slice(start + mark.length + 2, end.index),
  };
}

function assignment(name: string, value: string): string {
  if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(name) || value.includes('\0')) {
    throw new Error(`internal: ${name} cannot be a shell variable`);
  }
  return `${name}=${shellQuoted(value)}`;
}
