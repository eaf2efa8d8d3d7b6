/**
 * Builds everything into dist/: the WebAssembly kernels, the headless agent, the engine as a
 * package entry with the CLI and the app's core, and the desktop app with its renderer.
 *
 *   node scripts/build.ts [--only kernels|agent|cli|desktop]… [--quiet|--steps] [--since MS]
 *
 * `dist/build-stamp` records when a full build began; bin/gradwire.js compares it with the
 * sources. A full build takes the place of the one before at its end and in one go, and two
 * builds never run at once: with `--since` the second one ends when the first has built
 * sources of that time. A build that fails leaves the last one as it is.
 */
import { build as electronBuild } from 'electron-vite';
import { execFile } from 'node:child_process';
import { existsSync, statSync } from 'node:fs';
import {
  copyFile,
  cp,
  mkdir,
  readFile,
  rename,
  rm,
  utimes,
  writeFile,
} from 'node:fs/promises';
import { builtinModules } from 'node:module';
import path from 'node:path';
import { parseArgs, promisify } from 'node:util';
import { build as viteBuild, type InlineConfig } from 'vite';
import { tryLock, type FileLock } from '../src/main/home/file-lock.ts';
import { emitEngineTypes } from './engine-types.ts';
import { jaxKernelCache } from './jax-kernel-cache.ts';
import { jaxPlugins } from './jax-plugins.ts';
import { libraryAndCommand, type Divided } from './library-and-command.ts';
import {
  divideLicences,
  LICENCE_LIST,
  writeNotices,
  writeNoticesOf,
  type Bundled,
  type Tool,
} from './third-party-notices.ts';

const root = path.join(import.meta.dirname, '..');
const place = path.join(root, 'dist');
const STAMP = 'build-stamp';
const run = promisify(execFile);

const parts = ['kernels', 'agent', 'cli', 'desktop'] as const;
type Part = (typeof parts)[number];

const { values } = parseArgs({
  options: {
    only: { type: 'string', multiple: true },
    quiet: { type: 'boolean', default: false },
    steps: { type: 'boolean', default: false },
    since: { type: 'string' },
  },
});
const chosen = (values.only ?? [...parts]) as Part[];
const isWhole = chosen.length === parts.length;
/** A folder beside dist, so that what is built there finds the sources by the same paths. */
const dist = isWhole ? `${place}.new` : place;

/**
 * Native addons keep their place in node_modules, and so does ssh2: it looks for optional
 * addons and programs beside its own files. Everything else is bundled.
 */
const native = [
  '@lydell/node-pty',
  'better-sqlite3',
  'electron',
  'koffi',
  'ssh2',
  'webgpu',
];

/** AssemblyScript into a file under dist/kernels. */
async function assemble(
  source: string,
  name: string,
  ...memory: string[]
): Promise<void> {
  await run(process.execPath, [
    path.join(root, 'node_modules/assemblyscript/bin/asc.js'),
    path.join(root, source),
    '--outFile',
    path.join(dist, 'kernels', name),
    '-O3',
    '--noAssert',
    '--runtime',
    'stub',
    '--enable',
    'simd',
    '--enable',
    'relaxed-simd',
    '--importMemory',
    '--memoryBase',
    '1024',
    ...memory,
  ]);
}

async function buildKernels(): Promise<void> {
  await mkdir(path.join(dist, 'kernels'), { recursive: true });
  await Promise.all([
    assemble(
      'src/agent/kernels/wasm/assembly/index.ts',
      'kernels.wasm',
      '--enable',
      'threads',
      '--sharedMemory',
      '--initialMemory',
      '2',
      '--maximumMemory',
      '65536',
    ),
    assemble('src/agent/training/datasets/assembly/index.ts', 'digits.wasm'),
  ]);
  const thread = { 'kernel-thread': 'src/agent/kernels/wasm/kernel-thread.ts' };
  await viteBuild(nodeBundle(thread, 'kernels', { emptyOutDir: false }));
}

