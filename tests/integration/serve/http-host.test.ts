/** The server over real sockets, with the real core behind it. */
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createAppCore, type AppCore } from '../../../src/main/app/app-core.ts';
import { resolveHome } from '../../../src/main/home/home.ts';
import { startHttpHost, type HttpHost } from '../../../src/main/serve/http-host.ts';
import type { HostConnection } from '../../../src/renderer/state/host/host-connection.ts';
import { rawRequest, rawUpgrade } from './raw-request.ts';
import { connectTo, socketTo } from './socket-connection.ts';

const ASSET = 'assets/index-B__BVfgC.js';
/** With compressed forms beside it, as the build makes them. */
const LARGE = 'assets/common-DMQZ_3Nb.js';
const SOURCE = Array.from(
  { length: 500 },
  (_, i) => `export const a${i} = ${i};\n`,
).join('');
const FORMS = {
  identity: Buffer.from(SOURCE),
  br: brotliCompressSync(SOURCE),
  gzip: gzipSync(SOURCE),
};

let directory: string;
let core: AppCore;
let host: HttpHost;
let port: number;
/** The query of the printed URL: `?token=…`. */
let search: string;

beforeAll(async () => {
  directory = await mkdtemp(path.join(os.tmpdir(), 'gradwire-serve-'));
  const renderer = path.join(directory, 'renderer');
  await mkdir(path.join(renderer, 'assets'), { recursive: true });
  await writeFile(path.join(renderer, 'index.html'), '<!doctype html><p>page</p>');
  await writeFile(path.join(renderer, ASSET), 'export {};');
  await writeFile(path.join(renderer, LARGE), FORMS.identity);
  await writeFile(path.join(renderer, `${LARGE}.br`), FORMS.br);
  await writeFile(path.join(renderer, `${LARGE}.gz`), FORMS.gzip);
  await writeFile(path.join(renderer, 'empty.css'), '');
  await writeFile(path.join(renderer, '.secret.html'), 'secret');
  await writeFile(path.join(directory, 'secret.html'), 'secret');
  const home = resolveHome({ GRADWIRE_HOME: path.join(directory, 'home') });
  core = await createAppCore({ home, host: 'browser' });
  host = await startHttpHost({ core, renderer, port: 0 });
  port = Number(new URL(host.url).port);
  search = new URL(host.url).search;
});

afterAll(async () => {
  await host.close();
  await core.close();
  await rm(directory, { recursive: true });
});

const get = (target: string, headers: Record<string, string> = {}, method = 'GET') =>
  rawRequest({ port, target, method, headers });

