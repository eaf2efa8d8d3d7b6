/**
 * Opens the user's browser, if there is one. Every user of this computer can read
 * command lines, so the URL with its token is not passed there: the browser gets a
 * small page, private to the user, that redirects to it. (A browser confined by snap
 * may not read that page; the printed URL works everywhere.)
 */
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { pathToFileURL } from 'node:url';

type Environment = Readonly<Record<string, string | undefined>>;

export interface OpenedBrowser {
  /** Removes the page. */
  [Symbol.asyncDispose](): Promise<void>;
}

/** Whether this session has a screen to show a window on. */
export function hasDisplay(
  platform: NodeJS.Platform,
  environment: Environment,
): boolean {
  if (platform === 'darwin' || platform === 'win32') return true;
  return Boolean(environment['DISPLAY'] || environment['WAYLAND_DISPLAY']);
}

/**
 * The command that opens a page in the user's browser: program and arguments, never a
 * shell line. Undefined without a display, where xdg-open would start a text browser in
 * this terminal.
 */
export function openerFor(
  page: string,
  platform: NodeJS.Platform,
  environment: Environment,
): readonly [string, ...string[]] | undefined {
  if (!hasDisplay(platform, environment)) return undefined;
  if (platform === 'darwin') return ['open', page];
  if (platform === 'win32') {
    return ['rundll32', 'url.dll,FileProtocolHandler', pathToFileURL(page).href];
  }
  return ['xdg-open', page];
}

/**
 * Best effort: whether a browser appears cannot be known, so nothing is reported.
 * @param directory private to the user; holds the page until disposed of
 */
export async function openBrowser(
  url: string,
  directory: string,
): Promise<OpenedBrowser | undefined> {
  const page = path.join(directory, 'open.html');
  const opener = openerFor(page, process.platform, process.env);
  if (opener === undefined) return undefined;
  try {
    // Never through a file or a link that somebody has put there: the token is in it.
    const draft = `${page}.${randomBytes(8).toString('hex')}`;
    await writeFile(
      draft,
      `<!doctype html><meta name="referrer" content="no-referrer">` +
        `<meta http-equiv="refresh" content="0; url=${url}"><title>Gradwire</title>\n`,
      { mode: 0o600, flag: 'wx' },
    );
    await rename(draft, page);
  } catch {
    return undefined; // a full disk
  }
  startOpener(opener);
  return { [Symbol.asyncDispose]: () => rm(page, { force: true }) };
}

/** Starts the program if it can: otherwise the URL has been printed. */
function startOpener([program, ...args]: readonly [string, ...string[]]): void {
  try {
    const child = spawn(program, args, { stdio: 'ignore', detached: true });
    child.on('error', () => undefined);
    child.unref();
  } catch {
    // The system has no memory for it, for instance.
  }
}
