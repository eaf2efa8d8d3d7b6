/** Connects a rank's engine to its peers, and finds the memory of its gradient. */
import type { ToWorker } from '../../shared/protocol/worker.ts';
import type { Arena } from '../memory/arena.ts';
import { requireWindowSettings } from '../plan/window-settings.ts';
import { connectRequest, type Connecting } from './connect-request.ts';
import type { EngineClient } from './engine/engine-client.ts';
import type { EngineCalls } from './engine/engine-protocol.ts';

type Configuration = Extract<ToWorker, { type: 'configure' }>;

interface Connected extends Omit<EngineCalls['connect']['reply'], 'outside'> {
  /** The engine's input vector, in the arena or outside of it; undefined if that is on a GPU. */
  readonly onHost: Float32Array | undefined;
}

/** @throws GradwireError `MEMORY_TOO_SMALL`: only now is a program's size known */
export async function connectEngine(
  engine: EngineClient,
  arena: Arena,
  configuration: Configuration,
  connecting: Connecting,
): Promise<Connected> {
  const request = connectRequest(configuration, connecting);
  const { outside, ...reply } = await engine.call('connect', request);
  const { gradient } = reply;
  if (outside !== undefined) {
    const plans = [request.plan, ...request.switches.map((one) => one.plan)];
    requireWindowSettings(configuration.spec, plans, connecting.tensors);
  }
  return { ...reply, onHost: outside ?? (gradient && arena.f32(gradient)) };
}
