/**
 * Messages from this process to its starter (`gradwire start`): that the window is
 * open, or why the app failed. If it was started from an icon there is no starter, and
 * the user gets a dialog instead.
 */
import { dialog } from 'electron';
import { formatError, type ErrorData } from '../../shared/errors/errors.ts';

export async function tellWindowShown(): Promise<void> {
  await tell('window');
}

export async function tellFailed(error: ErrorData): Promise<void> {
  if (!(await tell(error))) dialog.showErrorBox('Gradwire', formatError(error));
}

/** False if there is no starter. Resolves when the message has been sent. */
function tell(message: 'window' | ErrorData): Promise<boolean> {
  return new Promise((resolve) => {
    if (process.send === undefined) return resolve(false);
    process.send(message, (error: Error | null) => resolve(error === null));
  });
}
