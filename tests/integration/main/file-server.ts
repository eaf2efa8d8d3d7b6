/** A web server on loopback with files, which may break off, ignore ranges or answer otherwise. */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import path from 'node:path';

export type Handler = (
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

export class FileServer implements AsyncDisposable {
  readonly asked: Asked[] = [];
  readonly #files: ReadonlyMap<string, Buffer>;
  readonly #server = createServer((request, response) => {
    this.#answer(request, response);
  });
  /** Acts in place of serving, one for each request; then it serves. */
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
export const stopAfter =
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
export function chunked(response: ServerResponse, ...pieces: readonly Buffer[]): void {
  for (const piece of pieces) response.write(piece);
  response.end();
}

export const ignoreRange: Handler = (_request, response, body) => {
  response.writeHead(200).end(body);
};
