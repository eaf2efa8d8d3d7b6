/**
 * Window or browser: the decision that `npm start` makes, as one pure function. The
 * answer includes the reason for the browser, for the user.
 */
import { hasDisplay } from './browser.ts';
import type { ElectronState } from './electron-binary.ts';

export interface StartFacts {
  readonly platform: NodeJS.Platform;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** The user's number; undefined on Windows. */
  readonly user: number | undefined;
  readonly electron: ElectronState;
}

export type WindowChoice =
  | Extract<ElectronState, { kind: 'installed' | 'to-download' }>
  | { readonly kind: 'serve'; readonly reason: string };

export function chooseWindow(facts: StartFacts): WindowChoice {
  const { environment, electron, platform } = facts;
  if (environment['GRADWIRE_NO_WINDOW'] === '1') {
    return { kind: 'serve', reason: 'GRADWIRE_NO_WINDOW is set' };
  }
  if (!hasDisplay(platform, environment)) {
    return { kind: 'serve', reason: 'there is no display' };
  }
  if (platform === 'linux' && facts.user === 0) {
    return { kind: 'serve', reason: 'Electron’s sandbox does not run as root' };
  }
  if (electron.kind === 'no-package') {
    return { kind: 'serve', reason: 'Electron is not installed' };
  }
  return electron;
}
