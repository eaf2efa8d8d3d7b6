/**
 * Public data sets fetched from real servers on loopback: servers that break off, ignore
 * ranges, send other files, fall silent or are not there.
 */
import { once } from 'node:events';
import {
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import type { ServerResponse } from 'node:http';
import { createServer as createTcpServer, type AddressInfo } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { fetchSet, isComplete } from '../../../src/main/data-sets/fetch-set.ts';
import {
  chunked,
  FileServer,
  ignoreRange,
  stopAfter,
  type Handler,
} from './file-server.ts';
import {
  bytesOf,
  contents,
  described,
  expectAllIn,
  fetchInto,
  named,
  setAt,
} from './numbers-set.ts';

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(path.join(os.tmpdir(), 'gradwire-data-'));
});
afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(directory, { recursive: true, force: true });
});

describe('a public data set', () => {
  it('is fetched file by file, with its progress in bytes', async () => {
    await using server = await FileServer.start(contents);
    const set = setAt(server.url);
    expect(await isComplete(set, directory)).toBe(false);
    const { data, fetched, progress } = await fetchInto(directory, set);
    expectAllIn(directory);
    expect(data).toBe(directory);
    expect(fetched).toBe(400_001);
    const done = progress.map((one) => one.done);
    expect(done).toEqual(done.toSorted((a, b) => a - b));
    expect(progress.at(-1)).toEqual({
      file: 'second.bin',
      done: 400_001,
      total: 400_001,
    });
    expect(await isComplete(set, directory)).toBe(true);
    expect((await fetchInto(directory, set)).fetched).toBe(0);
    expect(server.asked).toHaveLength(2);
  });

  it('is fetched with the user and the password of a mirror, which nothing names', async () => {
    await using server = await FileServer.start(new Map([...contents].slice(0, 1)));
    const mirror = server.url.replace('//', '//me%40home:p%3A%C3%A4ss%@');
    const error: unknown = await fetchInto(directory, setAt(mirror)).catch(
      (cause: unknown) => cause,
    );
    expect(server.asked.map(({ authorization }) => authorization)).toEqual(
      Array(2).fill(`Basic ${Buffer.from('me@home:p:äss%').toString('base64')}`),
    );
    expect(named(directory)).toEqual(['first.bin']);
    expect(error).toMatchObject({
      code: 'FETCH_FAILED',
      message: `cannot fetch second.bin: ${server.url}second.bin: HTTP 404 Not Found`,
    });
  });

  it('is not fetched from what is no URL, which nothing names either', async () => {
    vi.stubEnv('GRADWIRE_DATA_MIRROR', 'ftp://me:secret@mirror.example/');
    const error: unknown = await fetchInto(directory, setAt()).catch(
      (cause: unknown) => cause,
    );
    expect(error).toMatchObject({ code: 'MIRROR_INVALID' });
    expect(JSON.stringify([error, String(error)])).not.toContain('secret');
  });

  it('is gone on with where a connection broke', async () => {
    await using server = await FileServer.start(
      contents,
      stopAfter(120_000),
      stopAfter(50_000),
    );
    await fetchInto(directory, setAt(server.url), {
      seen: ({ done }) => {
        if (done === 120_000 || done === 170_000) server.cut();
      },
    });
    expectAllIn(directory);
    const ranges = server.asked.filter(({ name }) => name === 'first.bin');
    expect(ranges.map(({ range }) => range)).toEqual([
      undefined,
      'bytes=120000-',
      'bytes=170000-',
    ]);
  });

  it('is gone on with by a later command after it was stopped', async () => {
    await using server = await FileServer.start(
      contents,
      (_request, response, body) => {
        response.writeHead(200, { 'content-length': body.length });
        response.write(body.subarray(0, 90_000));
      },
    );
    const set = setAt(server.url);
    const controller = new AbortController();
    const stopped = fetchSet(set, {
      directory,
      signal: controller.signal,
      progress: ({ done }) => {
        if (done === 90_000) controller.abort(new Error('enough'));
      },
    });
    await expect(stopped).rejects.toThrow('enough');
    expect(named(directory)).toEqual([]);
    expect(statSync(path.join(directory, 'first.bin.part')).size).toBe(90_000);
    await fetchInto(directory, set);
    expectAllIn(directory);
    expect(server.asked[1]!.range).toBe('bytes=90000-');
  });

  it('comes whole from a server that closes each connection at once', async () => {
    const [content] = [...contents.values()].map((one) =>
      Buffer.concat([one, one, one]),
    );
    const server = createTcpServer((socket) => {
      socket.once('data', () => {
        const head = `HTTP/1.0 200 OK\r\ncontent-length: ${content!.length}\r\n\r\n`;
        socket.end(Buffer.concat([Buffer.from(head), content!]));
      });
      socket.on('error', () => undefined);
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const names = Array.from({ length: 40 }, (_, i) => `${i}.bin`);
    const set = {
      ...setAt(`http://127.0.0.1:${port}/`),
      files: names.map((name) => described(name, content!)),
    };
    try {
      await fetchInto(directory, set);
    } finally {
      server.close();
      await once(server, 'close');
    }
    expect(named(directory).toSorted()).toEqual(names.toSorted());
  });

  it('starts over if a server does not support ranges', async () => {
    await using server = await FileServer.start(
      contents,
      stopAfter(120_000),
      ignoreRange,
    );
    await fetchInto(directory, setAt(server.url), {
      seen: ({ done }) => {
        if (done === 120_000 && server.asked.length === 1) server.cut();
      },
    });
    expectAllIn(directory);
    expect(server.asked[1]!.range).toBe('bytes=120000-');
  });

  it('comes from the next mirror where one is not there, or has another file', async () => {
    const gone = await FileServer.start(contents);
    const absent = gone.url;
    await gone[Symbol.asyncDispose]();
    const others = new Map(
      [...contents].map(([name]) => [name, bytesOf('other', 500)]),
    );
    await using wrong = await FileServer.start(others);
    await using right = await FileServer.start(contents);
    await fetchInto(directory, setAt(absent, wrong.url, right.url));
    expectAllIn(directory);
    expect(wrong.asked).toHaveLength(2);
  });

  it('forgets what was there of another file', async () => {
    await using server = await FileServer.start(contents);
    writeFileSync(path.join(directory, 'first.bin.part'), bytesOf('other', 1000));
    // Longer than the file, too.
    writeFileSync(path.join(directory, 'second.bin.part'), bytesOf('other', 200_000));
    await fetchInto(directory, setAt(server.url));
    expectAllIn(directory);
    expect(server.asked.map(({ range }) => range)).toEqual([
      'bytes=1000-',
      undefined,
      undefined,
    ]);
  });

  it('is no file at all where its SHA-256 is wrong', async () => {
    const changed = new Map(contents);
    const content = Buffer.from(changed.get('first.bin')!);
    content[299_999]! ^= 1;
    changed.set('first.bin', content);
    await using server = await FileServer.start(changed);
    await expect(fetchInto(directory, setAt(server.url))).rejects.toMatchObject({
      code: 'FETCH_FAILED',
      message: expect.stringMatching(/first\.bin: .*SHA-256 differs/) as string,
    });
    expect(named(directory)).toEqual([]);
    expect(existsSync(path.join(directory, 'first.bin.part'))).toBe(false);
  });

  it.each<[string, Handler, RegExp]>([
    ['has too much', (_q, r, body) => chunked(r, body, body), /more than/],
    [
      'names another length',
      (_q, r, body) => r.end(body.subarray(1)),
      /a different file/,
    ],
    [
      'packs it',
      (_q, r, body) => r.writeHead(200, { 'content-encoding': 'gzip' }).end(body),
      /compresses the response/,
    ],
    [
      'has too little',
      (_q, r, body) => chunked(r, body.subarray(0, 10)),
      /10 of 300000/,
    ],
    ['refuses', (_q, r) => r.writeHead(503).end('busy'), /HTTP 503/],
    [
      'answers another range',
      (_q, r, body) =>
        r.writeHead(206, { 'content-range': 'bytes 7-9/300000' }).end(body),
      /a different range/,
    ],
    ['says nothing', () => undefined, /stopped sending/],
    ['falls silent', (_q, r, body) => r.write(body.subarray(0, 10)), /stopped sending/],
  ])('names what a server did that %s', async (_what, handler, reason) => {
    const silenceMs = reason.source.includes('stopped sending') ? 300 : 60_000;
    await using server = await FileServer.start(
      contents,
      ...Array.from({ length: 9 }, () => handler),
    );
    await expect(
      fetchInto(directory, setAt(server.url), { silenceMs }),
    ).rejects.toMatchObject({
      code: 'FETCH_FAILED',
      message: expect.stringMatching(reason) as string,
      place: directory,
      next: expect.stringMatching(
        /download first\.bin, second\.bin yourself/,
      ) as string,
    });
    expect(named(directory)).toEqual([]);
  });

  it('is given up where another file comes in pieces', async () => {
    const other = bytesOf('other', 300_000);
    const pieces: Handler = (_request, response, _body, from) => {
      const range = `bytes ${from}-${other.length - 1}/${other.length}`;
      response.writeHead(from > 0 ? 206 : 200, { 'content-range': range });
      response.write(other.subarray(from, from + 150_000), () => response.destroy());
    };
    await using server = await FileServer.start(
      contents,
      ...Array.from({ length: 50 }, () => pieces),
    );
    await expect(fetchInto(directory, setAt(server.url))).rejects.toMatchObject({
      code: 'FETCH_FAILED',
    });
    expect(server.asked.length).toBeLessThan(50);
  });

  it('keeps its part if a page comes instead of the rest', async () => {
    const part = path.join(directory, 'first.bin.part');
    writeFileSync(part, contents.get('first.bin')!.subarray(0, 200_000));
    const login: Handler = (_request, response) => {
      response.writeHead(200, { 'content-type': 'text/html' });
      response.write('please ');
      response.end('log in');
    };
    await using server = await FileServer.start(contents, login);
    const set = setAt(server.url);
    await expect(fetchInto(directory, set)).rejects.toMatchObject({
      code: 'FETCH_FAILED',
    });
    expect(statSync(part).size).toBe(200_000);
    expect((await fetchInto(directory, set)).fetched).toBe(200_001);
    expectAllIn(directory);
  });

  it('starts over if there is no such range', async () => {
    writeFileSync(path.join(directory, 'first.bin.part'), bytesOf('other', 299_999));
    await using server = await FileServer.start(contents, (_request, response) => {
      response.writeHead(416).end();
    });
    await fetchInto(directory, setAt(server.url));
    expectAllIn(directory);
  });

  it('that is whole is found in a directory that cannot be written', async () => {
    await using server = await FileServer.start(contents);
    for (const [name, content] of contents) {
      writeFileSync(path.join(directory, name), content);
    }
    expect((await fetchInto(directory, setAt(server.url))).fetched).toBe(0);
    // Nothing was written, not even for a moment.
    expect(readdirSync(directory).toSorted()).toEqual(['first.bin', 'second.bin']);
  });

  it('does not touch a file that the user has put there', async () => {
    await using server = await FileServer.start(contents);
    const mine = path.join(directory, 'second.bin');
    writeFileSync(mine, 'mine');
    await expect(fetchInto(directory, setAt(server.url))).rejects.toMatchObject({
      code: 'DATA_FILE_DIFFERS',
      place: mine,
    });
    expect(readFileSync(mine, 'utf8')).toBe('mine');
    expect(server.asked).toEqual([]);
  });

  it('takes what was put there by hand', async () => {
    await using server = await FileServer.start(contents);
    writeFileSync(path.join(directory, 'first.bin'), contents.get('first.bin')!);
    const { fetched } = await fetchInto(directory, setAt(server.url));
    expect(fetched).toBe(100_001);
    expect(server.asked.map(({ name }) => name)).toEqual(['second.bin']);
  });

  it('is not fetched twice at once', async () => {
    const asked = Promise.withResolvers<ServerResponse>();
    await using server = await FileServer.start(contents, (_request, response) => {
      asked.resolve(response);
    });
    const set = setAt(server.url);
    const first = fetchInto(directory, set);
    const response = await asked.promise;
    await expect(fetchInto(directory, set)).rejects.toMatchObject({
      code: 'FETCH_UNDER_WAY',
    });
    response.end(contents.get('first.bin'));
    await first;
    expectAllIn(directory);
  });

  it('needs a directory that can be written', async () => {
    const file = path.join(directory, 'file');
    writeFileSync(file, '');
    const fetching = fetchSet(setAt('http://127.0.0.1:9/'), {
      directory: file,
      signal: new AbortController().signal,
      progress: () => undefined,
    });
    await expect(fetching).rejects.toMatchObject({ code: 'OUTPUT_NOT_WRITABLE' });
  });
});
