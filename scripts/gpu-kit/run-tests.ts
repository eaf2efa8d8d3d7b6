/**
 * One bundled test file without Vitest's runner. Prints a line of JSON for each test.
 *
 *   node run-tests.js FILE
 */
import { runCollected } from './collected-tests.ts';

/** All of tests/gpu but those that start runs of a checkout: the kit has runs of its own. */
const files: Readonly<Record<string, () => Promise<unknown>>> = {
  'device-kernels': () => import('../../tests/gpu/device-kernels.test.ts'),
  'device-methods': () => import('../../tests/gpu/device-methods.test.ts'),
  'device-quantizers': () => import('../../tests/gpu/device-quantizers.test.ts'),
  golden: () => import('../../tests/gpu/golden.test.ts'),
  'device-exchanges': () => import('../../tests/gpu/device-exchanges.test.ts'),
  'device-site': () => import('../../tests/gpu/device-site.test.ts'),
  'trainer-webgpu': () => import('../../tests/gpu/trainer-webgpu.test.ts'),
  'gpu-training': () => import('../../tests/gpu/gpu-training.test.ts'),
  'gpu-device': () => import('../../tests/gpu/gpu-device.test.ts'),
  'synthetic-gradient': () => import('../../tests/gpu/synthetic-gradient.test.ts'),
  'shared-device': () => import('../../tests/gpu/shared-device.test.ts'),
};
const name = process.argv[2] ?? '';
const file = files[name];
if (file === undefined) throw new Error(`no test file ${name}`);
await file();
await runCollected((outcome) => {
  console.log(JSON.stringify(outcome));
});
process.exit(0);
