/**
 * Finds Electron's binary, or checks whether it can be downloaded. The npm package has
 * no install script (Electron 42 and later); its own installer fetches about 100 MB
 * from GitHub, or from the mirror in ELECTRON_MIRROR, and may hang without end on a
 * closed network. So the host is probed first, with a deadline.
 *
 * Verified with electron 45.4 and @electron/get 5: `path.txt` names the executable under
 * `dist/`, ELECTRON_OVERRIDE_DIST_PATH replaces `dist/`.
 */
import { spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { EnvHttpProxyAgent, fetch } from 'undici';

type Environment = Readonly<Record<string, string | undefined>>;

export type ElectronState =
  /** npm left it out in an install without development dependencies. */
  | { readonly kind: 'no-package' }
  | { readonly kind: 'installed'; readonly binary: string }
  | {
      readonly kind: 'to-download';
      readonly installer: string;
      readonly url: string;
      readonly version: string;
    };

const PROBE_MS = 3_000;
const INSTALL_LIMIT_MS = 10 * 60_000;

const EXECUTABLES: Partial<Record<NodeJS.Platform, string>> = {
  darwin: 'Electron.app/Contents/MacOS/Electron',
  win32: 'electron.exe',
};

/** @param root the directory whose node_modules has Electron */
export function findElectron(
  root: string,
  environment: Environment = process.env,
): ElectronState {
  const override = environment['ELECTRON_OVERRIDE_DIST_PATH'];
  const executable = EXECUTABLES[process.platform] ?? 'electron';
  let directory: string;
  try {
    const require = createRequire(path.join(root, 'package.json'));
    directory = path.dirname(require.resolve('electron/package.json'));
  } catch {
    return { kind: 'no-package' };
  }
  const binary = override
    ? path.join(override, executable)
    : path.join(directory, 'dist', executable);
  // Written last by the installer: without it the directory may be half unpacked.
  const complete = override ? true : existsSync(path.join(directory, 'path.txt'));
  if (complete && existsSync(binary)) return { kind: 'installed', binary };

  const { version } = JSON.parse(
    readFileSync(path.join(directory, 'package.json'), 'utf8'),
  ) as { version: string };
  return {
    kind: 'to-download',
    installer: path.join(directory, 'install.js'),
    url: downloadUrl(version, environment),
    version,
  };
}

export type Probe =
  { readonly kind: 'answers' } | { readonly kind: 'silent'; readonly reason: string };

/** Whether the download would begin; answers within 3 seconds. */
export async function probeDownload(url: string): Promise<Probe> {
  const { host } = new URL(url);
  try {
    // Node's own fetch knows proxies only from 24.12 on.
    const answer = await fetch(url, {
      dispatcher: new EnvHttpProxyAgent(),
      method: 'HEAD',
      signal: AbortSignal.timeout(PROBE_MS),
    });
    await answer.body?.cancel();
    if (answer.ok) return { kind: 'answers' };
    return { kind: 'silent', reason: `${host} answered ${answer.status}` };
  } catch (error) {
    return { kind: 'silent', reason: `${host}: ${whyUnreachable(error)}` };
  }
}

/** Runs Electron's own installer, its output on stderr. True if it succeeded. */
export async function installElectron(
  installer: string,
  signal: AbortSignal,
): Promise<boolean> {
  const child = spawn(process.execPath, [installer], {
    stdio: ['ignore', process.stderr, process.stderr],
    env: {
      ...process.env,
      ...(behindProxy(process.env)
        ? { ELECTRON_GET_USE_PROXY: 'true', NODE_USE_ENV_PROXY: '1' }
        : {}),
    },
    signal: AbortSignal.any([signal, AbortSignal.timeout(INSTALL_LIMIT_MS)]),
  });
  return await new Promise((resolve) => {
    child.once('error', () => resolve(false));
    child.once('exit', (code) => resolve(code === 0));
  });
}

function behindProxy(environment: Environment): boolean {
  return Boolean(environment['HTTPS_PROXY'] || environment['https_proxy']);
}

function downloadUrl(version: string, environment: Environment): string {
  const mirror =
    environment['npm_config_electron_mirror'] ||
    environment['ELECTRON_MIRROR'] ||
    'https://github.com/electron/electron/releases/download/';
  const directory = environment['ELECTRON_CUSTOM_DIR'] || `v${version}`;
  const name = `electron-v${version}-${process.platform}-${process.arch}.zip`;
  const url = `${mirror}${directory.replace('{{ version }}', version)}/${name}`;
  return URL.canParse(url) ? url : `https://${url}`;
}

function whyUnreachable(error: unknown): string {
  if (error instanceof DOMException && error.name === 'TimeoutError') {
    return `no answer within ${PROBE_MS / 1000} s`;
  }
  const cause = error instanceof Error ? error.cause : undefined;
  const code = (cause as NodeJS.ErrnoException | undefined)?.code;
  return code ?? (error instanceof Error ? error.message : String(error));
}
