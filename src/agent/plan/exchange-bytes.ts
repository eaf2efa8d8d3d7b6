/** Memory that the buckets of a plan need beside the gradient. */
import { residualOf } from '../methods/method.ts';
import type { Bucket } from './buckets.ts';

const F32 = 4;

/** A residual is as long as the gradient, whichever tensors need one. */
export const residualLength = (buckets: readonly Bucket[]): number =>
  buckets.some(hasResidual) ? buckets.reduce((sum, { length }) => sum + length, 0) : 0;

export const hasResidual = ({ policy }: Pick<Bucket, 'policy'>): boolean =>
  residualOf(policy.method, policy.parameters) !== 'none';

/** Elements of what methods keep beside the residual. */
export const keptLength = (buckets: readonly Bucket[]): number =>
  buckets.reduce(
    (sum, { length, policy }) => sum + (policy.method.keptVectors ?? 0) * length,
    0,
  );

/**
 * Bytes that a rank sends in all buckets, and that it receives before they are added up. Gathered
 * payloads are those of all others; sparse streams may be as long together, but no longer than the
 * vector. Dense sums are made in place.
 */
export const payloadBytes = (buckets: readonly Bucket[], world: number): number =>
  buckets.reduce((sum, { length, policy, tensors }) => {
    const messages = policy.method.messages(policy.parameters, {
      length,
      tensors,
      world,
    });
    return (
      sum +
      messages.reduce((bytes, message) => {
        if (message.operation !== 'reduce') return bytes + world * message.bytes;
        if (message.kind === 'dense') return bytes;
        const others = Math.min((world - 1) * message.bytes, F32 * length);
        return bytes + message.bytes + others;
      }, 0)
    );
  }, 0);

/** Bytes of dense payloads that are not the gradient itself: of 16 bits an element. */
export const halfBytes = (buckets: readonly Bucket[]): number =>
  buckets.reduce(
    (sum, { length, policy }) =>
      sum + (policy.method.values === undefined ? 0 : 2 * length),
    0,
  );
