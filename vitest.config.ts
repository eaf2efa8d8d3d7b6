import { defineConfig } from 'vitest/config';

/**
 * unit: one process, no sockets. integration: real processes, sockets and files, run
 * from the built bundles. e2e: the app in a real Chromium. gpu: WebGPU, on SwiftShader
 * where there is no GPU. Files of the last three run one at a time: each of them starts
 * as many processes as the machine has cores.
 */
const serial = { fileParallelism: false, testTimeout: 60_000, hookTimeout: 60_000 };

export default defineConfig({
  test: {
    reporters: ['default'],
    projects: [
      {
        test: {
          name: 'unit',
          include: ['tests/unit/**/*.test.ts'],
          testTimeout: 20_000,
        },
      },
      {
        test: {
          name: 'integration',
          include: ['tests/integration/**/*.test.ts'],
          ...serial,
        },
      },
      { test: { name: 'e2e', include: ['tests/e2e/**/*.test.ts'], ...serial } },
      { test: { name: 'gpu', include: ['tests/gpu/**/*.test.ts'], ...serial } },
    ],
  },
});
