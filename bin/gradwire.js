#!/usr/bin/env node
// The `gradwire` command. Gradwire runs on Node 24, which npm brings along as a package:
// started by another Node, this re-executes itself on that one. In a checkout it builds
// what is missing or older than its sources first. Plain JavaScript for any Node ≥ 20.
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, readdirSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const root = path.join(path.dirname(fileURLToPath(import.meta.url)), '..');

/** Path of the Node 24 binary that npm installed for this machine, if it did. */
function bundledNode() {
  const require = createRequire(import.meta.url);
  const names = { darwin: 'node-bin-darwin', linux: 'node-linux', win32: 'node-win' };
  const name = names[process.platform] ?? process.platform;
  try {
    const manifest = require.resolve(`${name}-${process.arch}/package.json`);
    const binary = process.platform === 'win32' ? 'node.exe' : 'node';
    return path.join(path.dirname(manifest), 'bin', binary);
  } catch {
    return undefined; // no package for this platform: the message below says what to do
  }
}

function newest(directory) {
  let time = 0;
  for (const entry of readdirSync(directory, { withFileTypes: true })) {
    const file = path.join(directory, entry.name);
    const at = entry.isDirectory() ? newest(file) : statSync(file).mtimeMs;
    if (at > time) time = at;
  }
  return time;
}

/** Whether dist/ is missing or older than the sources that it was made from. */
function needsBuild() {
  const source = path.join(root, 'src', 'cli');
  if (!existsSync(source)) return false; // installed, not a checkout
  const stamp = path.join(root, 'dist', 'build-stamp');
  if (!existsSync(stamp)) return true;
  const built = statSync(stamp).mtimeMs;
  return (
    newest(path.join(root, 'src')) > built ||
    statSync(path.join(root, 'package.json')).mtimeMs > built
  );
}

function reexecute(node) {
  const child = spawn(
    node,
    [fileURLToPath(import.meta.url), ...process.argv.slice(2)],
    {
      stdio: 'inherit',
      // The inner process must not look for yet another Node.
      env: { ...process.env, GRADWIRE_NODE: '1' },
    },
  );
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
    process.on(signal, () => child.kill(signal));
  }
  child.on('exit', (code, signal) => {
    if (signal !== null) {
      process.removeAllListeners(signal);
      process.kill(process.pid, signal);
    } else process.exit(code ?? 1);
  });
}

const major = Number(process.versions.node.split('.')[0]);
const node = bundledNode();
if (major < 24 && node !== undefined && process.env.GRADWIRE_NODE === undefined) {
  reexecute(node);
} else if (major < 24) {
  process.stderr.write(
    `gradwire: NODE_TOO_OLD: this is Node ${process.versions.node}, Gradwire needs 24 ` +
      'and npm installed none for this machine. Install Node 24 or newer.\n',
  );
  process.exitCode = 1;
} else {
  delete process.env.GRADWIRE_NODE;
  let built = true;
  if (needsBuild()) {
    process.stderr.write('gradwire: building (once, and after the sources changed)\n');
    const result = spawnSync(
      process.execPath,
      [path.join(root, 'scripts', 'build.ts'), '--quiet'],
      { cwd: root, stdio: ['ignore', 'inherit', 'inherit'] },
    );
    built = result.status === 0;
  }
  if (built) await import(pathToFileURL(path.join(root, 'dist', 'cli', 'cli.js')).href);
  else {
    process.stderr.write('gradwire: BUILD_FAILED: see above. Then try again.\n');
    process.exitCode = 1;
  }
}
