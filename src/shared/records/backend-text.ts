/** Text about what the ranks of a run compute on, and why. */
import type { StartedRecord } from './started.ts';

/**
 * `webgpu (NVIDIA H200)`, `webgpu (2 × NVIDIA H200)` where ranks have several, `wasm (the
 * machine has no GPU)`, `wasm`.
 */
export function backendText({
  backend,
  why,
  processes,
}: Pick<StartedRecord, 'backend' | 'why' | 'processes'>): string {
  const because = why ?? (backend === 'wasm' ? '' : devicesText(processes));
  return because === '' ? backend : `${backend} (${because})`;
}

function devicesText(processes: StartedRecord['processes']): string {
  const places = new Map<string, Set<string>>();
  for (const { device, node, bus } of processes) {
    if (device === undefined) continue;
    const known = places.get(device) ?? new Set();
    places.set(device, known.add(bus === undefined ? '' : `${node} ${bus}`));
  }
  return [...places]
    .map(([device, { size }]) => (size === 1 ? device : `${size} × ${device}`))
    .join(', ');
}
