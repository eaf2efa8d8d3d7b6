/** What is on a machine already. */
import type { SshConnection } from '../ssh/connection.ts';
import { runScript } from '../ssh/remote-script.ts';

export interface Installed {
  /** Hash of the agent: the name of its directory. */
  readonly agent: string;
  /** Command that runs Node there, from the home directory. */
  readonly node: string;
  /** Addresses of the two ends of this SSH connection, as the machine sees them. */
  readonly connection?:
    { readonly client: string; readonly server: string } | undefined;
}

const SCRIPT = `
cd "$HOME/.gradwire" 2>/dev/null || exit 0
for agent in $(ls -t agents 2>/dev/null); do
  [ -e "agents/$agent/attach.js" ] && { printf 'agent %s\\n' "$agent"; break; }
done
for runtime in $(ls -t runtimes 2>/dev/null); do
  [ -x "runtimes/$runtime/bin/node" ] && { printf 'runtime %s\\n' "$runtime"; break; }
done
printf 'ssh %s\\n' "$SSH_CONNECTION"
`;

/** The newest agent there; undefined where there is none. */
export async function findInstalled(
  connection: SshConnection,
): Promise<Installed | undefined> {
  const { stdout } = await runScript(connection, SCRIPT, {
    name: 'the look for the agent',
  });
  const agent = /^agent ([0-9a-f]{32})$/m.exec(stdout)?.[1];
  if (agent === undefined) return undefined;
  const runtime = /^runtime ([0-9a-f]{32})$/m.exec(stdout)?.[1];
  const [, client, server] = /^ssh (\S+) \S+ (\S+) \S+$/m.exec(stdout) ?? [];
  return {
    agent,
    node: runtime === undefined ? 'node' : `.gradwire/runtimes/${runtime}/bin/node`,
    ...(client === undefined || server === undefined
      ? {}
      : { connection: { client, server } }),
  };
}
