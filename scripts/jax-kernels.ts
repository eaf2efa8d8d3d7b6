/**
 * Two changes of a few lines to the bundled jax-js, which make its kernels faster in Node and
 * leave what they compute as it is.
 *
 * Verified with @jax-js/jax 0.1.25 (docs/decisions/044-tokens.md has the figures):
 * - where there are no web workers it makes a new WebAssembly instance for each call of a
 *   kernel, and V8 counts calls by instance before it optimises: here a program keeps its
 *   instance, which has no state but the memory that all share;
 * - what a product takes is computed before it, once, where that is repeated along an axis;
 *   but not what an explicit broadcast repeats, as the gradient of a product does: layer
 *   norm's derivative was computed anew for each token of a vocabulary. Here it is as well.
 */
import type { Plugin } from 'vite';

interface Change {
  readonly file: RegExp;
  readonly from: string;
  readonly to: string;
}

const INSTANCE =
  'new WebAssembly.Instance(program.module, { env: { memory: this.#memory } })';
const EACH_INPUT = 'for (const [i, input] of eqn.inputs.entries())';
const COMPUTED_BEFORE = 'markNonViewProducer(input);';
const REUSED = 'reductionInputHasReuse(inputShapes[i], promoted)';

/** Whether a value is another one repeated, through views of it. */
const IS_BROADCAST = [
  'const isBroadcast = (value) => {',
  'const eqn = jaxpr.eqns[varToDefn.get(value)];',
  'if (eqn === undefined || !viewPrimitives.includes(eqn.primitive)) return false;',
  "return eqn.primitive === 'broadcast' || isBroadcast(eqn.inputs[0]);",
  '};',
].join(' ');

const changes: readonly Change[] = [
  {
    file: /@jax-js\/jax\/dist\/backend-[^/]*\.js$/,
    from: `const func = ${INSTANCE}.exports.kernel;`,
    to: `const func = (program.instance ??= ${INSTANCE}).exports.kernel;`,
  },
  {
    file: /@jax-js\/jax\/dist\/index\.js$/,
    from: `${EACH_INPUT} if (input instanceof Var && ${REUSED}) ${COMPUTED_BEFORE}`,
    to:
      `${IS_BROADCAST} ${EACH_INPUT} ` +
      `if (input instanceof Var && (${REUSED} || isBroadcast(input))) ${COMPUTED_BEFORE}`,
  },
];

export function jaxKernels(): Plugin {
  return {
    name: 'jax-kernels',
    transform: {
      filter: { id: changes.map(({ file }) => file) },
      handler(code, id) {
        const changed = changes
          .filter(({ file }) => file.test(id))
          .reduce((text, { from, to }) => {
            const parts = text.split(from);
            if (parts.length === 2) return parts.join(to);
            throw new Error(`jax-js has ${parts.length - 1} of "${from}", not one`);
          }, code);
        // Lines stay where they are.
        return { code: changed, map: null };
      },
    },
  };
}
