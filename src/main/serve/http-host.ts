/**
 * The server behind `gradwire serve`: the built renderer over HTTP and its RPC over a
 * WebSocket, on 127.0.0.1 only. Policy is in access.ts, files in renderer-files.ts; this
 * is the I/O between them.
 */
import {
  createServer,
  STATUS_CODES,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http';
import type { Duplex } from 'node:stream';
import { WebSocketServer } from 'ws';
import { failure, inputError, type GradwireError } from '../../shared/errors/errors.ts';
import { Sessions, type ServedCore } from '../rpc/session.ts';
import { ADMISSION_PAGE, ADMISSION_SCRIPT } from './admission-page.ts';
import {
  decideRequest,
  decideUpgrade,
  makeToken,
  type Access,
  type RequestFacts,
} from './access.ts';
import { Nonces } from './nonces.ts';
import { rendererFile } from '../web/renderer-files.ts';
import { securityHeaders } from '../web/security-headers.ts';
import { sendFile } from './send-file.ts';
import { socketChannel } from './socket-channel.ts';

const LOOPBACK = '127.0.0.1';

/** The longest call is a spec of a million characters, escaped. */
const MAX_MESSAGE_BYTES = 8 * 2 ** 20;

/** Most time for peers to end their side of a connection that this side has ended. */
const END_PATIENCE_MS = 1000;

export interface HttpHostOptions {
  readonly core: ServedCore;
  /** The built renderer's directory. */
  readonly renderer: string;
  /** 0: any free port. */
  readonly port: number;
  /** Default: a new one. */
  readonly token?: string | undefined;
}

export interface HttpHost {
  /** The server's URL with the access token. */
  readonly url: string;
  /** The server's URL without the token. */
  readonly origin: string;
  /** Ends every connection and the listener. */
  close(): Promise<void>;
}

/** @throws GradwireError `PORT_IN_USE`, `PORT_REFUSED` */
export async function startHttpHost(options: HttpHostOptions): Promise<HttpHost> {
  const server = createServer();
  const port = await listen(server, options.port);
  const nonces = new Nonces();
  const access: Access = { token: options.token ?? makeToken(), port, nonces };
  const sessions = new Sessions(options.core);
  const sockets = new WebSocketServer({
    noServer: true,
    clientTracking: false,
    maxPayload: MAX_MESSAGE_BYTES,
    // Records repeat their keys: the history of a run shrinks to an eighth, which counts
    // where the browser is at the other end of a tunnel.
    perMessageDeflate: true,
  });

  server.on('request', (request, response) => {
    void answer(request, response, { access, nonces, renderer: options.renderer });
  });
  /** Connections that the server no longer counts as its own. */
  const upgraded = new Set<Duplex>();
  server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    upgraded.add(socket);
    socket.once('close', () => upgraded.delete(socket));
    socket.on('error', () => socket.destroy());
    const decision = decideUpgrade(factsOf(request), access);
    if (decision.kind === 'refuse') return refuseUpgrade(socket, decision.status);
    sockets.handleUpgrade(request, socket, head, (webSocket) =>
      sessions.serve(socketChannel(webSocket)),
    );
  });
  // A request that is not HTTP needs no answer and must not affect other connections.
  server.on('clientError', (_error, socket) => socket.destroy());

  const origin = `http://${LOOPBACK}:${port}`;
  return {
    url: `${origin}/?token=${access.token}`,
    origin,
    close: async () => {
      const closed = new Promise((resolve) => server.close(resolve));
      sessions.close();
      server.closeAllConnections();
      const cut = setTimeout(() => {
        for (const socket of upgraded) socket.destroy();
      }, END_PATIENCE_MS);
      await closed;
      clearTimeout(cut);
    },
  };
}

async function listen(server: Server, port: number): Promise<number> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) =>
      reject(explainListen(error, port)),
    );
    server.listen({ host: LOOPBACK, port, exclusive: true }, resolve);
  });
  server.removeAllListeners('error');
  const address = server.address();
  if (address === null || typeof address === 'string') {
    throw new Error('internal: a TCP server without an address');
  }
  return address.port;
}

function explainListen(error: NodeJS.ErrnoException, port: number): GradwireError {
  const place = `${LOOPBACK}:${port}`;
  if (error.code === 'EADDRINUSE') {
    return inputError('PORT_IN_USE', `port ${port} is in use`, {
      place,
      next: 'Choose another with --port, or omit --port to get a free one.',
    });
  }
  if (error.code === 'EACCES') {
    return inputError(
      'PORT_REFUSED',
      `port ${port} is reserved for privileged processes`,
      {
        place,
        next: 'Choose a port above 1023, or omit --port to get a free one.',
      },
    );
  }
  return failure('PORT_REFUSED', `cannot listen: ${error.message}`, {
    place,
    next: 'Omit --port to get a free one.',
  });
}

function factsOf(request: IncomingMessage): RequestFacts {
  return {
    method: request.method ?? '',
    target: request.url ?? '',
    host: request.headers.host,
    origin: request.headers.origin,
  };
}

interface Answering {
  readonly access: Access;
  readonly nonces: Nonces;
  readonly renderer: string;
}

async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  { access, nonces, renderer }: Answering,
): Promise<void> {
  const decision = decideRequest(factsOf(request), access);
  // By now the Host header is one of ours, or the answer is a refusal without a page.
  const sockets = decision.kind === 'serve' ? [`ws://${request.headers.host}`] : [];
  const headers =
    decision.kind === 'admit'
      ? securityHeaders({ script: ADMISSION_SCRIPT })
      : securityHeaders({ sockets });
  for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);

  if (decision.kind === 'refuse') return refuse(response, decision.status);
  if (decision.kind === 'admit') return sendOnce(response, 'html', ADMISSION_PAGE);
  if (decision.kind === 'challenge') return sendOnce(response, 'plain', nonces.make());
  const file = rendererFile(decision.pathname);
  if (file === undefined) return refuse(response, 404);
  await sendFile(request, response, renderer, file, (status) =>
    refuse(response, status),
  );
}

function refuse(response: ServerResponse, status: number): void {
  const hint =
    status === 401
      ? 'Open the URL that Gradwire printed when it started: it contains the access token.'
      : (STATUS_CODES[status] ?? '');
  if (status === 405) response.setHeader('Allow', 'GET, HEAD');
  response.writeHead(status, {
    'Content-Type': 'text/plain; charset=utf-8',
    'Cache-Control': 'no-store',
  });
  response.end(`${hint}\n`);
}

/** Sends a text that is good once. */
function sendOnce(
  response: ServerResponse,
  type: 'html' | 'plain',
  text: string,
): void {
  response.writeHead(200, {
    'Content-Type': `text/${type}; charset=utf-8`,
    'Cache-Control': 'no-store',
  });
  response.end(text);
}

/** Waits for no peer, which may keep its side open for ever. */
function refuseUpgrade(socket: Duplex, status: number): void {
  const cut = setTimeout(() => socket.destroy(), END_PATIENCE_MS);
  socket.once('close', () => clearTimeout(cut));
  socket.end(
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`,
    () => socket.destroy(),
  );
}
