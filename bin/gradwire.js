#!/usr/bin/env node
// The `gradwire` command. Gradwire runs on Node 24, which npm brings along as a package:
// started by an older Node, this re-executes itself on that one. In a checkout it builds
// what is missing or older than its sources first. Plain JavaScript for any Node ≥ 20.
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const root = path.join(path.dirname(fileURLToPath(import.meta.url)), '..');
const isCheckout = existsSync(path.join(root, 'src', 'cli'));
const { config } = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8'));

/** Whether this Node is at least the lowest that Gradwire is tested with. */
function isAccepted() {
  const parts = (version) => version.split('.').map(Number);
  const [major, minor] = parts(process.versions.node);
  const [lowestMajor, lowestMinor] = parts(config.lowestNode);
  return major > lowestMajor || (major === lowestMajor && minor >= lowestMinor);
}

/** Whether npm has installed a package. */
function isInstalled(name) {
  try {
    createRequire(import.meta.url).resolve(`${name}/package.json`);
    return true;
  } catch {
    return false;
  }
}

function fail(message) {
  process.stderr.write(`gradwire: ${message}\n`);
  process.exitCode = 1;
}

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

/**
 * When the newest source changed that dist/ was not made from; undefined if dist/ is there
 * and newer.
 */
function unbuiltSince() {
  if (!isCheckout) return undefined;
  const sources = newest(path.join(root, 'src'));
  const time = Math.max(sources, statSync(path.join(root, 'package.json')).mtimeMs);
  const stamp = path.join(root, 'dist', 'build-stamp');
  return existsSync(stamp) && statSync(stamp).mtimeMs >= time ? undefined : time;
}

/** Builds; what is being done goes to stderr, because stdout belongs to the command. */
function build(since) {
  const started = existsSync(path.join(root, 'dist'))
    ? 'the sources have changed: building again'
    : 'building, once';
  process.stderr.write(`gradwire: ${started}; this takes up to a minute\n`);
  const script = path.join(root, 'scripts', 'build.ts');
  const { status } = spawnSync(
    process.execPath,
    [
      '--disable-warning=ExperimentalWarning',
      script,
      '--steps',
      '--since',
      String(since),
    ],
    { cwd: root, stdio: ['ignore', 2, 2] },
  );
  return status === 0;
}

function reexecute(node) {
  const child = spawn(
    node,
    [fileURLToPath(import.meta.url), ...process.argv.slice(2)],
    {
      // The channel tells the inner process when this one is gone, killed as well.
      stdio: ['inherit', 'inherit', 'inherit', 'ipc'],
      // The inner process must not look for yet another Node.
      env: { ...process.env, GRADWIRE_NODE: '1' },
    },
  );
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
    process.on(signal, () => child.kill(signal));
  }
  child.on('error', (error) => {
    fail(
      `NODE_TOO_OLD: this is Node ${process.versions.node}, and the one that npm installed ` +
        `does not start: ${error.message}. Install Node ${config.lowestNode} or newer.`,
    );
  });
  child.on('exit', (code, signal) => {
    if (signal !== null) {
      process.removeAllListeners(signal);
      process.kill(process.pid, signal);
    } else process.exit(code ?? 1);
  });
}

/** Ends this process, as a kill would, when the one that re-executed it is killed. */
function endWithParent() {
  if (process.channel === undefined) return;
  process.on('disconnect', () => process.kill(process.pid, 'SIGKILL'));
  process.channel.unref();
}

const node = bundledNode();
const entry = path.join(root, 'dist', 'cli', 'cli.js');
const unbuilt = unbuiltSince();
// A build needs what only a full `npm ci` installs.
const needed = unbuilt === undefined ? ['better-sqlite3'] : ['better-sqlite3', 'vite'];
const absent = needed.find((name) => !isInstalled(name));
if (isCheckout && absent !== undefined) {
  fail(
    `NOT_INSTALLED: npm has not installed the packages that Gradwire needs (${absent}). ` +
      `Run: npm ci, in ${root}`,
  );
} else if (isAccepted()) {
  if (process.env.GRADWIRE_NODE !== undefined) endWithParent();
  delete process.env.GRADWIRE_NODE;
  if (!isCheckout && !existsSync(entry)) {
    fail(
      `NOT_BUILT: ${root} was packed without its build. Pack it in a checkout, with: npm run pack`,
    );
  } else if (unbuilt === undefined || build(unbuilt)) {
    await import(pathToFileURL(entry).href);
  } else {
    fail(
      'BUILD_FAILED: see above. If a package is missing, run: npm ci. Then try again.',
    );
  }
} else if (node !== undefined && process.env.GRADWIRE_NODE === undefined) {
  reexecute(node);
} else {
  fail(
    `NODE_TOO_OLD: this is Node ${process.versions.node}, Gradwire needs ${config.lowestNode} ` +
      `and npm installed none for this machine. Install Node ${config.lowestNode} or newer.`,
  );
}
