/**
 * Gaussian sketching of activations X, a control that the paper found to fail: X·S is sent for a
 * random S of width × k with normal entries of variance 1/k, and the next stage continues with
 * X·S·Sᵀ, which is X in expectation. k = (1 − η)·width. Both ranks draw the same new S in every
 * iteration, so it is not sent. The gradient comes back whole and is used as that of X.
 *
 * Source: "Training recommender systems at scale" (Gupta et al., 2021), appendix A, which
 * does not say how X·S is used.
 */
import { valuesSent } from '../../shared/plan/activation-plan.ts';
import { CounterRandom } from '../kernels/random.ts';
import {
  wholeValues,
  type ActivationCodec,
  type CodecOptions,
} from './activation-codec.ts';
import { cos, log } from '../../shared/numbers/portable-math.ts';

/** Separates these random numbers from those of compression methods. */
const PURPOSE = 1 << 20;

export function gaussianSketch(options: CodecOptions): ActivationCodec {
  const { arena, seed, shape, sparsity } = options;
  const { rows, width } = shape;
  const k = valuesSent(width, sparsity);
  const sketch = new Float32Array(width * k);
  let drawn = -1;
  const draw = (iteration: number): void => {
    if (drawn === iteration) return;
    drawn = iteration;
    const random = new CounterRandom({ seed, iteration, purpose: PURPOSE });
    const deviation = Math.sqrt(1 / k);
    for (let i = 0; i < sketch.length; i++) {
      // Box and Muller. 1 − u is not 0.
      const radius = Math.sqrt(-2 * log(1 - random.uniform(2 * i)));
      sketch[i] = deviation * radius * cos(2 * Math.PI * random.uniform(2 * i + 1));
    }
  };
  return {
    forward: {
      payloadBytes: 4 * rows * k,
      encode(values, payload, { iteration }) {
        draw(iteration);
        const x = arena.f32(values);
        const out = arena.f32({ offset: payload.offset, length: rows * k });
        out.fill(0);
        for (let row = 0; row < rows; row++) {
          for (let unit = 0; unit < width; unit++) {
            const value = x[row * width + unit]!;
            for (let j = 0; j < k; j++)
              out[row * k + j]! += value * sketch[unit * k + j]!;
          }
        }
      },
      decode(payload, values, { iteration }) {
        draw(iteration);
        const y = arena.f32({ offset: payload.offset, length: rows * k });
        const out = arena.f32(values);
        for (let row = 0; row < rows; row++) {
          for (let unit = 0; unit < width; unit++) {
            let sum = 0;
            for (let j = 0; j < k; j++) sum += y[row * k + j]! * sketch[unit * k + j]!;
            out[row * width + unit] = sum;
          }
        }
      },
    },
    backward: wholeValues(options),
    kept: [],
    [Symbol.dispose]() {
      // It has no memory in the arena.
    },
  };
}
