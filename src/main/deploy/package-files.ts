/**
 * The packages for a node, as files of this installation: the agent with its native
 * addons, and the Node that runs it. Each is named by a hash of its contents.
 */
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { failure } from '../../shared/errors/errors.ts';
import { sha256Of } from '../home/file-hash.ts';
import { agentBundle, installationRoot } from '../home/installation.ts';

export interface PackageFile {
  /** The file's path in the package, with `/`. */
  readonly name: string;
  readonly source: string;
  readonly executable: boolean;
}

/** A platform as Node names it: `linux-x64`. */
export interface Platform {
  readonly os: string;
  readonly architecture: string;
}

/** npm's packages with native files that the agent, or with `runtime` a Node for it, takes. */
export function nativePackages(
  { os, architecture }: Platform,
  { runtime }: { readonly runtime: boolean },
): readonly string[] {
  return [
    ...(packageFolder('koffi') === undefined
      ? []
      : [`@koromix/koffi-${os}-${architecture}`]),
    ...(runtime ? [`node-${os}-${architecture}`] : []),
  ];
}

/** Returns the packages that this installation lacks: npm installs what runs on this computer. */
export const notInstalled = (packages: readonly string[]): readonly string[] =>
  packages.filter((name) => packageFolder(name) === undefined);

/**
 * Everything the agent runs: its bundles, kernels and, for the node's platform, koffi, Dawn
 * and a Vulkan loader where there are some. Without koffi it falls back to the tcp transport,
 * without Dawn there is no WebGPU.
 * @param fetched a `node_modules` with packages that this installation lacks
 */
export function agentFiles(
  platform: Platform,
  fetched?: string,
): readonly PackageFile[] {
  const folder = path.dirname(agentBundle('supervisor.js'));
  const { os, architecture } = platform;
  return [
    ...filesUnder(folder, '').filter(({ name }) => !name.endsWith('.map')),
    ...koffiFiles(`${os}-${architecture}`, `${os}_${architecture}`, fetched),
    ...dawnFiles(`${os}-${architecture}`),
    ...vulkanLoader(platform),
  ].toSorted((a, b) => (a.name < b.name ? -1 : 1));
}

/**
 * @param fetched as for `agentFiles`
 * @throws GradwireError `NODE_MISSING`: there is no Node for the platform
 */
export function runtimeFiles(
  { os, architecture }: Platform,
  fetched?: string,
): readonly PackageFile[] {
  const folder = packageOr(`node-${os}-${architecture}`, fetched);
  const source = folder && path.join(folder, 'bin', 'node');
  if (source === undefined || !existsSync(source)) {
    throw failure(
      'NODE_MISSING',
      `this installation has no Node for ${os}-${architecture} to deploy`,
      {
        next: 'Install Node 24 there and put it on the PATH.',
      },
    );
  }
  return [
    { name: 'bin/node', source, executable: true },
    ...licenceOf(path.join(folder!, 'LICENSE'), 'bin/node'),
  ];
}

/** SHA-256 of every file of a package, by name. */
export async function sumsOf(
  files: readonly PackageFile[],
): Promise<Record<string, string>> {
  const sums: Record<string, string> = {};
  for (const { name, source } of files) sums[name] = await sha256Of(source);
  return sums;
}

/** A hash of the names, modes and contents of a package, in 16 bytes. */
export function hashOf(
  files: readonly PackageFile[],
  sums: Readonly<Record<string, string>>,
): string {
  const all = createHash('sha256');
  for (const { name, executable } of files) {
    all.update(`${executable ? 'x' : '-'} ${sums[name]} ${name}\n`);
  }
  return all.digest('hex').slice(0, 32);
}

function koffiFiles(
  platform: string,
  build: string,
  fetched: string | undefined,
): readonly PackageFile[] {
  const folder = packageFolder('koffi');
  const native = packageOr(`@koromix/koffi-${platform}`, fetched);
  if (folder === undefined || native === undefined) return [];
  const needed = /^(package\.json|LICENSE\.txt|.*\.c?js)$/;
  return [
    ...filesUnder(folder, 'node_modules/koffi/').filter(
      ({ name }) =>
        needed.test(path.posix.basename(name)) && !/\/(doc|vendor)\//.test(name),
    ),
    ...filesUnder(native, `node_modules/@koromix/koffi-${platform}/`).filter(
      ({ name }) =>
        needed.test(path.posix.basename(name)) || name.includes(`/${build}/`),
    ),
  ];
}

function dawnFiles(platform: string): readonly PackageFile[] {
  const folder = packageFolder('webgpu');
  if (folder === undefined || !existsSync(path.join(folder, 'dist', platform)))
    return [];
  return filesUnder(folder, 'node_modules/webgpu/').filter(
    ({ name }) => !name.includes('/dist/') || name.includes(`/dist/${platform}/`),
  );
}

/**
 * Returns this computer's Vulkan loader, for similar machines that have a GPU driver but no
 * loader. Electron's runs everywhere; otherwise the system's is used. (Apache-2.0, Khronos.)
 */
export function vulkanLoader({ os, architecture }: Platform): readonly PackageFile[] {
  if (os !== 'linux' || process.platform !== os || process.arch !== architecture) {
    return [];
  }
  const triplet = architecture === 'arm64' ? 'aarch64-linux-gnu' : 'x86_64-linux-gnu';
  const folders = [
    ...electronFolders(),
    ...[`/usr/lib/${triplet}`, '/usr/lib64', '/usr/lib'],
  ];
  const source = folders
    .map((folder) => path.join(folder, 'libvulkan.so.1'))
    .find((file) => existsSync(file));
  if (source === undefined) return [];
  const name = 'lib/libvulkan.so.1';
  return [
    { name, source, executable: false },
    // It has the licence that Gradwire has.
    ...licenceOf(path.join(installationRoot(), 'LICENSE'), name),
  ];
}

/** The licence of a binary, beside it. */
const licenceOf = (source: string, binary: string): readonly PackageFile[] =>
  existsSync(source) ? [{ name: `${binary}.LICENSE`, source, executable: false }] : [];

/**
 * Returns the folders of Electron's files: the command looks there too, so that it and the
 * app deploy the same agent.
 */
export function electronFolders(): readonly string[] {
  if (process.versions['electron'] !== undefined)
    return [path.dirname(process.execPath)];
  const folder = packageFolder('electron');
  return folder === undefined ? [] : [path.join(folder, 'dist')];
}

/** The folder of a package of this installation, else of the fetched ones. */
function packageOr(name: string, fetched: string | undefined): string | undefined {
  const other = fetched && path.join(fetched, name);
  return packageFolder(name) ?? (other && existsSync(other) ? other : undefined);
}

/** The folder of a package of this installation. */
function packageFolder(name: string): string | undefined {
  const require = createRequire(import.meta.url);
  for (const base of require.resolve.paths(name) ?? []) {
    const folder = path.join(base, name);
    if (existsSync(path.join(folder, 'package.json'))) {
      return folder.replace(`app.asar${path.sep}`, `app.asar.unpacked${path.sep}`);
    }
  }
  return undefined;
}

function filesUnder(folder: string, prefix: string): readonly PackageFile[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const source = path.join(folder, entry.name);
    const name = `${prefix}${entry.name}`;
    if (entry.isDirectory()) return filesUnder(source, `${name}/`);
    const executable = (statSync(source).mode & 0o100) !== 0;
    return [{ name, source, executable }];
  });
}
