/**
 * Functions of the bundled jax-js (0.1.25) that overflow where their results do not. Where exp(-x) is
 * infinite, the derivative of its sigmoid is ∞/∞: below -88, where the true one is 0, an LSTM's gradient became
 * NaN. Its softplus is infinite above 88.
 */
import type { Plugin } from 'vite';

const LIBRARY = /@jax-js\/jax\/dist\/index\.js$/;

const CHANGES = [
  {
    from: '\treturn reciprocal(exp(negative(x)).add(1));',
    // Below -87 its result is smaller than the least normal number of 32 bits.
    to: [
      '\tx = fudgeArray(x);',
      'const inner = reciprocal(exp(negative(maximum(x.ref, -87))).add(1));',
      'return where(x.less(-87), 0, inner);',
    ].join(' '),
  },
  {
    from: '\treturn log(exp(x).add(1));',
    to: '\treturn logaddexp(x, 0);',
  },
];

export function jaxFunctions(): Plugin {
  return {
    name: 'jax-functions',
    transform: {
      filter: { id: LIBRARY },
      handler(code) {
        for (const { from, to } of CHANGES) {
          const parts = code.split(from);
          if (parts.length !== 2) {
            throw new Error(`jax-js has ${parts.length - 1} of "${from}", not one`);
          }
          code = parts.join(to);
        }
        // No line moves.
        return { code, map: null };
      },
    },
  };
}
