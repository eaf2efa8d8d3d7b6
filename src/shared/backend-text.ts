/** What the ranks of a run compute on, and why. */
import type { StartedRecord } from './records.ts';

/** `webgpu (NVIDIA H200)`, `wasm (this machine has no GPU)`, `wasm`. */
export function backendText({
  backend,
  why,
  processes,
}: Pick<StartedRecord, 'backend' | 'why' | 'processes'>): string {
  const devices = new Set(processes.map(({ device }) => device ?? ''));
  devices.delete('');
  const because = why ?? (backend === 'wasm' ? '' : [...devices].join(', '));
  return because === '' ? backend : `${backend} (${because})`;
}
