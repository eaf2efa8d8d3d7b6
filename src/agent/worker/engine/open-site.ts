/** Opens the site of a rank's gradient: on a GPU, in the arena, or outside of it where it has no room. */
import type { Kernels } from '../../kernels/kernels.ts';
import { ARENA_BYTES, type Arena, type Vector } from '../../memory/arena.ts';
import { outsideVector } from '../../memory/outside-memory.ts';
import { PAGE_BYTES } from '../../memory/page-bytes.ts';
import { requireWindowRoom } from '../../plan/window-settings.ts';
import { neededWindows } from '../../plan/windows.ts';
import type { PhaseClock } from '../../profile/phase-clock.ts';
import { ArenaSite } from '../../sites/arena-site.ts';
import { DeviceSite } from '../../sites/device-site.ts';
import type { GpuGradient } from '../../sites/gpu-gradient.ts';
import type { GradientSite } from '../../sites/gradient-site.ts';
import { WindowSite } from '../../sites/window-site.ts';
import type { EngineCalls } from './engine-protocol.ts';

interface SiteSetting {
  readonly arena: Arena;
  readonly kernels: Kernels;
  readonly clock: PhaseClock;
  /** The gradient on the GPU of a trainer on this thread, if any. */
  readonly onGpu: GpuGradient | undefined;
  /** Elements of the gradient. */
  readonly length: number;
}

export interface OpenedSite {
  readonly site: GradientSite;
  /** The gradient's position, if it is in the arena. */
  readonly gradient?: Vector | undefined;
  /** The gradient, if it is outside of the arena. */
  readonly outside?: Float32Array<SharedArrayBuffer> | undefined;
}

/** @throws GradwireError `MEMORY_TOO_SMALL` */
export function openSite(
  { length, onGpu, ...shared }: SiteSetting,
  request: EngineCalls['connect']['request'],
): OpenedSite {
  if (onGpu !== undefined) {
    return { site: new DeviceSite({ ...shared, gradient: onGpu }) };
  }
  const { addresses, arenaBytes = ARENA_BYTES, group, ownPages, plan } = request;
  const plans = [plan, ...request.switches.map((one) => one.plan)];
  const setting = { arenaBytes, ranks: (group ?? addresses).length };
  const { mayUseWindows = false, tensors } = request;
  if (mayUseWindows) requireWindowRoom(tensors, plans, setting);
  if (mayUseWindows && neededWindows(tensors, plans, setting) !== undefined) {
    const outside = outsideVector(length);
    const site = new WindowSite({ ...shared, ...setting, gradient: outside });
    return { site, outside };
  }
  const offset = offsetFor(shared.arena, length, ownPages);
  const gradient = { offset, length };
  return { site: new ArenaSite({ ...shared, gradient }), gradient };
}

/** @param ownPages whether the vector has whole pages, in which nothing else is allocated */
export function offsetFor(arena: Arena, length: number, ownPages = false): number {
  if (!ownPages) return arena.allocateVector(length).offset;
  const pages = Math.max(1, Math.ceil((4 * length) / PAGE_BYTES));
  const { offset } = arena.allocate((pages + 1) * PAGE_BYTES);
  return Math.ceil(offset / PAGE_BYTES) * PAGE_BYTES;
}
