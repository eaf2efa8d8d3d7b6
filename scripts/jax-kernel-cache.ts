/**
 * Lets the bundled jax-js ask for a kernel's code before it generates it: a change of two
 * lines of the library (src/agent/training/runtime/kernel-cache.ts says why).
 */
import { createHash } from 'node:crypto';
import type { Plugin } from 'vite';

const BACKEND = /@jax-js\/jax\/dist\/backend-[^/]*\.js$/;
const GENERATION = 'const { bytes, ...metadata } = codegenWasm(kernel);';
/** Places for kernels that are wanted at once, and later. */
const PLACES = 2;

export function jaxKernelCache(): Plugin {
  return {
    name: 'jax-kernel-cache',
    transform: {
      filter: { id: BACKEND },
      handler(code) {
        const parts = code.split(GENERATION);
        if (parts.length !== PLACES + 1) {
          throw new Error(
            `jax-js generates kernels in ${parts.length - 1} places, not in ${PLACES}: ` +
              'see scripts/jax-kernel-cache.ts',
          );
        }
        const build = createHash('sha256').update(code).digest('hex').slice(0, 12);
        const name = '`${kernelHash}-${kernel.nargs}-${kernel.size}`';
        const asked = `globalThis.kernelCode?.('${build}', ${name}, generate) ?? generate()`;
        const replaced = parts.join(
          'const generate = () => codegenWasm(kernel); ' +
            `const { bytes, ...metadata } = ${asked};`,
        );
        // Lines stay where they are.
        return { code: replaced, map: null };
      },
    },
  };
}
