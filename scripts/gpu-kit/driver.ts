/**
 * Vulkan drivers to try: the machine's own manifests, then NVIDIA's libraries without
 * theirs. Containers often have these libraries, but neither `nvidia_icd.json` nor the
 * libraries of X11 that the first of them needs; the kit lends those that are not there.
 */
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { runProgram } from './program.ts';

export interface Driver {
  /** The driver's name in reports. */
  readonly name: string;
  readonly env: Readonly<Record<string, string>>;
}

/** The second needs nothing of X11. */
const NVIDIA = ['libGLX_nvidia.so.0', 'libEGL_nvidia.so.0'];
const MANIFESTS = ['/etc/vulkan/icd.d', '/usr/share/vulkan/icd.d'];
/** Folders where container tools put a driver without telling the dynamic linker. */
const UNTOLD = [
  ...['/usr/local/nvidia/lib64', '/usr/local/nvidia/lib', '/usr/lib/nvidia'],
  ...['/usr/lib/x86_64-linux-gnu/nvidia/current', '/usr/lib64/nvidia'],
  ...['/usr/lib/wsl/lib', '/run/opengl-driver/lib', '/opt/nvidia/lib64'],
];
const STANDARD = [
  ...['/lib/x86_64-linux-gnu', '/usr/lib/x86_64-linux-gnu', '/lib64', '/usr/lib64'],
  ...['/lib', '/usr/lib'],
];

/** The machine's libraries, as the dynamic linker finds them. */
export class Libraries {
  /** Lines of `ldconfig -p` on NVIDIA and Vulkan. */
  readonly told: readonly string[];
  readonly #cached = new Map<string, string>();
  readonly #folders: readonly string[];

  private constructor(cache: string, folders: readonly string[]) {
    const lines = cache.split('\n').map((line) => line.trim());
    this.told = lines.filter((line) => /nvidia|vulkan/.test(line));
    for (const line of lines) {
      const [, name, file] = /^(\S+) .*=> (\S+)$/.exec(line) ?? [];
      if (name !== undefined && !this.#cached.has(name)) this.#cached.set(name, file!);
    }
    this.#folders = folders;
  }

  /** @param lent the kit's own folder, which is none of the machine's */
  static async of(env: NodeJS.ProcessEnv, lent: string): Promise<Libraries> {
    const listing = 'PATH=$PATH:/usr/sbin:/sbin ldconfig -p';
    const { stdout } = await runProgram('sh', ['-c', listing], { seconds: 10, env });
    const paths = (env['LD_LIBRARY_PATH'] ?? '').split(':');
    const given = paths.filter((one) => one !== '' && one !== lent);
    return new Libraries(stdout, [...given, ...STANDARD]);
  }

  /** Whether a program that asks for it by its name gets it. */
  has(name: string): boolean {
    const file = this.#cached.get(name);
    return (file !== undefined && existsSync(file)) || this.#folderOf(name) !== undefined;
  }

  /**
   * The file that the linker does not find by this name: in a folder of which it does not
   * know, or with the driver's version in place of the last number, as some tools mount it.
   */
  untold(name: string): string | undefined {
    if (this.has(name)) return undefined;
    const [stem] = name.split('.so.');
    const isIt = (one: string): boolean => one === name || one.startsWith(`${stem!}.so.`);
    for (const folder of [...this.#folders, ...UNTOLD].filter(existsSync)) {
      const file = readdirSync(folder).find(isIt);
      if (file !== undefined) return path.join(folder, file);
    }
    return undefined;
  }

  #folderOf(name: string): string | undefined {
    return this.#folders.find((folder) => existsSync(path.join(folder, name)));
  }
}

/** Keeps of the packed libraries those that the machine lacks: its own go before. */
export function lentLibraries(folder: string, libraries: Libraries): readonly string[] {
  if (!existsSync(folder)) return [];
  const packed = readdirSync(folder).filter((name) => name.includes('.so'));
  for (const name of packed.filter((one) => libraries.has(one))) {
    rmSync(path.join(folder, name));
  }
  return packed.filter((name) => existsSync(path.join(folder, name)));
}

/** The drivers in the order in which to try them. */
export function drivers(
  env: NodeJS.ProcessEnv,
  libraries: Libraries,
  folders: { readonly manifests: string; readonly lent: string },
): readonly Driver[] {
  const paths = (...more: readonly (string | undefined)[]): string =>
    [env['LD_LIBRARY_PATH'], ...more, folders.lent].filter(Boolean).join(':');
  const own = { name: 'the machine’s manifests', env: { LD_LIBRARY_PATH: paths() } };
  // The user names a driver: no other one is taken instead.
  const chosen = env['VK_DRIVER_FILES'] ?? env['VK_ICD_FILENAMES'];
  if (chosen !== undefined) return [{ ...own, name: chosen }];
  const written = NVIDIA.map((library): Driver => {
    const untold = libraries.untold(library);
    const folder = untold === undefined ? undefined : path.dirname(untold);
    const file = path.join(folders.manifests, `${library}.json`);
    const icd = { library_path: untold ?? library, api_version: '1.3.0' };
    writeFileSync(file, JSON.stringify({ file_format_version: '1.0.0', ICD: icd }));
    return {
      name: `a manifest for ${icd.library_path}`,
      env: {
        VK_ICD_FILENAMES: file, VK_DRIVER_FILES: file,
        // Beside it are the driver's other parts.
        LD_LIBRARY_PATH: paths(folder),
      },
    };
  });
  return [own, ...written];
}

/** Facts that tell why there is no adapter: the kernel's driver, and the libraries there. */
export function diagnosis(libraries: Libraries): readonly string[] {
  const version = '/proc/driver/nvidia/version';
  const kernel = existsSync(version)
    ? readFileSync(version, 'utf8').trim().split('\n')
    : [`no ${version}`];
  const devices = readdirSync('/dev').filter((name) => /^(nvidia|dxg|dri$)/.test(name));
  const isThere = (name: string): boolean =>
    libraries.has(name) || libraries.untold(name) !== undefined;
  const absent = NVIDIA.filter((name) => !isThere(name));
  const hint =
    absent.length === NVIDIA.length && isThere('libcuda.so.1')
      ? [
          'NVIDIA’s driver is here for CUDA alone: a container gets Vulkan with ' +
            'NVIDIA_DRIVER_CAPABILITIES=all, or graphics beside compute and utility.',
        ]
      : [];
  return [
    ...hint,
    ...kernel,
    `/dev: ${devices.join(' ') || 'no GPU'}`,
    ...absent.map((name) => `${name} is not here`),
    ...libraries.told,
    ...MANIFESTS.filter(existsSync).flatMap((folder) =>
      readdirSync(folder).map((one) => path.join(folder, one)),
    ),
  ];
}
