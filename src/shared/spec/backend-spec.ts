/** Keys of the backend, which computes the gradients. */
import { z } from 'zod';
import '../checks/spec-key.ts';
import { isPrintable, PRINTABLE_RULE } from '../words/printable.ts';

export const backendKeys = {
  backend: z
    .enum(['auto', 'wasm', 'webgpu', 'torch'])
    .default('auto')
    .describe(
      'What computes; torch: PyTorch, in a process beside each rank; auto: webgpu where each rank has a GPU, else wasm',
    )
    .meta({ title: 'Backend', section: 'World' }),
  python: z
    .string()
    .min(1)
    .max(4096)
    .refine(isPrintable, PRINTABLE_RULE)
    .optional()
    .describe(
      'Python that has PyTorch, for backend: torch, such as venv/bin/python; default: python3',
    )
    .meta({
      title: 'Python',
      section: 'World',
      needs: [
        {
          key: 'backend',
          is: 'torch',
          code: 'TORCH_MISFIT',
          because: 'nothing uses python without backend: torch',
          next: 'Set backend: torch, or remove python.',
        },
      ],
    }),
};