describe('the page', () => {
  it('is had with the token, which no cookie carries to other ports', async () => {
    const admission = await get(`/${search}`);
    expect(admission.status).toBe(200);
    expect(admission.headers['cache-control']).toBe('no-store');
    expect(admission.headers['referrer-policy']).toBe('no-referrer');
    expect(admission.headers['set-cookie']).toBeUndefined();
    expect(admission.body).not.toContain(search.slice(7));
    const page = await get('/');
    expect(page.status).toBe(200);
    expect(page.body).toBe('<!doctype html><p>page</p>');
    expect(page.headers['content-type']).toBe('text/html; charset=utf-8');
    expect(page.headers['cache-control']).toBe('no-cache');
  });

  it('comes with files that keep, of their kind', async () => {
    const asset = await get(`/${ASSET}`);
    expect(asset.body).toBe('export {};');
    expect(asset.headers['content-type']).toBe('text/javascript; charset=utf-8');
    expect(asset.headers['cache-control']).toBe('private, max-age=31536000, immutable');
    expect(await get('/empty.css')).toMatchObject({ status: 200, body: '' });
    const head = await get(`/${ASSET}`, {}, 'HEAD');
    expect(head).toMatchObject({ status: 200, body: '' });
    expect(head.headers['content-length']).toBe('10');
  });

  it.each([
    ['br', 'gzip, deflate, br, zstd'],
    ['gzip', 'gzip, deflate'],
    ['identity', undefined],
    ['identity', 'deflate'],
    ['identity', 'br;q=0, gzip;q=0'],
  ] as const)('comes as %s to who accepts %j', async (form, accepted) => {
    const headers = accepted === undefined ? {} : { 'Accept-Encoding': accepted };
    const answer = await get(`/${LARGE}`, headers);
    expect(answer.status).toBe(200);
    expect(answer.bytes).toEqual(FORMS[form]);
    expect(answer.headers['content-encoding']).toBe(
      form === 'identity' ? undefined : form,
    );
    expect(answer.headers['content-length']).toBe(String(FORMS[form].length));
    expect(answer.headers['content-type']).toBe('text/javascript; charset=utf-8');
    expect(answer.headers.vary).toBe('Accept-Encoding');
    const head = await get(`/${LARGE}`, headers, 'HEAD');
    expect(head).toMatchObject({ status: 200, body: '' });
    for (const name of ['content-length', 'content-encoding', 'etag'] as const) {
      expect(head.headers[name]).toBe(answer.headers[name]);
    }
  });

  it('is plain where the build made no compressed form', async () => {
    const answer = await get(`/${ASSET}`, { 'Accept-Encoding': 'br, gzip' });
    expect(answer).toMatchObject({ status: 200, body: 'export {};' });
    expect(answer.headers['content-encoding']).toBeUndefined();
    expect(answer.headers.vary).toBe('Accept-Encoding');
  });

  it('is not sent again to who has it, each form by a tag of its own', async () => {
    const tags = new Set<string>();
    for (const accepted of ['br', 'gzip', 'identity']) {
      const ask = { 'Accept-Encoding': accepted };
      const tag = (await get(`/${LARGE}`, ask)).headers.etag!;
      expect(tag).toMatch(/^"[\w-]{22}"$/);
      tags.add(tag);
      for (const known of [tag, `W/${tag}`, `"x", ${tag}`, '*']) {
        const answer = await get(`/${LARGE}`, { ...ask, 'If-None-Match': known });
        expect(answer).toMatchObject({ status: 304, body: '' });
        expect(answer.headers.etag).toBe(tag);
        expect(answer.headers.vary).toBe('Accept-Encoding');
        expect(answer.headers['cache-control']).toMatch(/immutable$/);
      }
      for (const other of ['"x"', tag.slice(1, -1), '']) {
        const answer = await get(`/${LARGE}`, { ...ask, 'If-None-Match': other });
        expect(answer.status).toBe(200);
      }
    }
    expect(tags.size).toBe(3);
  });

  it('asks for the page again each time, and gets it only if it is another', async () => {
    const page = await get('/');
    expect(page.headers['cache-control']).toBe('no-cache');
    const again = await get('/', { 'If-None-Match': page.headers.etag! });
    expect(again).toMatchObject({ status: 304, body: '' });
    await writeFile(path.join(directory, 'renderer/index.html'), '<p>newer</p>');
    const newer = await get('/', { 'If-None-Match': page.headers.etag! });
    expect(newer).toMatchObject({ status: 200, body: '<p>newer</p>' });
  });

  it.each([
    ['a wrong token', '/?token=wrong', {}, 'GET', 401],
    ['the line without token', '/rpc', {}, 'GET', 401],
    ['a foreign Host', '/', { Host: 'evil.example' }, 'GET', 421],
    ['a method that writes', '/', {}, 'POST', 405],
    ['a file that is not there', '/assets/gone-12345678.js', {}, 'GET', 404],
    ['a directory', '/assets', {}, 'GET', 404],
    ['a compressed form by its name', `/${LARGE}.br`, {}, 'GET', 404],
    ['a hidden file', '/.secret.html', {}, 'GET', 404],
    ['a climb', '/../secret.html', {}, 'GET', 404],
    ['a climb from below', '/assets/../../secret.html', {}, 'GET', 404],
    ['an escaped climb', '/%2e%2e/secret.html', {}, 'GET', 404],
    ['an escaped slash', '/..%2fsecret.html', {}, 'GET', 404],
    ['a backslash', '/..\\secret.html', {}, 'GET', 404],
    ['an absolute path', '//etc/passwd', {}, 'GET', 404],
  ] as const)('is refused for %s', async (_title, target, headers, method, status) => {
    const answer = await get(target, headers, method);
    expect(answer.status).toBe(status);
    expect(answer.body).not.toContain('secret');
    expect(answer.headers['set-cookie']).toBeUndefined();
    if (status === 405) expect(answer.headers.allow).toBe('GET, HEAD');
  });

  it.each(['/', `/${ASSET}`, '/gone.js', '/?token=wrong'])(
    'has its policy on every answer (%s)',
    async (target) => {
      const { headers } = await get(target);
      expect(headers['content-security-policy']).toMatch(/^default-src 'none'; /);
      expect(headers['content-security-policy']).toContain("frame-ancestors 'none'");
      expect(headers['x-content-type-options']).toBe('nosniff');
      expect(headers['referrer-policy']).toBe('no-referrer');
      expect(headers['cross-origin-opener-policy']).toBe('same-origin');
    },
  );

  it('survives what is no HTTP', async () => {
    const socket = net.connect(port, '127.0.0.1');
    socket.on('error', () => socket.destroy());
    socket.end('\x16\x03\x01 not http\r\n\r\n');
    await new Promise((resolve) => socket.once('close', resolve));
    expect((await get('/')).status).toBe(200);
  });
});

