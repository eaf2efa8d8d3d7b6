/**
 * A world of somebody else's ranks (bench/peers), kept alive from cell to cell so that
 * theirs and ours can alternate. Its ranks come to a Unix socket, say which they are, and
 * sleep there between orders: one that waits inside its library would take a core from
 * what is measured next. Unix sockets reach across network namespaces.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { rmSync } from 'node:fs';
import { createServer, type Server, type Socket } from 'node:net';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { temporaryDirectory } from '../../src/disk/temporary-directory.ts';
import { failure } from '../../src/shared/errors/errors.ts';
import type { VectorShape } from './contest.ts';
import type { Links } from './links.ts';

export interface Peer {
  readonly name: PeerName;
  /** Tasks that it can do with vectors of this shape. */
  tasks(shape: VectorShape): readonly PeerTask[];
  /** The reason why it cannot be had here, or undefined. */
  missing(): Promise<string | undefined>;
  /** The commands that make its ranks, given the socket and a folder of their own. */
  commands(world: PeerPlace): Promise<readonly (readonly string[])[]>;
}

type PeerName = 'openmpi' | 'openmpi, sparse' | 'gloo';

export interface PeerTask {
  /** Our collective with the same algorithm; undefined: the library's choice, on dense vectors. */
  readonly collective?: string | undefined;
  /** The line that orders it. */
  order(cell: PeerCell): string;
}

export interface PeerPlace {
  readonly ranks: number;
  readonly links: Links;
  readonly socket: string;
  readonly folder: string;
}

export interface PeerCell {
  readonly shape: VectorShape;
  readonly dataSet: number;
  readonly repetitions: number;
  readonly batch: number;
}

/** An allreduce of dense vectors, as long as the shape is. */
export const DENSE_TASK: PeerTask = {
  order: ({ shape, batch, repetitions }) =>
    `${4 * shape.length} ${batch} ${repetitions}`,
};

/** Imports of PyTorch by many processes on few cores take their time. */
const START_MS = 120_000;
/** Time for one answer: the longest cell on the slowest links fits. */
const ANSWER_MS = 300_000;
const OUTPUT_TAIL = 2048;

export class PeerWorld implements AsyncDisposable {
  readonly peer: Peer;
  readonly #folder = temporaryDirectory('gradwire-peer-');
  readonly #server: Server;
  readonly #failure = Promise.withResolvers<never>();
  readonly #present = Promise.withResolvers<undefined>();
  readonly #ranks: Socket[] = [];
  readonly #children: ChildProcess[] = [];
  readonly #waiting: ((line: string) => void)[] = [];
  readonly #onExit = (): void => {
    this.#kill();
    rmSync(this.#folder, { recursive: true, force: true });
  };
  #version = '';
  #output = '';
  #closing = false;

  /** @throws GradwireError `BENCH_PEER_FAILED` */
  static async start(peer: Peer, ranks: number, links: Links): Promise<PeerWorld> {
    const world = new PeerWorld(peer, ranks);
    try {
      await world.#start(peer, ranks, links);
      return world;
    } catch (error) {
      await world[Symbol.asyncDispose]();
      throw error;
    }
  }

  private constructor(peer: Peer, ranks: number) {
    this.peer = peer;
    this.#failure.promise.catch(() => undefined);
    this.#server = createServer((socket) => {
      this.#welcome(socket, ranks);
    });
    process.on('exit', this.#onExit);
  }

  /** The version that its ranks report. */
  get version(): string {
    return this.#version;
  }

  /**
   * Milliseconds of one allreduce by repetition, the slowest rank's.
   * @throws GradwireError `BENCH_PEER_FAILED`
   */
  async measure(task: PeerTask, cell: PeerCell): Promise<readonly number[]> {
    const order = task.order(cell);
    const answers = this.#ranks.map((socket, rank) => {
      const { promise, resolve } = Promise.withResolvers<string>();
      this.#waiting[rank] = resolve;
      socket.write(`${order}\n`);
      return promise;
    });
    const lines = await this.#within(Promise.all(answers), ANSWER_MS);
    const results = lines.map((line) => line.split(' ').map(Number));
    const wrong = results.reduce((sum, [errors]) => sum + errors!, 0);
    if (wrong !== 0) throw this.#failed(`got ${wrong} entries wrong`);
    return Array.from({ length: cell.repetitions }, (_, repetition) =>
      Math.max(...results.map((result) => result[repetition + 1]!)),
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closing = true;
    for (const socket of this.#ranks) socket.end();
    if (this.#ranks.length === 0) this.#kill();
    await Promise.all(
      this.#children.map(
        (child) =>
          new Promise<void>((resolve) => {
            if (child.exitCode !== null || child.signalCode !== null) resolve();
            else child.once('close', () => resolve());
          }),
      ),
    );
    this.#server.close();
    rmSync(this.#folder, { recursive: true, force: true });
    process.off('exit', this.#onExit);
  }

  async #start(peer: Peer, ranks: number, links: Links): Promise<void> {
    const socket = path.join(this.#folder, 'bench.sock');
    await new Promise<void>((resolve) => this.#server.listen(socket, resolve));
    const folder = this.#folder;
    for (const [command, ...args] of await peer.commands({
      ranks,
      links,
      socket,
      folder,
    })) {
      this.#spawn(command!, args);
    }
    await this.#within(this.#present.promise, START_MS);
  }

  #spawn(command: string, args: readonly string[]): void {
    const child = spawn(command, args, {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...process.env, OMP_NUM_THREADS: '1', MKL_NUM_THREADS: '1' },
    });
    this.#children.push(child);
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (text: string) => {
        this.#output = (this.#output + text).slice(-OUTPUT_TAIL);
      });
    }
    child.on('error', (error) => {
      this.#fail(`did not start: ${error.message}`);
    });
    child.on('close', (code) => {
      this.#fail(`ended with code ${code}`);
    });
  }

  #welcome(socket: Socket, ranks: number): void {
    let rank: number | undefined;
    socket.on('error', (error) => {
      this.#fail(`lost a rank: ${error.message}`);
    });
    createInterface({ input: socket }).on('line', (line) => {
      if (rank !== undefined) {
        this.#waiting[rank]?.(line);
        return;
      }
      const [, number, version] = /^rank (\d+) (.*)$/.exec(line) ?? [];
      rank = Number(number);
      this.#version = version!;
      this.#ranks[rank] = socket;
      if (Object.keys(this.#ranks).length === ranks) this.#present.resolve(undefined);
    });
  }

  async #within<T>(answer: Promise<T>, limit: number): Promise<T> {
    const timer = setTimeout(() => {
      this.#fail(`was silent for ${limit / 1000} s`);
    }, limit);
    try {
      return await Promise.race([answer, this.#failure.promise]);
    } finally {
      clearTimeout(timer);
    }
  }

  #fail(how: string): void {
    if (!this.#closing) this.#failure.reject(this.#failed(how));
  }

  #failed(how: string): Error {
    const said = this.#output.trim();
    return failure('BENCH_PEER_FAILED', `${this.peer.name} ${how}`, {
      next: said === '' ? 'Leave out --peers.' : `It said: ${said}`,
    });
  }

  /** Asked and not forced: mpirun then ends its ranks. */
  #kill(): void {
    for (const child of this.#children) child.kill('SIGTERM');
  }
}
