/**
 * Loads jax-js as our bundles have it (scripts/jax-kernels.ts, scripts/jax-programs.ts), in
 * a process that runs from the sources. To be imported first: `node --import`.
 *
 * While the library traces, `kernelRan` of the global object is told of each kernel on
 * WebAssembly. What the library itself writes down holds the time of writing it down: 20 µs
 * for a long expression.
 */
import { registerHooks } from 'node:module';
import { fileURLToPath } from 'node:url';
import { jaxKernels } from '../../scripts/jax-kernels.ts';
import { jaxFunctions } from '../../scripts/jax-functions.ts';
import { jaxPrograms } from '../../scripts/jax-programs.ts';
import { jaxReads } from '../../scripts/jax-reads.ts';

interface Transform {
  readonly filter: { readonly id: RegExp | readonly RegExp[] };
  handler(code: string, id: string): { readonly code: string };
}

const TRACED =
  'emitTrace("wasm", traceSourceInfo(exe.source), start, performance.now());';
const TOLD = 'globalThis.kernelRan?.(exe.source, performance.now() - start);';

const transforms: readonly Transform[] = [
  ...[jaxFunctions(), jaxKernels(), jaxPrograms(), jaxReads()].map(
    (plugin) => plugin.transform as unknown as Transform,
  ),
  {
    filter: { id: /@jax-js\/jax\/dist\/backend-[^/]*\.js$/ },
    handler: (code) => {
      if (!code.includes(TRACED)) throw new Error(`jax-js has no "${TRACED}"`);
      return { code: code.replace(TRACED, TOLD) };
    },
  },
];

registerHooks({
  load(url, context, nextLoad) {
    const loaded = nextLoad(url, context);
    if (!url.startsWith('file:') || !url.includes('@jax-js')) return loaded;
    const file = fileURLToPath(url);
    const source = transforms
      .filter(({ filter }) => [filter.id].flat().some((id) => id.test(file)))
      .reduce((code, { handler }) => handler(code, file).code, String(loaded.source));
    return { ...loaded, source };
  },
});
