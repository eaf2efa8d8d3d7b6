/** Removes everything of Gradwire from a machine, unless others share its home. */
import { failure } from '../../shared/errors/errors.ts';
import type { RemoteConnection } from '../ssh/remote-connection.ts';
import { runScript } from '../ssh/remote-script.ts';
import { placeOf } from '../ssh/target.ts';

/**
 * A supervisor that nothing needs ends by itself and removes its socket. A killed one
 * leaves the socket behind, so if none answered there is nothing to wait for.
 */
const SCRIPT = `
[ -e "$HOME/.gradwire" ] || exit 0
cd "$HOME/.gradwire" || exit 1
own="nodes/$(uname -n)"
if [ "$served" = 1 ]; then
  waited=0
  while [ -S "$own/supervisor.sock" ] && [ "$waited" -lt 25 ]; do
    sleep 0.2; waited=$((waited + 1))
  done
  [ ! -S "$own/supervisor.sock" ] || exit 3
fi
if [ "$force" != 1 ] && [ -n "$(ls "$own/runs" 2>/dev/null)" ]; then ls "$own/runs"; exit 5; fi
# Signals are ignored from here on: an agent that is half removed would look like a whole one.
trap '' TERM HUP PIPE
rm -rf "$own" || exit 1
rmdir nodes 2>/dev/null
if [ -d nodes ]; then ls nodes; exit 0; fi
# An app may have its own home in this directory, and a link to it is the user's.
rm -rf agents runtimes incoming cache || exit 1
cd "$HOME" && { rmdir .gradwire 2>/dev/null; true; }
`;

/**
 * @param served whether a supervisor just answered there
 * @param force also remove records that no app has stored
 * @returns other machines whose supervisors have their files in the same home
 * @throws GradwireError `UNINSTALL_FAILED`, `NODE_BUSY`, `RECORDS_WAITING`
 */
export async function uninstall(
  connection: RemoteConnection,
  {
    served,
    force,
    signal,
  }: {
    readonly served: boolean;
    readonly force: boolean;
    readonly signal?: AbortSignal | undefined;
  },
): Promise<readonly string[]> {
  const { code, stdout, stderr } = await runScript(connection, SCRIPT, {
    variables: { served: served ? '1' : '0', force: force ? '1' : '0' },
    name: 'removing the agent',
    signal,
  });
  if (code === 5) {
    const [run = ''] = stdout.trim().split('\n');
    throw failure('RECORDS_WAITING', `records of run ${run} exist only there`, {
      place: placeOf(connection.target),
      next:
        `Fetch them with: gradwire runs attach ${run} (on the computer that launched it). ` +
        'Or delete them: gradwire nodes uninstall --force.',
    });
  }
  if (code === 3) {
    throw failure(
      'NODE_BUSY',
      'another app is already connected to the supervisor there',
      {
        place: placeOf(connection.target),
        next: 'Close that app, or wait until it disconnects, then try again.',
      },
    );
  }
  if (code === 0) return stdout.split('\n').filter((line) => line !== '');
  throw failure('UNINSTALL_FAILED', stderr.trim() || `it ended with code ${code}`, {
    place: placeOf(connection.target),
    next: 'Remove agents, runtimes, incoming, cache and nodes in ~/.gradwire there by hand.',
  });
}