describe('the WebSocket', () => {
  const origin = () => `http://127.0.0.1:${port}`;
  const line = () => `/rpc${search}`;
  it.each<[string, () => Record<string, string>, () => string, number]>([
    ['opens with the token and own origin', () => ({ Origin: origin() }), line, 101],
    ['needs the token', () => ({ Origin: origin() }), () => '/rpc', 401],
    [
      'takes no wrong token',
      () => ({ Origin: origin() }),
      () => '/rpc?token=wrong',
      401,
    ],
    ['refuses other sites', () => ({ Origin: 'https://evil.example' }), line, 403],
    ['refuses an absent origin', () => ({}), line, 403],
    [
      'refuses a foreign Host',
      () => ({ Origin: 'http://evil.example', Host: 'evil.example' }),
      line,
      421,
    ],
    ['is nowhere else', () => ({ Origin: origin() }), () => `/${search}`, 404],
  ])('%s', async (_title, headers, target, status) => {
    const answer = await rawUpgrade({
      port,
      target: target(),
      headers: headers(),
    });
    expect(answer.status).toBe(status);
  });

  it('carries calls, answers and errors', async () => {
    const connection = await connectTo(host.url);
    const info = await connection.api.info();
    expect(info).toMatchObject({ host: 'browser', home: path.join(directory, 'home') });
    expect(await connection.api.runs({ limit: 10 })).toEqual([]);
    expect((await connection.api.presets()).map((preset) => preset.id)).toContain(
      'quickstart',
    );
    await expect(connection.api.run('nope')).rejects.toMatchObject({ kind: 'input' });
    await expect(connection.api.runs({ limit: 0 })).rejects.toMatchObject({
      code: 'RPC_INVALID_ARGUMENTS',
      message: expect.stringMatching(/^runs: argument 1 limit: /) as string,
    });
    connection.close();
  });

  it('sends fewer than a quarter of the bytes to a client that takes them compressed', async () => {
    const received = async (perMessageDeflate: boolean): Promise<number[]> => {
      const socket = socketTo(host.url, { perMessageDeflate });
      const [[answer]] = (await Promise.all([
        once(socket, 'upgrade'),
        once(socket, 'open'),
      ])) as [[IncomingMessage], unknown];
      const before = answer.socket.bytesRead;
      socket.send('{"t":"q","i":"1","m":"catalogue","a":[]}');
      let text = '';
      // Events may come before the answer.
      while (!text.includes('"i":"1"')) {
        const [message] = (await once(socket, 'message')) as [Buffer];
        text = message.toString();
      }
      socket.close();
      return [text.length, answer.socket.bytesRead - before];
    };
    const [length, plain] = await received(false);
    expect(plain).toBeGreaterThan(length!);
    expect((await received(true))[1]).toBeLessThan(length! / 4);
  });

  it.each<[string, string | Buffer, number]>([
    ['text that is no message', 'hello', 1002],
    ['binary data', Buffer.from('{"t":"q","i":"1","m":"info","a":[]}'), 1002],
    ['more than a call can be', `"${'x'.repeat(9 * 2 ** 20)}"`, 1009],
  ])('is closed on %s', async (_title, data, code) => {
    const socket = socketTo(host.url);
    await new Promise((resolve) => socket.once('open', resolve));
    const closed = new Promise((resolve) => socket.once('close', resolve));
    socket.on('error', () => socket.terminate());
    socket.send(data);
    expect(await closed).toBe(code);
    // The others do not notice.
    const connection = await connectTo(host.url);
    await connection.api.info();
    connection.close();
  });
});

describe('the listener', () => {
  it('is not had twice on one port', async () => {
    await expect(
      startHttpHost({ core, renderer: directory, port }),
    ).rejects.toMatchObject({
      code: 'PORT_IN_USE',
      kind: 'input',
      message: `port ${port} is in use`,
      place: `127.0.0.1:${port}`,
    });
  });

  it('is on loopback only', async () => {
    const outside = Object.values(os.networkInterfaces())
      .flat()
      .find((address) => address?.family === 'IPv4' && !address.internal);
    // A machine with no other address cannot be reached on one.
    if (outside === undefined) return;
    expect(await canConnect(outside.address, port)).toBe(false);
  });

  it('ends with everything on it, and its page says that the line is down', async () => {
    const second = await startHttpHost({ core, renderer: directory, port: 0 });
    const address = new URL(second.url);
    const connection = await connectTo(second.url);
    const down = lineDown(connection);
    const idle = net.connect(Number(address.port), '127.0.0.1');
    await new Promise((resolve) => idle.once('connect', resolve));
    const cut = new Promise((resolve) => idle.once('close', resolve));
    idle.resume();
    await second.close();
    await Promise.all([down, cut]);
    expect(connection.status).toBe('reconnecting');
    connection.close();
    expect(await canConnect('127.0.0.1', Number(address.port))).toBe(false);
  });

  it('after a restart refuses the old page, which stops retrying', async () => {
    const first = await startHttpHost({ core, renderer: directory, port: 0 });
    const connection = await connectTo(first.url);
    const refused = new Promise<void>((resolve) => {
      connection.on('status', (status) => {
        if (status === 'refused') resolve();
      });
    });
    await first.close();
    const again = Number(new URL(first.url).port);
    const second = await startHttpHost({ core, renderer: directory, port: again });
    await refused;
    connection.close();
    await second.close();
  });
});

function lineDown(connection: HostConnection): Promise<void> {
  return new Promise((resolve) => {
    const stop = connection.on('status', () => {
      stop();
      resolve();
    });
    // A connection closed by its own side says nothing more.
    if (connection.status !== 'connected') resolve();
  });
}

function canConnect(address: string, to: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = net.connect(to, address);
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => resolve(false));
  });
}
