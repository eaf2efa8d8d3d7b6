/**
 * `gradwire serve` and `gradwire start` as a user meets them: real processes, what they
 * print, how they end and what they leave behind.
 */
import { spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { chmod, chown, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { createServer, type AddressInfo } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import {
  afterAll,
  afterEach,
  beforeAll,
  beforeEach,
  describe,
  expect,
  it,
} from 'vitest';
import { probeDownload } from '../../../src/main/serve/electron-binary.ts';
import { effort } from '../../harness/effort.ts';
import { RunningCommand } from '../../harness/gradwire.ts';
import { until } from '../../harness/processes.ts';
import { rawRequest } from './raw-request.ts';
import { connectTo } from './socket-connection.ts';

const cli = path.join(import.meta.dirname, '../../../dist/cli/cli.js');

/** Electron refuses to run as root, and so does `start`: there it runs as nobody. */
const NOBODY = 65_534;
const asRoot = process.getuid?.() === 0;

let directory: string;
let home: string;

beforeAll(async () => {
  directory = await mkdtemp(path.join(os.tmpdir(), 'gradwire-host-'));
  await chmod(directory, 0o755);
});
afterAll(() => rm(directory, { recursive: true }));
beforeEach(async () => {
  home = await mkdtemp(path.join(directory, 'home-'));
  if (asRoot) await chown(home, NOBODY, NOBODY);
});

/** A test that fails half-way must not leave its process behind. */
const started = new Set<RunningCommand>();
afterEach(async () => {
  for (const command of started) command.child.kill('SIGKILL');
  await Promise.all([...started].map((command) => command.finished));
});

function gradwire(args: readonly string[], environment: NodeJS.ProcessEnv = {}) {
  const child = spawn(process.execPath, [cli, ...args], {
    env: {
      PATH: process.env['PATH'],
      HOME: home,
      GRADWIRE_HOME: home,
      NO_COLOR: '1',
      ...environment,
    },
    ...(asRoot ? { uid: NOBODY, gid: NOBODY } : {}),
  });
  const command = new RunningCommand(child, false);
  started.add(command);
  void command.finished.then(() => started.delete(command));
  return command;
}

/** The URL or the JSON, once the one line of stdout is complete. */
async function urlOf(command: RunningCommand): Promise<string> {
  return await new Promise((resolve, reject) => {
    let text = '';
    command.child.stdout!.on('data', (chunk: string) => {
      text += chunk;
      if (text.endsWith('\n')) resolve(text.trim());
    });
    command.child.once('close', () => reject(new Error(`ended: ${command.stderr}`)));
  });
}

async function end(command: RunningCommand, signal: NodeJS.Signals = 'SIGTERM') {
  command.child.kill(signal);
  return await command.finished;
}

describe('serve', () => {
  const signals = ['SIGTERM', 'SIGINT', 'SIGHUP'] as const;
  it.each(signals.slice(0, effort({ quick: 1, soak: 3 })))(
    'prints one line, serves the built page, and ends cleanly on %s',
    async (signal) => {
      const command = gradwire(['serve', '--no-open']);
      const url = await urlOf(command);
      expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/\?token=[\w-]{43}$/);
      const { port } = new URL(url);
      const page = await rawRequest({ port: Number(port) });
      expect(page.body).toContain('<title>Gradwire</title>');
      const connection = await connectTo(url);
      expect(await connection.api.info()).toMatchObject({ host: 'browser', home });
      expect(await end(command, signal)).toEqual({
        code: 0,
        signal: null,
        stdout: `${url}\n`,
        stderr: '',
      });
      connection.close();
      await expect(rawRequest({ port: Number(port) })).rejects.toMatchObject({
        code: 'ECONNREFUSED',
      });
      // Nothing holds the home any more.
      const again = gradwire(['serve', '--no-open', '--port', port, '--json']);
      const said = JSON.parse(await urlOf(again)) as Record<'url' | 'token', string>;
      const origin = `http://127.0.0.1:${port}`;
      const { token } = said;
      expect(said).toEqual({ url: `${origin}/?token=${token}`, origin, token });
      await end(again);
    },
  );

  it('is refused on a home that another one uses, which it names', async () => {
    const first = gradwire(['serve', '--no-open']);
    const url = new URL(await urlOf(first));
    const second = await gradwire(['serve', '--no-open']).finished;
    expect(second).toMatchObject({ code: 1, stdout: '' });
    expect(second.stderr).toMatch(/^gradwire: APP_ALREADY_RUNNING: [^\n]*\n$/);
    expect(second.stderr).toContain(String(first.child.pid));
    expect(second.stderr).toContain(url.origin);
    expect(second.stderr).not.toContain('token');
    await end(first);
  });

  it('is refused a port in use, as a wrong input', async () => {
    await using taken = createServer();
    await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve));
    const { port } = taken.address() as AddressInfo;
    const refused = await gradwire(['serve', '--no-open', '--port', `${port}`])
      .finished;
    expect(refused).toMatchObject({ code: 2, stdout: '' });
    expect(refused.stderr).toBe(
      `gradwire: PORT_IN_USE: port ${port} is in use (127.0.0.1:${port}). ` +
        'Choose another with --port, or omit --port to get a free one.\n',
    );
  });

  it('opens the browser with a private page, so that no argument has the token', async () => {
    const bin = await mkdtemp(path.join(directory, 'bin-'));
    await chmod(bin, 0o755);
    if (asRoot) await chown(bin, NOBODY, NOBODY);
    const log = path.join(bin, 'opened.json');
    // A link that somebody has put there is not written through.
    const victim = path.join(bin, 'victim');
    await writeFile(victim, 'theirs', { mode: 0o666 });
    await chmod(victim, 0o666);
    await symlink(victim, path.join(home, 'open.html'));
    await script(
      path.join(bin, 'xdg-open'),
      `const fs = require('node:fs');
       const page = process.argv[2];
       fs.writeFileSync(${JSON.stringify(`${log}.new`)}, JSON.stringify({
         arguments: process.argv.slice(2),
         mode: fs.statSync(page).mode & 0o777,
         text: fs.readFileSync(page, 'utf8'),
       }));
       fs.renameSync(${JSON.stringify(`${log}.new`)}, ${JSON.stringify(log)});`,
    );
    const command = gradwire(['serve'], {
      PATH: `${bin}:${process.env['PATH']}`,
      DISPLAY: ':99',
    });
    const url = await urlOf(command);
    await until(
      () => existsSync(log),
      (there) => there,
      'the browser to be opened',
    );
    const seen = JSON.parse(readFileSync(log, 'utf8')) as {
      arguments: string[];
      mode: number;
      text: string;
    };
    expect(seen.arguments).toEqual([path.join(home, 'open.html')]);
    expect(seen.mode).toBe(0o600);
    expect(seen.text).toContain(`url=${url}"`);
    expect(readFileSync(victim, 'utf8')).toBe('theirs');
    await end(command);
    expect(existsSync(path.join(home, 'open.html'))).toBe(false);
  });
});

