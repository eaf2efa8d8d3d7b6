/**
 * `npm run pack`: the package as others install it, gradwire-VERSION.tgz. It is made in a folder
 * of its own: what runs, without source maps and without what needs Electron, the documents that
 * the README links to, the notices, the bill of materials, and a manifest that names only what is
 * not in the bundles. ssh2, which cannot be bundled, lies inside: npm would compile its addons.
 */
import { execFileSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  globSync,
  mkdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { minifySync } from 'vite';
import {
  BUNDLED,
  bundledManifest,
  nativeLock,
  packedManifest,
  type Lock,
  type Manifest,
} from './packed-manifest.ts';

const root = path.join(import.meta.dirname, '..');
const stage = path.join(root, 'build', 'package');
const MOST_BYTES = 4_000_000;

const COPIED = [
  'bin',
  'resources',
  'docs',
  'examples',
  'README.md',
  'CHANGELOG.md',
  'LICENSE',
  'CITATION.cff',
  'CONTRIBUTING.md',
  'SECURITY.md',
];
/**
 * A window needs Electron, which no install has. Kernels are in agent/ and engine/, too. Browsers
 * that reach this computer take the page's files as Brotli; others get them as they are. Results of figures
 * are for those who judge them again; their page has what they say.
 */
const LEFT_OUT =
  /\.map$|^dist\/desktop\/renderer\/.*\.gz$|^dist\/desktop\/(main|preload)(\/|$)|^dist\/kernels(\/|$)|^docs\/reproduced\/|^node_modules\/.*(\/(test|examples|src|\.github)(\/|$)|\.md$|\.d\.ts$|nacl\.js$|\.min\.js$)/;
/** Files that a package without its build lacks. */
const NEEDED = [
  'dist/cli/cli.js',
  'dist/cli/serve.js',
  'dist/agent/supervisor.js',
  'dist/agent/kernels.wasm',
  'dist/engine/engine.js',
  'dist/engine/types/agent/engine.d.ts',
  'dist/desktop/renderer/index.html',
  'docs/reference/README.md',
  'THIRD-PARTY-NOTICES',
  'sbom.cdx.json',
];

const { values } = parseArgs({
  options: {
    destination: { type: 'string', default: root },
    // For tests, which have a build already.
    built: { type: 'boolean', default: false },
  },
});

const readJson = (name: string): unknown =>
  JSON.parse(readFileSync(path.join(root, name), 'utf8'));
const run = (program: string, ...args: string[]): string =>
  execFileSync(program, args, {
    cwd: root,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
    shell: process.platform === 'win32',
  });

function copyIn(name: string): void {
  const from = path.join(root, name);
  if (!existsSync(from)) return;
  cpSync(from, path.join(stage, name), {
    recursive: true,
    filter: (file) =>
      !LEFT_OUT.test(path.relative(root, file).replaceAll(path.sep, '/')),
  });
}

/** Rewrites a script without indentation and comments. Names stay: stack traces tell them. */
function withoutWhitespace(file: string): void {
  const { code, errors } = minifySync(file, readFileSync(file, 'utf8'), {
    module: true,
    compress: false,
    mangle: false,
    codegen: { removeWhitespace: true },
  });
  if (errors.length > 0) throw new Error(`${file}: ${errors[0]!.message}`);
  writeFileSync(file, code);
}

if (!values.built) run(process.execPath, 'scripts/build.ts', '--quiet');
run(process.execPath, 'scripts/sbom.ts');
rmSync(stage, { recursive: true, force: true });
mkdirSync(stage, { recursive: true });
const inside = BUNDLED.map((name) => `node_modules/${name}`);
for (const name of [...COPIED, 'dist', ...inside]) copyIn(name);
for (const name of ['THIRD-PARTY-NOTICES', 'sbom.cdx.json']) {
  cpSync(path.join(stage, 'dist', name), path.join(stage, name));
  rmSync(path.join(stage, 'dist', name));
}
for (const file of globSync('dist/{agent,cli,engine}/**/*.js', { cwd: stage })) {
  withoutWhitespace(path.join(stage, file));
}
const manifest = packedManifest(readJson('package.json') as Manifest);
const files: Readonly<Record<string, unknown>> = {
  'package.json': manifest,
  'resources/native-packages.json': nativeLock(readJson('package-lock.json') as Lock),
  ...Object.fromEntries(
    BUNDLED.map((name) => `node_modules/${name}/package.json`).map((file) => [
      file,
      bundledManifest(readJson(file) as Manifest),
    ]),
  ),
};
for (const [name, content] of Object.entries(files)) {
  writeFileSync(path.join(stage, name), `${JSON.stringify(content, undefined, 2)}\n`);
}
const missing = NEEDED.filter((name) => !existsSync(path.join(stage, name)));
if (missing.length > 0) throw new Error(`the package would lack ${missing.join(', ')}`);
const [packed] = JSON.parse(
  run('npm', 'pack', stage, '--json', '--pack-destination', values.destination),
) as [{ filename: string }];
const file = path.join(values.destination, packed.filename);
const { size } = statSync(file);
if (size > MOST_BYTES)
  throw new Error(`${file} has ${size} bytes, more than ${MOST_BYTES}`);
console.log(`${file}: ${(size / 1e6).toFixed(1)} MB`);
