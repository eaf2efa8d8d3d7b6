/**
 * The one gate for messages from a page to Electron's main process: pure policy. Only
 * the app's own page, in the main frame of the app's own window, is let in; a frame
 * inside it, a page it was led astray to, or another window is not.
 */
export const APP_SCHEME = 'app';
const APP_HOST = 'gradwire';
export const APP_URL = `${APP_SCHEME}://${APP_HOST}/`;

export interface Sender {
  /** Of the frame that sent it; undefined when the frame is gone already. */
  readonly url: string | undefined;
  readonly isMainFrame: boolean;
  readonly isOwnWindow: boolean;
}

export function admitsSender(sender: Sender): boolean {
  return (
    sender.isOwnWindow &&
    sender.isMainFrame &&
    sender.url !== undefined &&
    isAppUrl(sender.url)
  );
}

/** Whether this is a page of the app: scheme and host exactly, nothing beside them. */
export function isAppUrl(address: string): boolean {
  const url = URL.parse(address);
  return (
    url !== null &&
    url.protocol === `${APP_SCHEME}:` &&
    url.host === APP_HOST &&
    url.username === '' &&
    url.password === ''
  );
}
