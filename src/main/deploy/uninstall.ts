/** Leaves nothing of Gradwire on a machine, unless others share its home. */
import { failure } from '../../shared/errors.ts';
import type { SshConnection } from '../ssh/connection.ts';
import { runScript } from '../ssh/remote-script.ts';
import { placeOf } from '../ssh/target.ts';

/** The supervisor ends by itself when nobody needs it; its directory shows that it has. */
const SCRIPT = `
[ -e "$HOME/.gradwire" ] || exit 0
cd "$HOME/.gradwire" || exit 1
own="nodes/$(uname -n)"
waited=0
while [ -S "$own/supervisor.sock" ] && [ "$waited" -lt 50 ]; do
  sleep 0.2; waited=$((waited + 1))
done
[ ! -S "$own/supervisor.sock" ] || exit 3
rm -rf "$own" || exit 1
rmdir nodes 2>/dev/null
if [ -d nodes ]; then ls nodes; else cd "$HOME" && rm -rf .gradwire; fi
`;

/**
 * @returns other machines whose supervisors have their files in the same home
 * @throws GradwireError `UNINSTALL_FAILED`, `NODE_BUSY`
 */
export async function uninstall(connection: SshConnection): Promise<readonly string[]> {
  const { code, stdout, stderr } = await runScript(connection, SCRIPT, {
    name: 'removing the agent',
  });
  if (code === 3) {
    throw failure('NODE_BUSY', 'another app is connected to the supervisor there', {
      place: placeOf(connection.target),
      next: 'Close that app, or wait until it needs the machine no more; then try again.',
    });
  }
  if (code === 0) return stdout.split('\n').filter((line) => line !== '');
  throw failure('UNINSTALL_FAILED', stderr.trim() || `it ended with code ${code}`, {
    place: placeOf(connection.target),
    next: 'Remove ~/.gradwire there by hand.',
  });
}
