/**
 * Lets the bundled jax-js (0.1.25) compute in memory that others use as well, if
 * `globalThis.jaxMemory` has one when it starts: the arena of a rank. An array can then be moved to a
 * place in that memory, where kernels of ours change its values. Weights that are updated in the
 * arena need no copy for the library (docs/decisions/064-one-memory-for-weights.md).
 *
 * - Memory is shared between threads, whoever made it: compiled kernels import one kind.
 * - The library takes its memory in stretches, as others may have grown it in between.
 * - `movedTo(memory, offset)` of an array: the same array, of what lies there; undefined if
 *   the library computes in other memory.
 */
import type { Plugin } from 'vite';

const BACKEND = /@jax-js\/jax\/dist\/backend-[^/]*\.js$/;
const LIBRARY = /@jax-js\/jax\/dist\/index\.js$/;

/** Memory that the library makes if it is given none. Page 0 is nobody's: address 0 is no memory. */
const NEW_MEMORY =
  'new WebAssembly.Memory({ initial: 1, maximum: 65536, shared: true })';

const MADE =
  /this\.#memory = hasSharedArrayBuffer\(\) \? new WebAssembly\.Memory\(\{[^}]*\}\) : new WebAssembly\.Memory\(\{ initial: 0 \}\);/;
const IMPORTED = 'if (hasSharedArrayBuffer()) cg.memory.pages(0, 65536).shared(true);';
const TAKEN = /\t#bumpAlloc\(size\) \{\n[\s\S]*?\n\t\}\n/;
const OPENED = 'this.#workerPool = createWorkerPool(this.#memory);\n\t}';
const ARRAYS =
  '\t/** Get the current reference count (for debugging memory management). */';

/** Whoever owns the place keeps it: the count never becomes 0. */
const ADOPT = [
  '\tadopt(memory, ptr, size) {',
  'if (memory !== this.#memory) return undefined;',
  'const slot = this.#nextSlot++;',
  'this.#buffers.set(slot, { ptr, size, ref: 2 });',
  'return slot;',
  '}',
].join(' ');

const MOVED_TO = [
  '\tmovedTo(memory, offset) {',
  'const size = byteWidth(this.#dtype) * this.size;',
  'const source = this.#backend.adopt?.(memory, offset, size);',
  'if (source === undefined) return undefined;',
  'const moved = new Array$1({ source, st: ShapeTracker.fromShape(this.shape),',
  'dtype: this.#dtype, weakType: this.#weakType, backend: this.#backend,',
  'committed: this.#committed });',
  'this.dispose();',
  'return moved;',
  '}',
].join(' ');

interface Change {
  readonly file: RegExp;
  readonly from: string | RegExp;
  readonly to: (found: string) => string;
}

const CHANGES: readonly Change[] = [
  {
    file: BACKEND,
    from: MADE,
    to: () => `this.#memory = globalThis.jaxMemory ?? ${NEW_MEMORY};`,
  },
  {
    file: BACKEND,
    from: IMPORTED,
    to: () => 'cg.memory.pages(0, 65536).shared(true);',
  },
  { file: BACKEND, from: TAKEN, to: () => `\t#bumpAlloc${takeMemory()}` },
  { file: BACKEND, from: OPENED, to: (found) => `${found}\n${ADOPT}` },
  { file: LIBRARY, from: ARRAYS, to: (found) => `${MOVED_TO}\n${found}` },
];

/** A method of the library's allocator, whose fields these are. */
function takeMemory(): string {
  return [
    '(size) {',
    'const bytes = alignTo(size, ALLOCATION_ALIGNMENT);',
    'const limit = (this.limit ??= 0);',
    'if (limit === 0 || this.#headPtr + bytes > limit) {',
    'const pages = Math.ceil(bytes / WASM_PAGE_SIZE);',
    'const start = this.#memory.grow(pages) * WASM_PAGE_SIZE;',
    'if (start !== limit) this.#headPtr = start;',
    'this.limit = start + pages * WASM_PAGE_SIZE;',
    '}',
    'const ptr = this.#headPtr;',
    'this.#headPtr = ptr + bytes;',
    'return ptr;',
    '}\n',
  ].join(' ');
}

export function jaxMemory(): Plugin {
  return {
    name: 'jax-memory',
    transform: {
      filter: { id: [BACKEND, LIBRARY] },
      handler(code, id) {
        const changed = CHANGES.filter(({ file }) => file.test(id)).reduce(
          (text, { from, to }) => {
            const parts = text.split(from);
            if (parts.length !== 2) {
              throw new Error(
                `jax-js has ${parts.length - 1} of "${String(from)}", not one`,
              );
            }
            return text.replace(from, to);
          },
          code,
        );
        // Lines move behind what stack traces show.
        return { code: changed, map: null };
      },
    },
  };
}
