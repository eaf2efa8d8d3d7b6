/** The adapter that a rank gets, as one JSON object. Exit code 3: WebGPU has none here. */
import { findRankAdapter } from '../../src/agent/kernels/webgpu/dawn.ts';

const software = process.argv.includes('--software');
const position = { place: 0, ranks: 1, share: true };
const found = await findRankAdapter(software, position);
if (typeof found === 'string' || 'taken' in found) {
  const why = typeof found === 'string' ? found : 'other processes use every GPU';
  process.stderr.write(`${why}\n`);
  process.exit(3);
}
const { adapter, name, bus, gpus } = found;
const { vendor, architecture, device, description } = adapter.info;
/** Limits are getters of a prototype. */
const limits = Object.fromEntries(
  Object.keys(Object.getOwnPropertyDescriptors(Object.getPrototypeOf(adapter.limits)))
    .map((key) => [key, (adapter.limits as unknown as Record<string, unknown>)[key]])
    .filter(([, value]) => typeof value === 'number'),
);
const seen = {
  name, bus, gpus, software: found.software,
  info: { vendor, architecture, device, description },
  limits, features: [...adapter.features].sort(),
};
console.log(JSON.stringify(seen));
process.exit(0);