const kernelFiles = ['digits.wasm', 'kernels.wasm', 'kernel-thread.js'];

/** Copies the kernels beside the bundle that loads them, so that its folder can be deployed as it is. */
async function copyKernels(): Promise<void> {
  const files = kernelFiles.map((name) => path.join(dist, 'kernels', name));
  if (!files.every((file) => existsSync(file))) await buildKernels();
  for (const file of files) {
    await copyFile(file, path.join(dist, 'agent', path.basename(file)));
  }
}

/** Copies what programs on a rank's machine find on their PYTHONPATH. */
async function copyPython(): Promise<void> {
  const isSource = (file: string): boolean => !/__pycache__|egg-info/.test(file);
  await cp(path.join(root, 'python/gradwire/src'), path.join(dist, 'agent/python'), {
    recursive: true,
    filter: isSource,
  });
}

/** Says that the files are modules: on another machine no package above the folder does. */
async function writeManifest(): Promise<void> {
  const { version } = JSON.parse(
    await readFile(path.join(root, 'package.json'), 'utf8'),
  ) as { version: string };
  const manifest = { name: 'gradwire-agent', version, private: true, type: 'module' };
  await writeFile(
    path.join(dist, 'agent/package.json'),
    `${JSON.stringify(manifest, undefined, 2)}\n`,
  );
}

interface NodeBundleOptions {
  readonly emptyOutDir?: boolean;
  readonly target?: string;
  /** The places of files that several entries need; default: the folder `chunks`. */
  readonly divided?: Divided;
}

function nodeBundle(
  entries: Record<string, string>,
  outDir: string,
  { divided, emptyOutDir = true, target = 'node24' }: NodeBundleOptions = {},
): InlineConfig {
  return {
    configFile: false,
    root,
    logLevel: 'warn',
    // The cache comes last: it names kernels by the code that generates them.
    plugins: [...jaxPlugins(), jaxKernelCache(), divided?.plugin],
    // Its addon is not among ours: every start would look for it.
    define: { 'process.env.MSGPACKR_NATIVE_ACCELERATION_DISABLED': '"true"' },
    build: {
      ssr: true,
      target,
      outDir: path.join(dist, outDir),
      emptyOutDir,
      minify: false,
      sourcemap: true,
      license: { fileName: LICENCE_LIST },
      rollupOptions: {
        input: Object.fromEntries(
          Object.entries(entries).map(([name, file]) => [name, path.join(root, file)]),
        ),
        external: [...native, ...builtinModules],
        output: {
          // They are a fifth of the text, and stay in the sources.
          comments: { legal: true, annotation: true, jsdoc: false },
          entryFileNames: '[name].js',
          chunkFileNames: 'chunks/[name]-[hash].js',
          ...divided?.output,
        },
      },
    },
    ssr: { noExternal: true, external: native },
  };
}

const builders: Record<Part, () => Promise<void>> = {
  kernels: buildKernels,
  agent: async () => {
    await viteBuild(
      nodeBundle(
        {
          attach: 'src/agent/attach/main.ts',
          supervisor: 'src/agent/supervisor/main.ts',
          worker: 'src/agent/worker/main.ts',
          inspector: 'src/agent/training/inspect/inspector.ts',
          forecaster: 'src/agent/forecast/forecaster.ts',
          'engine-thread': 'src/agent/worker/engine/engine-thread.ts',
          'gradient-thread': 'src/agent/worker/trainers/gradient-thread.ts',
          'allreduce-rank': 'src/agent/allreduce/rank-main.ts',
          watcher: 'src/agent/supervisor/utilisation/watcher-main.ts',
          'probe-rank': 'src/agent/probe/rank-main.ts',
          'pulse-thread': 'src/agent/transport/pulse-thread.ts',
          'foresight-thread': 'src/agent/forecast/foresight-thread.ts',
        },
        'agent',
      ),
    );
    await copyKernels();
    await copyFile(path.join(root, 'LICENSE'), path.join(dist, 'agent/LICENSE'));
    await copyPython();
    await writeManifest();
  },
  cli: async () => {
    for (const folder of ['cli', 'engine']) {
      await rm(path.join(dist, folder), { recursive: true, force: true });
    }
    const { divided, packagesIn } = libraryAndCommand(root);
    // The host is loaded by its file, never by an import; they share what both need.
    const entries = {
      'engine/node-check': 'src/agent/engine-node.ts',
      'engine/library': 'src/agent/engine.ts',
      'cli/cli': 'src/cli/main.ts',
      'cli/serve': 'src/main/serve/main.ts',
    };
    // An older Node can read the library and say that it is too old.
    const options = { emptyOutDir: false, target: 'node20', divided };
    await viteBuild(nodeBundle(entries, '.', options));
    await divideLicences(dist, ['engine', 'cli'], packagesIn);
    await emitEngineTypes(root, path.join(dist, 'engine/types'));
  },
  desktop: async () => {
    // Read by electron.vite.config.ts.
    process.env.GRADWIRE_DIST = dist;
    await electronBuild({ root, logLevel: 'warn' });
  },
};

