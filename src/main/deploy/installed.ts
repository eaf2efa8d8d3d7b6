/**
 * A look at what is already on a machine: one short script, run at every connection. It asks
 * only what decides whether to deploy.
 */
import { isNodeAccepted } from '../../shared/machines/lowest-node.ts';
import type { ConnectionEnds } from '../../shared/machines/preflight.ts';
import type { RemoteConnection } from '../ssh/remote-connection.ts';
import { runScript } from '../ssh/remote-script.ts';
import { BEFORE_NODE } from './node-environment.ts';
import type { PackageArchive } from './package-archive.ts';

/** The agent's directory in an account's home. */
export const BASE = '.gradwire';

export interface Installed {
  /** `uname -s` and `uname -m`. */
  readonly system: string;
  readonly machine: string;
  /** Version of the Node on the PATH: `v24.1.0`. */
  readonly node?: string | undefined;
  /**
   * Hashes of complete packages, the newest first. Machines of several systems and processors may
   * share the home: runtimes are only those that run on this one.
   */
  readonly agents: readonly string[];
  readonly runtimes: readonly string[];
  /** Hashes of runtimes for its processor that do not run. */
  readonly broken: readonly string[];
  /** Whether there are remains of uploads that nobody goes on with. */
  readonly stale: boolean;
  readonly connection?: ConnectionEnds | undefined;
}

/** An installed agent: all that is needed to start `attach`. */
export interface Agent {
  /** The agent's hash: the name of its directory. */
  readonly agent: string;
  /** Command that runs Node there, relative to the home directory. */
  readonly node: string;
  readonly connection?: ConnectionEnds | undefined;
}

/**
 * Arguments of `find` for remains of uploads. An upload ends within an hour, but the clocks
 * of a machine and its file server may differ.
 */
export const STALE_UPLOADS = 'incoming -mindepth 1 -maxdepth 1 -mmin +1440';

const SCRIPT = `
printf 'system %s\\nmachine %s\\n' "$(uname -s)" "$(uname -m)"
printf 'node %s\\n' "$(${BEFORE_NODE}; node --version 2>/dev/null)"
printf 'ssh %s\\n' "$SSH_CONNECTION"
cd "$HOME/${BASE}" 2>/dev/null || exit 0
for agent in $(ls -t agents 2>/dev/null); do
  [ -e "agents/$agent/attach.js" ] && printf 'agent %s\\n' "$agent"
done
# e_machine in the header of an ELF file, little-endian.
case "$(uname -m)" in
  x86_64 | amd64) own=3e00 ;;
  aarch64 | arm64) own=b700 ;;
  *) own=none ;;
esac
for runtime in $(ls -t runtimes 2>/dev/null); do
  [ -x "runtimes/$runtime/bin/node" ] || continue
  processor=$(od -An -tx1 -j18 -N2 "runtimes/$runtime/bin/node" 2>/dev/null | tr -d ' ')
  [ -z "$processor" ] || [ "$processor" = "$own" ] || continue
  # It may still need a newer libc than this machine has.
  if [ -n "$(${BEFORE_NODE}; "runtimes/$runtime/bin/node" --version 2>/dev/null)" ]; then
    printf 'runtime %s\\n' "$runtime"
  else
    printf 'broken %s\\n' "$runtime"
  fi
done
[ -z "$(find ${STALE_UPLOADS} 2>/dev/null | head -n 1)" ] || printf 'stale 1\\n'
true
`;

/** @throws GradwireError as `runScript` */
export async function findInstalled(
  connection: RemoteConnection,
  signal?: AbortSignal,
): Promise<Installed> {
  const { stdout } = await runScript(connection, SCRIPT, {
    name: 'the search for the agent',
    signal,
  });
  const all = (key: string): readonly string[] =>
    stdout
      .split('\n')
      .filter((line) => line.startsWith(`${key} `))
      .map((line) => line.slice(key.length + 1).trim())
      .filter((value) => value !== '');
  const isHash = (name: string): boolean => /^[0-9a-f]{32}$/.test(name);
  return {
    system: all('system')[0] ?? 'unknown',
    machine: all('machine')[0] ?? 'unknown',
    node: all('node')[0],
    agents: all('agent').filter(isHash),
    runtimes: all('runtime').filter(isHash),
    broken: all('broken').filter(isHash),
    stale: all('stale').length > 0,
    connection: connectionEnds(all('ssh')[0]),
  };
}

/** The last agent deployed, of any version; undefined if there is none. */
export function newestAgent(installed: Installed): Agent | undefined {
  const { agents, runtimes, node, connection } = installed;
  const [agent] = agents;
  const [runtime] = runtimes;
  if (agent === undefined) return undefined;
  // The Node that was deployed with the agent is the one that it was tested with.
  if (runtime !== undefined) return { agent, node: nodeOf(runtime), connection };
  return isNodeAccepted(node) ? { agent, node: 'node', connection } : undefined;
}

/** The command of a deployed Node. */
export const nodeOf = (runtime: string): string =>
  `${directoryOf({ kind: 'runtime', hash: runtime })}/bin/node`;

/** A package's directory, relative to the home directory. */
export const directoryOf = ({
  kind,
  hash,
}: Pick<PackageArchive, 'kind' | 'hash'>): string => `${BASE}/${kind}s/${hash}`;

/** @param text `SSH_CONNECTION`: client, its port, server, its port */
export function connectionEnds(text = ''): ConnectionEnds | undefined {
  const [client, , server] = text.split(' ');
  if (!client || !server) return undefined;
  return { client: unmapped(client), server: unmapped(server) };
}

/** An IPv4 address in the form that a server with one socket for both families shows. */
const unmapped = (address: string): string =>
  address.replace(/^::ffff:(?=\d+(\.\d+){3}$)/i, '');
