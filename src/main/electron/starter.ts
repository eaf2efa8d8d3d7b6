/**
 * What this process tells the one that started it (`gradwire start`): that the window is
 * there, or what the app failed on. Started from an icon there is nobody to tell, and
 * the user gets a dialog instead.
 */
import { dialog } from 'electron';
import { formatError, type ErrorData } from '../../shared/errors.ts';

export async function tellWindowShown(): Promise<void> {
  await tell('window');
}

export async function tellFailed(error: ErrorData): Promise<void> {
  if (!(await tell(error))) dialog.showErrorBox('Gradwire', formatError(error));
}

/** False if there is nobody to tell. Resolves when the message is on its way. */
function tell(message: 'window' | ErrorData): Promise<boolean> {
  return new Promise((resolve) => {
    if (process.send === undefined) return resolve(false);
    process.send(message, (error: Error | null) => resolve(error === null));
  });
}
