/**
 * A script for the remote `sh`, sent over its stdin, so that neither the script nor a value
 * is ever part of a command line. Random markers around the script's own output separate it
 * from anything that the login shell prints.
 */
import { randomBytes } from 'node:crypto';
import { failure, type GradwireError } from '../../shared/errors/errors.ts';
import { shellQuoted } from '../../shared/words/shell-word.ts';
import type { RemoteConnection } from './remote-connection.ts';
import type { CommandOptions, CommandResult } from './remote-command.ts';
import { printable } from './ssh-errors.ts';
import { placeOf } from './target.ts';

/** A shell variable that is set if the shell has read the script from its beginning. */
const WHOLE = 'gradwire_whole';
const PROBE_MS = 20_000;
/** The status with which shells say that there is no such program. */
const COMMAND_NOT_FOUND = 127;

export interface ScriptOptions extends Omit<CommandOptions, 'input'> {
  /** The script's name in errors. */
  readonly name?: string | undefined;
  /** Most milliseconds until the login shell begins the script; default: as long as the script. */
  readonly shellMs?: number | undefined;
  /** Shell variables, with any values. */
  readonly variables?: Readonly<Record<string, string>> | undefined;
}

/**
 * The script's stdin is empty; its exit code is not an error.
 * @throws GradwireError `SSH_SCRIPT_BROKEN`, `SSH_CHANNEL_CLOSED` or `SSH_PASSWORD_EXPIRED` if the
 * host did not run it to its end, and those of `RemoteConnection.run`
 */
export async function runScript(
  connection: RemoteConnection,
  script: string,
  { variables = {}, name = 'the script', shellMs, ...options }: ScriptOptions = {},
): Promise<CommandResult> {
  const mark = `gradwire-${randomBytes(12).toString('hex')}`;
  const input = [
    // What start files of the login shell read from stdin is missing at the beginning. A
    // script without its first variables must not run: it may delete things.
    `${WHOLE}=${mark}`,
    ...Object.entries(variables).map(([key, value]) => assignment(key, value)),
    // The parentheses make the shell read the whole script before it runs, so commands
    // inside cannot consume the rest.
    `[ "$${WHOLE}" = ${mark} ] || { printf '\\n%s\\n' ${mark}-cut; exit 0; }`,
    `(printf '\\n%s\\n' ${mark}`,
    script,
    `) </dev/null; printf '\\n%s %s\\n' ${mark} $?`,
    '',
  ].join('\n');
  const begins = shellMs === undefined ? undefined : { mark, withinMs: shellMs };
  const asked = { ...options, begins, title: name, input };
  const result = await connection.run('sh -s', asked);
  const start = result.stdout.indexOf(`\n${mark}\n`);
  const end = new RegExp(`\\n${mark} (\\d+)\\n`).exec(result.stdout);
  if (start < 0 || end === null) throw await whyBroken(connection, name, mark, result);
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

async function whyBroken(
  connection: RemoteConnection,
  name: string,
  mark: string,
  result: CommandResult,
): Promise<GradwireError> {
  const { code, stdout, stderr } = result;
  const place = placeOf(connection.target);
  const said = printable(stderr || stdout).slice(-200);
  if (
    /password.{0,20}expired|password change required|change your password/i.test(said)
  ) {
    return failure(
      'SSH_PASSWORD_EXPIRED',
      `the account’s password has expired: ${said}`,
      {
        place,
        next: 'Log in with ssh in a terminal, change it there, then try again.',
      },
    );
  }
  const what = `the remote shell did not finish ${name}`;
  const broken = (why: string, next: string): GradwireError =>
    failure('SSH_SCRIPT_BROKEN', `${what}: ${why}`, { place, next });
  const wasCut = stdout.includes(`\n${mark}-cut\n`);
  const hasBegun = stdout.includes(`\n${mark}\n`);
  const probe = wasCut || hasBegun ? undefined : await runsCommands(connection, mark);
  // Most servers say how a command ended, if they wait for its end.
  const mayBeClosed = hasBegun || (probe !== undefined && hasEnded(probe));
  if (!wasCut && !hasEnded(result) && mayBeClosed) {
    return failure(
      'SSH_CHANNEL_CLOSED',
      `the server closed the channel of ${name} before it had ended`,
      { place, next: CHANNEL_TIMEOUT },
    );
  }
  if (code === COMMAND_NOT_FOUND) {
    return broken(
      `its shell finds no sh: ${said}`,
      'Its PATH must have the system’s programs (/usr/bin, /bin). Look for PATH in its start files (.bashrc, .profile, .cshrc), and for SetEnv in the server’s sshd_config.',
    );
  }
  if (wasCut || probe !== undefined) {
    return broken(
      'a start file of that account reads the shell’s input',
      'Let .bashrc, .profile or .cshrc there read input in interactive shells only, or from /dev/null.',
    );
  }
  const silent = `it ended with exit code ${code ?? '(none)'} and said nothing`;
  return broken(
    said === '' ? silent : said,
    'Check that the account may run commands, and that no start file there (.bashrc, .profile, .cshrc) ends the shell or replaces it by another program (exit, exec) where it is not interactive.',
  );
}

const CHANNEL_TIMEOUT =
  'It may close channels over which nothing is sent for a while: if its sshd_config has a ' +
  'ChannelTimeout, ask its administrator for a longer one, such as ChannelTimeout session:*=10m.';

const hasEnded = ({ code, signal }: CommandResult): boolean =>
  code !== null || signal !== null;

/** A command that needs no input, if the login shell runs it. */
async function runsCommands(
  connection: RemoteConnection,
  mark: string,
): Promise<CommandResult | undefined> {
  try {
    // In two parts, which only a shell joins: a forced command may repeat what it is given.
    const [first, second] = [mark.slice(0, 12), mark.slice(12)];
    const command = `printf '%s%s' ${first} ${second}`;
    const result = await connection.run(command, { deadlineMs: PROBE_MS });
    return result.stdout.includes(mark) ? result : undefined;
  } catch {
    return undefined; // The script's own failure says more.
  }
}
