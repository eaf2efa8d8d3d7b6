/**
 * Public data sets fetched from real servers on loopback: servers that break off, ignore
 * ranges, send other files, fall silent or are not there.
 */
import { createHash } from 'node:crypto';
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
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import {
  createServer as createTcpServer,
  type AddressInfo,
  type Socket,
} from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import { pack } from 'tar-stream';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import {
  fetchSet,
  isComplete,
  publicSet,
  type FetchProgress,
} from '../../../src/main/data-sets/fetch-set.ts';
import {
  publicSets,
  type PublicFile,
  type PublicSet,
} from '../../../src/main/data-sets/public-sets.ts';

type Handler = (
  request: IncomingMessage,
  response: ServerResponse,
  body: Buffer,
  from: number,
) => void;

interface Asked {
  readonly name: string;
  readonly authorization: string | undefined;
  readonly range: string | undefined;
}

class FileServer implements AsyncDisposable {
  readonly asked: Asked[] = [];
  readonly #files: ReadonlyMap<string, Buffer>;
  readonly #server = createServer((request, response) => {
    this.#answer(request, response);
  });
  /** What it does instead of serving, request by request; then it serves. */
  readonly #oddities: Handler[];
  #last: Socket | undefined;

  private constructor(
    files: ReadonlyMap<string, Buffer>,
    oddities: readonly Handler[],
  ) {
    this.#files = files;
    this.#oddities = [...oddities];
  }

  static async start(
    files: ReadonlyMap<string, Buffer>,
    ...oddities: readonly Handler[]
  ): Promise<FileServer> {
    const server = new FileServer(files, oddities);
    server.#server.listen(0, '127.0.0.1');
    await once(server.#server, 'listening');
    return server;
  }

  /** The connection of the last answer breaks. */
  cut(): void {
    this.#last?.destroy();
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/sets/`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, 'close');
  }

  #answer(request: IncomingMessage, response: ServerResponse): void {
    const name = path.posix.basename(request.url ?? '');
    const { authorization, range } = request.headers;
    this.#last = response.socket ?? undefined;
    this.asked.push({ name, authorization, range });
    const body = this.#files.get(name);
    if (body === undefined) {
      response.writeHead(404).end('no such file');
      return;
    }
    const from = Number(/^bytes=(\d+)-$/.exec(range ?? '')?.[1] ?? 0);
    (this.#oddities.shift() ?? serve)(request, response, body, from);
  }
}

const serve: Handler = (_request, response, body, from) => {
  if (from > 0) {
    response.writeHead(206, {
      'content-range': `bytes ${from}-${body.length - 1}/${body.length}`,
    });
  } else {
    response.writeHead(200, { 'content-length': body.length });
  }
  response.end(body.subarray(from));
};

/** So many bytes of an answer that promises all of them; `cut` ends it. */
const stopAfter =
  (bytes: number): Handler =>
  (_request, response, body, from) => {
    const range = {
      'content-range': `bytes ${from}-${body.length - 1}/${body.length}`,
    };
    response.writeHead(from > 0 ? 206 : 200, {
      'content-length': body.length - from,
      ...(from > 0 ? range : {}),
    });
    response.write(body.subarray(from, from + bytes));
  };

/** Without saying how long it is. */
function chunked(response: ServerResponse, ...pieces: readonly Buffer[]): void {
  for (const piece of pieces) response.write(piece);
  response.end();
}

const ignoreRange: Handler = (_request, response, body) => {
  response.writeHead(200).end(body);
};

/** Bytes that nothing compresses and no two files share. */
function bytesOf(seed: string, length: number): Buffer {
  const pieces: Buffer[] = [];
  for (let i = 0; i * 32 < length; i++) {
    pieces.push(createHash('sha256').update(`${seed} ${i}`).digest());
  }
  return Buffer.concat(pieces).subarray(0, length);
}

const described = (name: string, content: Buffer): PublicFile => ({
  name,
  bytes: content.length,
  sha256: createHash('sha256').update(content).digest('hex'),
});

const contents = new Map([
  ['first.bin', bytesOf('first', 300_000)],
  ['second.bin', bytesOf('second', 100_001)],
]);
const setAt = (...mirrors: readonly string[]): PublicSet => ({
  id: 'numbers',
  title: 'Numbers',
  source: 'made here',
  workload: { dataset: 'mnist', model: 'fnn3' },
  mirrors,
  files: [...contents].map(([name, content]) => described(name, content)),
});

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(path.join(os.tmpdir(), 'gradwire-data-'));
});
afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(directory, { recursive: true, force: true });
});

async function fetchIt(
  set: PublicSet,
  more: {
    signal?: AbortSignal;
    silenceMs?: number;
    seen?: (progress: FetchProgress) => void;
  } = {},
): Promise<{ fetched: number; data: string; progress: readonly FetchProgress[] }> {
  const progress: FetchProgress[] = [];
  const { signal = new AbortController().signal, seen, ...rest } = more;
  const result = await fetchSet(set, {
    directory,
    signal,
    ...rest,
    progress: (one) => {
      progress.push(one);
      seen?.(one);
    },
  });
  return { ...result, progress };
}

function expectAllThere(): void {
  for (const [name, content] of contents) {
    expect(readFileSync(path.join(directory, name)).equals(content), name).toBe(true);
  }
  expect(readdirSync(directory).filter((name) => name.endsWith('.part'))).toEqual([]);
}

/** The data files that have their names. */
const named = (): readonly string[] =>
  readdirSync(directory).filter((name) => name.endsWith('.bin'));

describe('a public data set', () => {
  it('is fetched file by file, with its progress in bytes', async () => {
    await using server = await FileServer.start(contents);
    const set = setAt(server.url);
    expect(await isComplete(set, directory)).toBe(false);
    const { data, fetched, progress } = await fetchIt(set);
    expectAllThere();
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
    expect((await fetchIt(set)).fetched).toBe(0);
    expect(server.asked).toHaveLength(2);
  });

  it('is fetched with the user and the password of a mirror, which nothing names', async () => {
    await using server = await FileServer.start(new Map([...contents].slice(0, 1)));
    const mirror = server.url.replace('//', '//me%40home:p%3A%C3%A4ss%@');
    const error: unknown = await fetchIt(setAt(mirror)).catch(
      (cause: unknown) => cause,
    );
    expect(server.asked.map(({ authorization }) => authorization)).toEqual(
      Array(2).fill(`Basic ${Buffer.from('me@home:p:äss%').toString('base64')}`),
    );
    expect(named()).toEqual(['first.bin']);
    expect(error).toMatchObject({
      code: 'FETCH_FAILED',
      message: `cannot fetch second.bin: ${server.url}second.bin: HTTP 404 Not Found`,
    });
  });

  it('is not fetched from what is no URL, which nothing names either', async () => {
    vi.stubEnv('GRADWIRE_DATA_MIRROR', 'ftp://me:secret@mirror.example/');
    const error: unknown = await fetchIt(setAt()).catch((cause: unknown) => cause);
    expect(error).toMatchObject({ code: 'MIRROR_INVALID' });
    expect(JSON.stringify([error, String(error)])).not.toContain('secret');
  });

  it('is gone on with where a connection broke', async () => {
    await using server = await FileServer.start(
      contents,
      stopAfter(120_000),
      stopAfter(50_000),
    );
    await fetchIt(setAt(server.url), {
      seen: ({ done }) => {
        if (done === 120_000 || done === 170_000) server.cut();
      },
    });
    expectAllThere();
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
    expect(named()).toEqual([]);
    expect(statSync(path.join(directory, 'first.bin.part')).size).toBe(90_000);
    await fetchIt(set);
    expectAllThere();
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
      await fetchIt(set);
    } finally {
      server.close();
      await once(server, 'close');
    }
    expect(named().toSorted()).toEqual(names.toSorted());
  });

  it('starts over if a server does not support ranges', async () => {
    await using server = await FileServer.start(
      contents,
      stopAfter(120_000),
      ignoreRange,
    );
    await fetchIt(setAt(server.url), {
      seen: ({ done }) => {
        if (done === 120_000 && server.asked.length === 1) server.cut();
      },
    });
    expectAllThere();
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
    await fetchIt(setAt(absent, wrong.url, right.url));
    expectAllThere();
    expect(wrong.asked).toHaveLength(2);
  });

  it('forgets what was there of another file', async () => {
    await using server = await FileServer.start(contents);
    writeFileSync(path.join(directory, 'first.bin.part'), bytesOf('other', 1000));
    // Longer than the file, too.
    writeFileSync(path.join(directory, 'second.bin.part'), bytesOf('other', 200_000));
    await fetchIt(setAt(server.url));
    expectAllThere();
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
    await expect(fetchIt(setAt(server.url))).rejects.toMatchObject({
      code: 'FETCH_FAILED',
      message: expect.stringMatching(/first\.bin: .*SHA-256 differs/) as string,
    });
    expect(named()).toEqual([]);
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
    await expect(fetchIt(setAt(server.url), { silenceMs })).rejects.toMatchObject({
      code: 'FETCH_FAILED',
      message: expect.stringMatching(reason) as string,
      place: directory,
      next: expect.stringMatching(
        /download first\.bin, second\.bin yourself/,
      ) as string,
    });
    expect(named()).toEqual([]);
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
    await expect(fetchIt(setAt(server.url))).rejects.toMatchObject({
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
    await expect(fetchIt(set)).rejects.toMatchObject({ code: 'FETCH_FAILED' });
    expect(statSync(part).size).toBe(200_000);
    expect((await fetchIt(set)).fetched).toBe(200_001);
    expectAllThere();
  });

  it('starts over if there is no such range', async () => {
    writeFileSync(path.join(directory, 'first.bin.part'), bytesOf('other', 299_999));
    await using server = await FileServer.start(contents, (_request, response) => {
      response.writeHead(416).end();
    });
    await fetchIt(setAt(server.url));
    expectAllThere();
  });

  it('that is whole is found in a directory that cannot be written', async () => {
    await using server = await FileServer.start(contents);
    for (const [name, content] of contents) {
      writeFileSync(path.join(directory, name), content);
    }
    expect((await fetchIt(setAt(server.url))).fetched).toBe(0);
    // Nothing was written, not even for a moment.
    expect(readdirSync(directory).toSorted()).toEqual(['first.bin', 'second.bin']);
  });

  it('does not touch a file that the user has put there', async () => {
    await using server = await FileServer.start(contents);
    const mine = path.join(directory, 'second.bin');
    writeFileSync(mine, 'mine');
    await expect(fetchIt(setAt(server.url))).rejects.toMatchObject({
      code: 'DATA_FILE_DIFFERS',
      place: mine,
    });
    expect(readFileSync(mine, 'utf8')).toBe('mine');
    expect(server.asked).toEqual([]);
  });

  it('takes what was put there by hand', async () => {
    await using server = await FileServer.start(contents);
    writeFileSync(path.join(directory, 'first.bin'), contents.get('first.bin')!);
    const { fetched } = await fetchIt(setAt(server.url));
    expect(fetched).toBe(100_001);
    expect(server.asked.map(({ name }) => name)).toEqual(['second.bin']);
  });

  it('is not fetched twice at once', async () => {
    const asked = Promise.withResolvers<ServerResponse>();
    await using server = await FileServer.start(contents, (_request, response) => {
      asked.resolve(response);
    });
    const set = setAt(server.url);
    const first = fetchIt(set);
    const response = await asked.promise;
    await expect(fetchIt(set)).rejects.toMatchObject({ code: 'FETCH_UNDER_WAY' });
    response.end(contents.get('first.bin'));
    await first;
    expectAllThere();
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

describe('an archive', () => {
  async function archiveOf(files: ReadonlyMap<string, Buffer>): Promise<Buffer> {
    const archive = pack();
    for (const [name, content] of files) archive.entry({ name }, content);
    archive.finalize();
    const pieces: Buffer[] = [];
    for await (const piece of archive) pieces.push(piece as Buffer);
    return gzipSync(Buffer.concat(pieces));
  }
  const within = new Map([
    ['../evil.bin', Buffer.from('evil')],
    ['inner/readme.html', Buffer.from('hello')],
    ['./inner/first.bin', contents.get('first.bin')!],
    ['inner/second.bin', contents.get('second.bin')!],
  ]);
  async function packed(files: ReadonlyMap<string, Buffer>) {
    const content = await archiveOf(files);
    const server = await FileServer.start(new Map([['all.tgz', content]]));
    const archive = { ...described('all.tgz', content), folder: 'inner' };
    return { content, server, set: { ...setAt(server.url), archive } };
  }

  it('gives its files, and goes', async () => {
    const { set, ...packing } = await packed(within);
    await using server = packing.server;
    await fetchIt(set);
    expectAllThere();
    expect(named().toSorted()).toEqual(['first.bin', 'second.bin']);
    expect(existsSync(path.join(directory, '..', 'evil.bin'))).toBe(false);
    expect(existsSync(path.join(directory, 'all.tgz'))).toBe(false);
    expect((await fetchIt(set)).fetched).toBe(0);
    expect(server.asked).toHaveLength(1);
  });

  it('gives the reason if it is stopped while unpacking', async () => {
    const { content, set, ...packing } = await packed(within);
    await using server = packing.server;
    writeFileSync(path.join(directory, 'all.tgz'), content);
    const fetching = fetchIt(set, { signal: AbortSignal.abort(new Error('enough')) });
    await expect(fetching).rejects.toThrow('enough');
    expect(server.asked).toEqual([]);
  });

  it('may be put there by hand', async () => {
    const { content, set, ...packing } = await packed(within);
    await using server = packing.server;
    writeFileSync(path.join(directory, 'all.tgz'), content);
    expect((await fetchIt(set)).fetched).toBe(0);
    expectAllThere();
    expect(server.asked).toEqual([]);
  });

  it('is refused where a file in it is wrong', async () => {
    const { set, ...packing } = await packed(
      new Map([...within, ['inner/second.bin', Buffer.from('other')]]),
    );
    await using server = packing.server;
    await expect(fetchIt(set)).rejects.toMatchObject({
      code: 'FETCH_FAILED',
      message: 'all.tgz does not contain the expected second.bin',
    });
    expect(named()).toEqual(['first.bin']);
    expect(server.asked).toHaveLength(1);
  });
});

describe('the list of public data sets', () => {
  it('names each once, with distinct files', () => {
    const ids = publicSets.map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
    for (const set of publicSets) {
      expect(publicSet(set.id)).toBe(set);
      for (const mirror of set.mirrors) expect(mirror).toMatch(/^https?:\/\/.*\/$/);
      for (const { sha256 } of set.files) expect(sha256).toMatch(/^[0-9a-f]{64}$/);
      const sums = set.files.map(({ sha256 }) => sha256);
      expect(new Set(sums).size).toBe(sums.length);
    }
  });

  it('reports an unknown name', () => {
    expect(() => publicSet('minst')).toThrow(
      expect.objectContaining({
        code: 'DATA_SET_UNKNOWN',
        next: expect.stringContaining('mnist') as string,
      }),
    );
  });
});
