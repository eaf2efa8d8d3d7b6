/**
 * Where the engine runs. On its own thread, communication continues while the trainer
 * computes. On the trainer's thread, nothing has to be handed over: if a node has fewer
 * than two cores per rank, a woken thread waits for a time slice behind some rank's
 * computing, several milliseconds in an iteration of ten
 * (docs/decisions/004-one-thread-on-crowded-nodes.md). A GPU's queue belongs to one
 * thread, so an engine that works on the trainer's GPU runs on the trainer's thread as
 * well (docs/decisions/013-gradients-stay-on-the-gpu.md).
 */
import { Worker } from 'node:worker_threads';
import { failure } from '../../../shared/errors.ts';
import type { GpuGradient } from '../../sites/gpu-gradient.ts';
import { EngineHost } from './engine-host.ts';
import type { FromEngine, ToEngine } from './engine-protocol.ts';

export interface EngineLink {
  post(message: ToEngine): void;
  /** Called when the engine has closed its sockets: ends its thread. */
  end(): Promise<void>;
}

export interface EngineLinkEvents {
  message(message: FromEngine): void;
  lost(error: Error): void;
}

export type OpenEngineLink = (events: EngineLinkEvents) => EngineLink;

/** @param file the engine thread's entry: a bundle, or the TypeScript source */
export function threadLink(file: string | URL): OpenEngineLink {
  return (events) => {
    const thread = new Worker(file);
    thread.on('message', (message: FromEngine) => {
      events.message(message);
    });
    thread.on('error', (error) => {
      events.lost(error);
    });
    thread.on('exit', () => {
      events.lost(failure('ENGINE_LOST', 'the engine thread ended'));
    });
    return {
      post: (message) => {
        thread.postMessage(message);
      },
      end: async () => {
        await thread.terminate();
      },
    };
  };
}

/**
 * For an engine on the trainer's thread: the gradient on its GPU, requested when the
 * engine connects; undefined leaves it in the arena.
 */
export function gpuLink(gradient: () => GpuGradient | undefined): OpenEngineLink {
  return (events) => {
    const host = new EngineHost((message) => {
      events.message(message);
    }, gradient);
    return {
      post: (message) => {
        host.handle(message);
      },
      end: () => Promise.resolve(),
    };
  };
}
