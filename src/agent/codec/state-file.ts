/**
 * A rank's state between iterations as a file: its residual, if the method keeps one,
 * then the method's own state. The layout is `container.ts`'s; the residual takes 4·n
 * bytes of the body, or none.
 */
import { z } from 'zod';
import { checkedOptions } from '../../shared/checks/checked-options.ts';
import { corrupt, packContainer, unpackContainer } from './container.ts';
import { requireProvenance, parseProvenance, type Provenance } from './provenance.ts';
import { bytesSchema, floatsSchema } from './typed-array.ts';

/** A rank's state between two iterations. */
export interface RankState {
  /** Residual; empty if the method keeps none. */
  readonly residual: Float32Array;
  /** State as the method saved it. */
  readonly method: Uint8Array;
}

export interface StateFile {
  /** Provenance, whose `iteration` is the next one. */
  readonly provenance: Provenance;
  readonly state: RankState;
}

const stateSchema = (n: number) =>
  z.strictObject({
    residual: floatsSchema
      .refine(
        ({ length }) => length === 0 || length === n,
        `it must have ${n} elements, or none`,
      )
      .refine((residual) => residual.every(Number.isFinite), 'it must be finite'),
    method: bytesSchema,
  });

const fileSchema = z.strictObject({ provenance: z.unknown(), state: z.unknown() });

/** @throws GradwireError `OPTION_INVALID` for a provenance that could not be read again */
export function packRankState(file: StateFile): Uint8Array {
  checkedOptions(fileSchema, file, 'packRankState');
  const { provenance, state } = file;
  requireProvenance(provenance, 'packRankState');
  checkedOptions(stateSchema(provenance.n), state, 'packRankState: state');
  const { buffer, byteOffset, byteLength } = state.residual;
  const residual = new Uint8Array(buffer, byteOffset, byteLength);
  const header = { ...provenance, residual: state.residual.length };
  return packContainer('state', header, [residual, state.method]);
}

/**
 * @throws GradwireError `CONTAINER_UNKNOWN`, `CONTAINER_TRUNCATED`, `CONTAINER_CORRUPT`
 */
export function unpackRankState(file: Uint8Array): StateFile {
  const { header, body } = unpackContainer('state', file);
  const { residual: length, ...rest } = header as { readonly residual?: unknown };
  const provenance = parseProvenance(rest);
  if (length !== 0 && length !== provenance.n) {
    throw corrupt(
      `its residual has ${String(length)} elements instead of ${provenance.n}`,
    );
  }
  const bytes = 4 * length;
  if (body.length < bytes) throw corrupt('its residual is truncated');
  // Copied, because the body may not be aligned for floats.
  const residual = new Float32Array(length);
  new Uint8Array(residual.buffer).set(body.subarray(0, bytes));
  if (!residual.every(Number.isFinite)) throw corrupt('its residual is not finite');
  return { provenance, state: { residual, method: body.slice(bytes) } };
}