/** Waits for another build. It ends with its process, however that ends. */
async function lock(): Promise<FileLock> {
  const file = path.join(root, 'node_modules', '.gradwire-build.lock');
  for (let told = false; ; told = true) {
    const held = tryLock(file, 0);
    if (held !== undefined) return held;
    if (!told && !values.quiet) console.log('gradwire: waiting for another build');
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
}

/** Whether another build has built sources of that time meanwhile. */
function isBuilt(since: string | undefined): boolean {
  const stamp = path.join(place, STAMP);
  return (
    since !== undefined && existsSync(stamp) && statSync(stamp).mtimeMs >= Number(since)
  );
}

/** Folders of dist/ that are given to others on their own, and what of build tools is in each. */
const noticed: Readonly<Record<Part, Readonly<Record<string, readonly Tool[]>>>> = {
  kernels: { kernels: ['assemblyscript'] },
  agent: { agent: ['assemblyscript', 'rolldown', 'vite'] },
  cli: { engine: ['rolldown', 'vite'], cli: ['rolldown', 'vite'] },
  desktop: { desktop: ['rolldown', 'vite'] },
};

async function noticesOf(part: Part): Promise<readonly Bundled[]> {
  const all: Bundled[] = [];
  for (const [folder, tools] of Object.entries(noticed[part])) {
    all.push(...(await writeNotices(root, path.join(dist, folder), tools)));
  }
  return all;
}

async function buildParts(): Promise<void> {
  const bundled: Bundled[] = [];
  if (isWhole) await rm(dist, { recursive: true, force: true });
  await mkdir(dist, { recursive: true });
  for (const [index, part] of chosen.entries()) {
    if (values.steps) {
      console.log(`gradwire: building the ${part} (${index + 1} of ${chosen.length})`);
    }
    const start = performance.now();
    await builders[part]();
    bundled.push(...(await noticesOf(part)));
    if (!values.quiet && !values.steps) {
      console.log(
        `built ${part} in ${((performance.now() - start) / 1000).toFixed(1)} s`,
      );
    }
  }
  if (isWhole) await writeNoticesOf(root, dist, bundled);
}

/** Puts the new build into the place of the last one. */
async function replace(began: Date): Promise<void> {
  const { version } = JSON.parse(
    await readFile(path.join(root, 'package.json'), 'utf8'),
  ) as { version: string };
  const stamp = path.join(dist, STAMP);
  await writeFile(stamp, `${version}\n`);
  // A source that changed while it was built is newer.
  await utimes(stamp, began, began);
  const last = `${place}.last`;
  await rm(last, { recursive: true, force: true });
  if (existsSync(place)) await rename(place, last);
  await rename(dist, place);
  await rm(last, { recursive: true, force: true });
}

const held = await lock();
try {
  if (!isBuilt(values.since)) {
    const began = new Date();
    await buildParts();
    if (isWhole) await replace(began);
  }
} finally {
  held.close();
}
