/**
 * `npm run dist`: the desktop app for this platform, in build/dist. Native modules are those that
 * npm installed here, so each platform's app is made on that platform.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { findElectron, probeDownload } from '../src/main/serve/electron-binary.ts';
import { configuration } from './desktop/configuration.ts';

/** Nobody else needs its 280 packages, so it is fetched when it is used first. */
const BUILDER = 'electron-builder@26.17.0';

const root = path.join(import.meta.dirname, '..');
const tools = path.join(root, 'build', 'dist-tools');

const { values } = parseArgs({
  options: {
    /** The app in a folder, without installers, whose tools are downloads of their own. */
    dir: { type: 'boolean', default: false },
    /** Do not build first. */
    built: { type: 'boolean', default: false },
    /** A folder with Electron, unpacked. */
    electron: { type: 'string' },
    output: { type: 'string', default: path.join(root, 'build', 'dist') },
  },
});

const isWindows = process.platform === 'win32';

/** Whether electron-builder is there, or npm can fetch it. */
function hasBuilder(): boolean {
  if (existsSync(path.join(tools, 'node_modules', 'electron-builder'))) return true;
  console.log(`fetching ${BUILDER} into build/dist-tools`);
  try {
    execFileSync(
      'npm',
      ['install', '--prefix', tools, '--no-save', '--no-audit', '--no-fund', BUILDER],
      { stdio: ['ignore', 'ignore', 'inherit'], shell: isWindows },
    );
    return true;
  } catch {
    return false;
  }
}

/** Missing things, each with what to do about it; empty if the app can be made. */
async function lacks(): Promise<readonly string[]> {
  const found: string[] = [];
  if (!hasBuilder()) {
    found.push(`${BUILDER}: npm cannot fetch it. Give npm a registry that has it.`);
  }
  const electron = findElectron(root);
  if (values.electron !== undefined) {
    if (!existsSync(values.electron)) {
      found.push(`Electron: ${values.electron} does not exist.`);
    }
  } else if (electron.kind === 'no-package') {
    found.push('Electron: its package is not installed. Run npm ci.');
  } else if (electron.kind === 'to-download') {
    const probe = await probeDownload(electron.url);
    if (probe.kind === 'silent') {
      found.push(
        `Electron ${electron.version}: ${electron.url} cannot be fetched (${probe.reason}). ` +
          'Set ELECTRON_MIRROR to a mirror, or unpack that file and give its folder: ' +
          'npm run dist -- --electron FOLDER.',
      );
    }
  }
  return found;
}

const missing = await lacks();
if (missing.length > 0) {
  console.error(
    `npm run dist lacks:\n${missing.map((one) => `- ${one}`).join('\n')}\n` +
      'Installers need more downloads; with --dir the app is made in a folder, without them.',
  );
  process.exit(1);
}
if (!values.built) {
  execFileSync(process.execPath, [path.join(root, 'scripts/build.ts'), '--quiet'], {
    stdio: 'inherit',
  });
}
const { version } = JSON.parse(
  readFileSync(path.join(root, 'node_modules/electron/package.json'), 'utf8'),
) as { version: string };
const installed = findElectron(root);
const own = installed.kind === 'installed' ? path.dirname(installed.binary) : undefined;
const { Platform, build } = createRequire(path.join(tools, 'package.json'))(
  'electron-builder',
) as Builder;
const packing = build({
  projectDir: root,
  publish: 'never',
  targets: Platform.current().createTarget(values.dir ? 'dir' : undefined),
  config: configuration({
    root,
    output: path.resolve(values.output),
    // On macOS the binary is in a bundle: electron-builder finds its own copy there.
    electron: values.electron ?? (process.platform === 'darwin' ? undefined : own),
    electronVersion: version,
  }),
});
let made: readonly string[];
try {
  made = await packing;
} catch (error) {
  console.error(`electron-builder: ${reasonOf(error)}`);
  if (!values.dir) {
    console.error(
      'Tools of installers come from github.com: set ELECTRON_BUILDER_BINARIES_MIRROR to a mirror, ' +
        'or make the app without an installer: npm run dist -- --dir.',
    );
  }
  process.exit(1);
}
console.log(made.length > 0 ? made.join('\n') : `the app is in ${values.output}`);

/** The reasons in an error of electron-builder, which numbers them if there are several. */
function reasonOf(error: unknown): string {
  const { message } = error instanceof Error ? error : { message: String(error) };
  const lines = message.split('\n');
  const several = lines.filter((_, at) => lines[at - 1]?.startsWith('Error #'));
  return [...new Set(several.length > 0 ? several : lines.slice(0, 1))].join('; ');
}

/** The part of electron-builder that is used. */
interface Builder {
  readonly Platform: {
    current(): { createTarget(kind: string | undefined): unknown };
  };
  build(options: object): Promise<readonly string[]>;
}
