/** Codes, with what each means and the next step: GPUs. */
import { codeGroup } from './code-group.ts';

export const gpuCodes = codeGroup({
  title: 'GPUs',
  about: 'Computing on WebGPU.',
  codes: {
    GPU_LOST: {
      means: 'The GPU stopped working for this process.',
      next: 'Look for driver errors in the system log, or use backend: wasm.',
    },
    GPU_MEMORY: {
      means: 'The GPU has no memory left, or none for a buffer.',
      next: 'Lower workload.batchPerRank, use smaller buckets, or backend: wasm.',
    },
    GPU_SHARED: {
      means:
        'Several ranks would share a GPU, or a GPU that was asked for is not there.',
      next: 'Use as many ranks as GPUs, or follow the message.',
    },
  },
});
