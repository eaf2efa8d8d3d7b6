/**
 * Catching up before stored runs are shown. They are shown even if this computer's supervisor
 * cannot be reached, for example because another host that shares the home has it.
 */
import { formatError, GradwireError } from '../../shared/errors/errors.ts';
import type { RunCoordinator } from '../../main/runs/coordinator.ts';

/** @returns whether everything was caught up with; if not, stderr says why */
export async function catchUp(
  coordinator: Pick<RunCoordinator, 'recover'>,
): Promise<boolean> {
  try {
    await coordinator.recover();
    return true;
  } catch (error) {
    if (!(error instanceof GradwireError)) throw error;
    process.stderr.write(
      `gradwire: runs are shown as they were last stored: ${formatError(error)}\n`,
    );
    return false;
  }
}
