/** Describes the computer on which results were measured. */
import { availableParallelism, cpus, loadavg, platform, release } from 'node:os';
import type { Result } from '../../reproduce/result.ts';

export function thisComputer(): Result['device'] {
  const processor = cpus()[0]?.model.replace(/\s+/g, ' ').trim();
  return {
    // Some systems do not say.
    processor: processor === undefined || processor === '' ? process.arch : processor,
    cores: availableParallelism(),
    // Windows has no such average: Node says 0.
    ...(platform() === 'win32' ? {} : { load: loadavg()[0]! }),
    system: `${platform()} ${release()}, Node ${process.versions.node}`,
  };
}
