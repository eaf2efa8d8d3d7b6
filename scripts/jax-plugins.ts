/** Changes to jax-js in our bundles, and in the tests of our sources. */
import type { Plugin } from 'vite';
import { jaxFunctions } from './jax-functions.ts';
import { jaxKernels } from './jax-kernels.ts';
import { jaxMemory } from './jax-memory.ts';
import { jaxPrograms } from './jax-programs.ts';
import { jaxReads } from './jax-reads.ts';

export const jaxPlugins = (): Plugin[] => [
  jaxFunctions(),
  jaxKernels(),
  jaxMemory(),
  jaxPrograms(),
  jaxReads(),
];
