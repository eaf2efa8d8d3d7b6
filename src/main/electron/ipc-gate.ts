/**
 * The one gate for messages from a page to Electron's main process: pure policy. Only
 * the app's own page, in the main frame of the app's own window, is let in; not a frame
 * inside it, a page that it was navigated to, or another window.
 */
export const APP_SCHEME = 'app';
const APP_HOST = 'gradwire';
export const APP_URL = `${APP_SCHEME}://${APP_HOST}/`;

export interface Sender {
  /** The URL of the frame that sent it; undefined if the frame is already gone. */
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

/** Whether this is a page of the app: exactly this scheme and host. */
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