describe('start', () => {
  async function startAndStop(environment: NodeJS.ProcessEnv) {
    const command = gradwire(['start'], environment);
    const url = await urlOf(command);
    const connection = await connectTo(url);
    await connection.api.info();
    connection.close();
    const finished = await end(command);
    return { ...finished, url };
  }
  const LINE = (reason: string) =>
    new RegExp(
      `^gradwire: cannot open a window \\(${reason}\\); serving to your browser\\.\\n$`,
    );

  it('without a display says so in one line and serves', async () => {
    const result = await startAndStop({});
    expect(result.stderr).toMatch(LINE('there is no display'));
    expect(result.stdout).toBe(`${result.url}\n`);
    expect(result.code).toBe(0);
  });

  it(
    'with a download host that never answers says so by a limit of its own',
    { tags: 'soak' },
    async () => {
      await using silent = createServer((socket) => socket.resume());
      await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
      const { port } = silent.address() as AddressInfo;
      const result = await startAndStop({
        DISPLAY: ':99',
        PATH: '/nonexistent',
        ELECTRON_MIRROR: `http://127.0.0.1:${port}/`,
      });
      expect(result.stderr).toMatch(
        LINE('cannot download Electron: [^)]*: no answer within 3 s'),
      );
      expect(result.code).toBe(0);
    },
  );

  describe('with Electron there', () => {
    async function electron(source: string): Promise<NodeJS.ProcessEnv> {
      const dist = await mkdtemp(path.join(directory, 'electron-'));
      await chmod(dist, 0o755);
      await script(path.join(dist, 'electron'), source);
      return {
        DISPLAY: ':99',
        PATH: '/nonexistent',
        ELECTRON_OVERRIDE_DIST_PATH: dist,
      };
    }

    it('runs the app in it and ends with its exit code', async () => {
      const environment = await electron(
        `console.log(process.argv[2]); process.send('window', () => process.exit(7));`,
      );
      const root = path.join(import.meta.dirname, '../../..');
      expect(await gradwire(['start', '--json'], environment).finished).toEqual({
        code: 7,
        signal: null,
        stdout: `${root}\n{"window":true}\n`,
        stderr: '',
      });
    });

    it('passes on what the app failed on', async () => {
      const error = {
        code: 'APP_ALREADY_RUNNING',
        kind: 'failure',
        message: 'taken',
        next: 'Use that one.',
      };
      const environment = await electron(
        `process.send(${JSON.stringify(error)}, () => process.exit(1));`,
      );
      expect(await gradwire(['start'], environment).finished).toMatchObject({
        code: 1,
        stdout: '',
        stderr: 'gradwire: APP_ALREADY_RUNNING: taken. Use that one.\n',
      });
    });

    it.each([
      ['process.exit(127)', 'Electron did not start: 127'],
      [`process.kill(process.pid, 'SIGTRAP')`, 'Electron did not start: SIGTRAP'],
    ])('serves where it cannot show a window (%s)', async (source, reason) => {
      const result = await startAndStop(await electron(source));
      expect(result.stderr).toMatch(LINE(reason));
      expect(result.code).toBe(0);
    });
  });
});

describe('the probe of the download', () => {
  it.each([
    [200, 'answers'],
    [404, 'silent'],
    [503, 'silent'],
  ])('takes status %s for %s', async (status, kind) => {
    const methods: string[] = [];
    await using server = createServer((socket) => {
      socket.once('data', (data) => {
        methods.push(String(data).split(' ', 1)[0]!);
        socket.end(`HTTP/1.1 ${status} X\r\nContent-Length: 9000000\r\n\r\n`);
      });
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    expect(await probeDownload(`http://127.0.0.1:${port}/e.zip`)).toMatchObject({
      kind,
    });
    expect(methods).toEqual(['HEAD']);
  });

  it('knows a host that is not there', async () => {
    const gone = createServer();
    await new Promise<void>((resolve) => gone.listen(0, '127.0.0.1', resolve));
    const { port } = gone.address() as AddressInfo;
    await new Promise((resolve) => gone.close(resolve));
    expect(await probeDownload(`http://127.0.0.1:${port}/e.zip`)).toEqual({
      kind: 'silent',
      reason: `127.0.0.1:${port}: ECONNREFUSED`,
    });
  });
});

/** An executable that runs this source on the Node of the tests. */
async function script(file: string, source: string): Promise<void> {
  await writeFile(file, `#!${process.execPath}\n${source}\n`, { mode: 0o755 });
  await chmod(file, 0o755);
}
