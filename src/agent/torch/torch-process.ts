/**
 * The process that computes a rank's model with PyTorch: `python -m gradwire.compute`. It ends with
 * the rank, however that ends, and leaves nothing behind.
 */
import { awaitedElsewhere } from '../../shared/async/awaited-elsewhere.ts';
import type { GradwireError } from '../../shared/errors/errors.ts';
import { lastWords } from '../bridge/program-errors.ts';
import { PrivateSocket } from '../bridge/private-socket.ts';
import { ProgramProcess } from '../bridge/program-process.ts';
import type { ProgramExit } from '../bridge/program-run.ts';
import { pythonFolder } from '../bundle/python-folder.ts';
import type { RankOnMachine } from '../gpus/machine-gpus.ts';
import { chooseDevice } from './choose-device.ts';
import {
  COMPUTE_VERSION,
  torchDecoder,
  type ComputeRequest,
  type FromTorch,
  type OpenRequest,
  type ToTorch,
} from './messages.ts';
import { noPyTorch, processEnded, unexpectedMessage } from './torch-errors.ts';

export interface TorchProcessOptions {
  /** Python, by its path or by a name that the shell finds. */
  readonly python: string;
  readonly rank: number;
  /** Threads of an operation on the CPU. */
  readonly threads: number;
  readonly rankOnMachine: RankOnMachine;
}

type Hello = Extract<FromTorch, { type: 'hello' }>;

export class TorchProcess {
  readonly #options: TorchProcessOptions;
  readonly #process: ProgramProcess;
  #link: PrivateSocket<FromTorch, ToTorch> | undefined;
  #waiting: PromiseWithResolvers<FromTorch> | undefined;
  readonly #inbox: FromTorch[] = [];
  #lost: Error | undefined;
  /** Name of what computes: `NVIDIA H100, PyTorch 2.13.0`. */
  #device = '';

  private constructor(options: TorchProcessOptions, socket: string) {
    const { python, threads } = options;
    const folder = pythonFolder();
    this.#options = options;
    this.#process = new ProgramProcess({
      // Python looks for modules first where it is started: there is only our package.
      command: [python, '-m', 'gradwire.compute'],
      workdir: folder,
      // Python leaves ignored what it finds ignored: a batch system's warning does not end it.
      setup: ["trap '' USR1 USR2"],
      env: { ...process.env, OMP_NUM_THREADS: String(threads), PYTHONUNBUFFERED: '1' },
      bridge: socket,
    });
    this.#process.exit.then(
      (exit) => {
        this.#lose(this.#endedBy(exit));
      },
      (error: unknown) => {
        this.#lose(noPyTorch(this.#options, String(error)));
      },
    );
  }

  /**
   * Starts it. Resolves when PyTorch has its device.
   * @throws GradwireError `BACKEND_UNAVAILABLE`, `GPU_SHARED`
   */
  static async start(options: TorchProcessOptions): Promise<TorchProcess> {
    const socket = PrivateSocket.newPath();
    const started = new TorchProcess(options, socket);
    try {
      started.#link = await PrivateSocket.listen<FromTorch, ToTorch>(socket, {
        decoder: torchDecoder(options.rank),
        received: (message) => {
          started.#receive(message);
        },
        lost: (error) => {
          // The end of a process says more than that of its connection.
          if (error !== undefined) started.#lose(error);
        },
      });
      started.#process.begin();
      await started.#greet();
    } catch (error) {
      started.close();
      throw error;
    }
    return started;
  }

  get device(): string {
    return this.#device;
  }

  /** Lets it map the memory and build the model. */
  async open(request: OpenRequest): Promise<void> {
    this.#link?.send(request);
    await this.#expect('done');
  }

  /**
   * Computes; what it has computed is in shared memory when this resolves.
   * @param ready called as a gradient grows, for one that reports
   */
  async compute(
    request: ComputeRequest,
    ready?: (from: number) => void,
  ): Promise<void> {
    this.#link?.send(request);
    for (;;) {
      const message = await this.#next();
      if (message.type === 'done') return;
      if (message.type !== 'ready' || ready === undefined) {
        throw unexpectedMessage(message.type, this.#options.rank);
      }
      ready(message.from);
    }
  }

  close(): void {
    this.#lost ??= new Error('internal: PyTorch’s process is closed');
    this.#link?.close();
    this.#process.signal('SIGTERM');
  }

  async #greet(): Promise<void> {
    const { rankOnMachine, threads } = this.#options;
    const { gpus, torch } = this.#requireTorch(await this.#expect('hello'));
    const device = chooseDevice(gpus, rankOnMachine);
    this.#link?.send({ type: 'use', device, threads });
    const { name } = await this.#expect('using');
    this.#device = `${name}, PyTorch ${torch}`;
  }

  #requireTorch(hello: Hello): { readonly torch: string; readonly gpus: number } {
    const { gpus, python, torch, version, why = '' } = hello;
    if (version !== COMPUTE_VERSION) {
      throw unexpectedMessage(`hello of version ${version}`, this.#options.rank);
    }
    if (torch !== undefined) return { torch, gpus };
    throw noPyTorch(this.#options, `it is Python ${python}, and ${why}`);
  }

  #endedBy(exit: ProgramExit): GradwireError {
    const isConnected = this.#link?.isConnected === true;
    if (isConnected) return processEnded(exit, this.#options.rank);
    return noPyTorch(this.#options, lastWords(exit.stderr));
  }

  #receive(message: FromTorch): void {
    const waiting = this.#waiting;
    this.#waiting = undefined;
    if (waiting === undefined) this.#inbox.push(message);
    else waiting.resolve(message);
  }

  #next(): Promise<FromTorch> {
    const known = this.#inbox.shift();
    if (known !== undefined) return Promise.resolve(known);
    if (this.#lost !== undefined) return Promise.reject(this.#lost);
    this.#waiting = Promise.withResolvers();
    return this.#waiting.promise;
  }

  async #expect<T extends FromTorch['type']>(
    type: T,
  ): Promise<Extract<FromTorch, { type: T }>> {
    const message = await this.#next();
    if (message.type === type) return message as Extract<FromTorch, { type: T }>;
    throw unexpectedMessage(message.type, this.#options.rank);
  }

  #lose(error: unknown): void {
    if (this.#lost !== undefined) return;
    this.#lost = error instanceof Error ? error : new Error(String(error));
    this.#waiting?.promise.catch(awaitedElsewhere);
    this.#waiting?.reject(this.#lost);
  }
}
