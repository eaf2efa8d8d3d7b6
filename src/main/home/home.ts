/**
 * The home directory: everything that Gradwire keeps on this computer. It is private to
 * the user (mode 0700) because any process that can open its socket can start processes.
 *
 *   gradwire.db      runs and their records (SQLite)
 *   runs/            journals, owned by the supervisor
 *   supervisor.sock  where the supervisor listens
 *   supervisor.lock  which process owns the runs: one at a time, also over NFS
 *   supervisor.log   the supervisor's stderr
 *   data/            public data sets (`gradwire data fetch`)
 *   packages/        what is deployed to machines, and npm packages for other processors
 *   network.json     what was measured of the network (`gradwire bench network`)
 *   rehearsals.json  how long compression methods take here (`gradwire plan`)
 *   reproduced/      results of figures that were reproduced from the app
 *   known_hosts      SSH host keys that were accepted here (the user's own are not touched)
 *   app.lock         held by the one window or server that uses this home
 *   app.json         who holds it
 *   app.log          faults of the app that nothing else caught
 */
import { createHash } from 'node:crypto';
import os from 'node:os';
import path from 'node:path';
import { makePrivate } from '../../disk/private-directory.ts';
import { isTooLong } from './socket-address.ts';
import { userHome } from './user-home.ts';

export interface Home {
  readonly directory: string;
  readonly database: string;
  readonly runs: string;
  /** A Unix socket's path of any length (`socket-address.ts`); on Windows a named pipe. */
  readonly socket: string;
  /** The socket of supervisors of older versions, if the path was too long for them. */
  readonly formerSocket: string | undefined;
  readonly supervisorLog: string;
  /** A directory for each public data set. */
  readonly data: string;
  readonly networkProfile: string;
  /** Times of compression methods on this computer. */
  readonly rehearsals: string;
  /** Results of figures that were reproduced from the app. */
  readonly reproduced: string;
  readonly knownHosts: string;
  readonly lock: string;
  readonly lockHolder: string;
  readonly appLog: string;
}

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * The home's path: `$GRADWIRE_HOME`, otherwise the platform's directory for user data.
 */
export function resolveHome(
  environment: Environment = process.env,
  platform: NodeJS.Platform = process.platform,
): Home {
  const chosen = environment['GRADWIRE_HOME'];
  const directory =
    chosen === undefined || chosen === ''
      ? path.join(dataDirectory(environment, platform), 'gradwire')
      : path.resolve(chosen);
  return {
    directory,
    database: path.join(directory, 'gradwire.db'),
    runs: path.join(directory, 'runs'),
    socket: socketPath(directory, platform),
    formerSocket: formerSocket(directory, platform),
    supervisorLog: path.join(directory, 'supervisor.log'),
    data: path.join(directory, 'data'),
    networkProfile: path.join(directory, 'network.json'),
    rehearsals: path.join(directory, 'rehearsals.json'),
    reproduced: path.join(directory, 'reproduced'),
    knownHosts: path.join(directory, 'known_hosts'),
    lock: path.join(directory, 'app.lock'),
    lockHolder: path.join(directory, 'app.json'),
    appLog: path.join(directory, 'app.log'),
  };
}

const NEXT =
  'Set GRADWIRE_HOME to a directory that is yours and that you may write to.';

/**
 * Creates the home's missing directories, and takes from other users what they could do in
 * existing ones.
 * @param notice told what was changed
 * @throws GradwireError `HOME_UNUSABLE`
 */
export async function openHome(
  home: Home = resolveHome(),
  notice: (text: string) => void = (text) =>
    process.stderr.write(`gradwire: ${text}\n`),
): Promise<Home> {
  const directories = new Set([home.directory]);
  if (process.platform !== 'win32') directories.add(path.dirname(home.socket));
  for (const directory of directories) {
    const changed = await makePrivate(directory, NEXT);
    if (changed !== undefined) notice(changed);
  }
  return home;
}

function dataDirectory(environment: Environment, platform: NodeJS.Platform): string {
  const user = userHome();
  if (platform === 'darwin') return path.join(user, 'Library', 'Application Support');
  if (platform === 'win32') {
    return environment['LOCALAPPDATA'] ?? path.join(user, 'AppData', 'Local');
  }
  const xdg = environment['XDG_DATA_HOME'];
  // By the XDG specification a relative path there is invalid and must be ignored.
  return xdg !== undefined && path.isAbsolute(xdg)
    ? xdg
    : path.join(user, '.local', 'share');
}

function socketPath(directory: string, platform: NodeJS.Platform): string {
  const inside = path.join(directory, 'supervisor.sock');
  if (platform === 'win32') return `\\\\.\\pipe\\gradwire-${nameOf(directory)}`;
  if (platform === 'linux' || !isTooLong(inside)) return inside;
  // Not from the environment: another terminal may have another TMPDIR or HOME.
  const { homedir } = os.userInfo();
  return path.join(homedir, `.gradwire-${nameOf(directory)}`, 'supervisor.sock');
}

function formerSocket(
  directory: string,
  platform: NodeJS.Platform,
): string | undefined {
  const inside = path.join(directory, 'supervisor.sock');
  if (platform === 'win32' || !isTooLong(inside)) return undefined;
  return path.join(os.tmpdir(), `gradwire-${nameOf(directory)}`, 'supervisor.sock');
}

const nameOf = (directory: string): string =>
  createHash('sha256').update(directory).digest('hex').slice(0, 16);
