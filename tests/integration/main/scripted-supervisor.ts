/**
 * The other end of the control protocol, played by a test: it answers as it is told, so
 * that a connection can break, repeat itself or lie at a chosen moment. Everything that
 * a real supervisor does is tested with a real one.
 */
import { rm } from 'node:fs/promises';
import net from 'node:net';
import { toErrorData } from '../../../src/shared/errors/errors.ts';
import { encodeFrame, FrameDecoder } from '../../../src/shared/protocol/frame.ts';
import {
  PROTOCOL_VERSION,
  type FromSupervisor,
  type RequestMessage,
  type RunStatus,
  type SupervisorHello,
} from '../../../src/shared/protocol/supervisor.ts';
import type { JournalEntry } from '../../../src/shared/records/journal-entry.ts';

export interface Script {
  readonly hello?: Partial<SupervisorHello>;
  /** What the supervisor knows, as `runs` answers it. */
  runs?: readonly RunStatus[];
  /** Answers a request; undefined leaves it without an answer. */
  answer?: (request: RequestMessage, client: ScriptedClient) => unknown;
}

export class ScriptedClient {
  readonly #socket: net.Socket;

  constructor(socket: net.Socket) {
    this.#socket = socket;
  }

  send(message: FromSupervisor): void {
    this.#socket.write(encodeFrame(message));
  }

  sendRaw(bytes: Uint8Array): void {
    this.#socket.write(bytes);
  }

  records(run: string, entries: readonly JournalEntry[]): void {
    this.send({ type: 'records', run, entries });
  }

  /** Breaks the connection, after what was sent has gone out. */
  drop(): void {
    this.#socket.end();
  }
}

export class ScriptedSupervisor {
  readonly requests: RequestMessage[] = [];
  readonly script: Script;
  readonly #server: net.Server;
  readonly #sockets = new Set<net.Socket>();
  readonly #path: string;

  private constructor(server: net.Server, path: string, script: Script) {
    this.#server = server;
    this.#path = path;
    this.script = script;
  }

  static async listen(path: string, script: Script): Promise<ScriptedSupervisor> {
    const server = net.createServer();
    const supervisor = new ScriptedSupervisor(server, path, script);
    server.on('connection', (socket) => {
      supervisor.#serve(socket);
    });
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject).listen(path, resolve);
    });
    return supervisor;
  }

  requested(method: RequestMessage['method']): RequestMessage[] {
    return this.requests.filter((request) => request.method === method);
  }

  async close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    await new Promise((resolve) => this.#server.close(resolve));
    await rm(this.#path, { force: true });
  }

  #serve(socket: net.Socket): void {
    this.#sockets.add(socket);
    socket.on('close', () => this.#sockets.delete(socket));
    socket.on('error', () => undefined); // the other side may break it, as tests do
    const client = new ScriptedClient(socket);
    const decoder = new FrameDecoder();
    client.send({
      type: 'hello',
      protocol: PROTOCOL_VERSION,
      version: 'scripted',
      pid: process.pid,
      host: 'here',
      cores: 1,
      catalogue: {
        methods: [],
        collectives: [],
        models: [],
        datasets: [],
        optimizers: [],
        backends: [],
      },
      ...this.script.hello,
    });
    socket.on('data', (chunk) => {
      for (const message of decoder.push(chunk)) {
        this.#answer(message as RequestMessage, client);
      }
    });
  }

  #answer(request: RequestMessage, client: ScriptedClient): void {
    this.requests.push(request);
    const { id } = request;
    try {
      const body =
        this.script.answer?.(request, client) ??
        (request.method === 'runs' ? { runs: this.script.runs ?? [] } : undefined) ??
        (request.method === 'acknowledge' ? {} : undefined);
      if (body !== undefined) client.send({ type: 'reply', id, body });
    } catch (error) {
      client.send({ type: 'error', id, error: toErrorData(error) });
    }
  }
}
