/** A look for runs that other machines with the same home have: a cluster's login nodes. */
import type { RemoteConnection } from '../ssh/remote-connection.ts';
import { runScript } from '../ssh/remote-script.ts';
import { BASE } from './installed.ts';

const SCRIPT = `
cd "$HOME/${BASE}/nodes" 2>/dev/null || exit 0
own=$(uname -n)
for run in $runs; do
  for host in *; do
    [ "$host" = "$own" ] || [ ! -d "$host/runs/$run" ] || printf '%s %s\\n' "$run" "$host"
  done
done
`;

/**
 * Finds runs in the directories of other machines.
 * @returns host names by run
 * @throws GradwireError those of `runScript`
 */
export async function runsOfOtherHosts(
  connection: RemoteConnection,
  runs: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const { stdout } = await runScript(connection, SCRIPT, {
    variables: { runs: runs.join(' ') },
    name: 'the search for runs of other login nodes',
  });
  const asked = new Set(runs);
  const lines = stdout.split('\n').map((line) => line.split(' '));
  return new Map(
    lines.flatMap(([run = '', host = '']) =>
      asked.has(run) && host !== '' ? [[run, host] as const] : [],
    ),
  );
}
