/**
 * Lets results of the bundled jax-js (0.1.25) be copied to where they are wanted, by
 * `dataFor(take)` of an array: `take` is called with the library's own memory. What `data()`
 * returns has been copied twice, into array buffers that were made for it: with 0.8 MB of
 * gradients in each iteration V8 collected its whole heap every fifteen iterations
 * (src/agent/training/runtime/copy-out.ts uses it).
 */
import type { Plugin } from 'vite';

const BACKEND = /@jax-js\/jax\/dist\/backend-[^/]*\.js$/;
const LIBRARY = /@jax-js\/jax\/dist\/index\.js$/;

/** Bytes of an array, in the backend on WebAssembly. */
const BYTES =
  'return new Uint8Array(this.#memory.buffer, buffer.ptr, buffer.size);\n\t}';
const BYTES_OF = '\tbytesOf(slot) { return this.#getBuffer(slot); }';

/** The place where an array gives its values. */
const DATA = '\t/** Realize the array and return it as data. */\n\tasync data() {';
/** Only where they lie there as they are: what is lazy, a view or elsewhere comes by `data`. */
const DATA_FOR = [
  '\tasync dataFor(take) {',
  'const isThere = !(this.#source instanceof AluExp) && this.#st.contiguous;',
  'if (!isThere || this.#backend.bytesOf === undefined)',
  '{ take(await this.data()); return; }',
  'await this.blockUntilReady();',
  'const bytes = this.#backend.bytesOf(this.#source);',
  'take(dtypedArray(this.#dtype, bytes.subarray(0, byteWidth(this.#dtype) * this.size)));',
  'this.dispose();',
  '}',
].join(' ');

const CHANGES = [
  { file: BACKEND, from: BYTES, to: `${BYTES}\n${BYTES_OF}` },
  { file: LIBRARY, from: DATA, to: `${DATA_FOR}\n${DATA}` },
];

export function jaxReads(): Plugin {
  return {
    name: 'jax-reads',
    transform: {
      filter: { id: CHANGES.map(({ file }) => file) },
      handler(code, id) {
        const { from, to } = CHANGES.find(({ file }) => file.test(id))!;
        const parts = code.split(from);
        if (parts.length !== 2) {
          throw new Error(`jax-js has ${parts.length - 1} of "${from}", not one`);
        }
        // Lines move by one or two, behind what stack traces show.
        return { code: parts.join(to), map: null };
      },
    },
  };
}
