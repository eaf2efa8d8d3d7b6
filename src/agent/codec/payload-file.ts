/**
 * `x.gw`: a payload as it would be sent, and everything needed to decode it. The layout
 * is `container.ts`'s; the body is exactly the payload's bytes.
 */
import { z } from 'zod';
import { checkedOptions } from '../../shared/checks/checked-options.ts';
import { packContainer, unpackContainer } from './container.ts';
import { requireProvenance, parseProvenance, type Provenance } from './provenance.ts';
import { bytesSchema } from './typed-array.ts';

export interface PayloadFile {
  readonly provenance: Provenance;
  readonly payload: Uint8Array;
}

const fileSchema = z.strictObject({
  provenance: z.unknown(),
  payload: bytesSchema,
});

/** @throws GradwireError `OPTION_INVALID` for a provenance that could not be read again */
export function packPayload(file: PayloadFile): Uint8Array {
  checkedOptions(fileSchema, file, 'packPayload');
  const { provenance, payload } = file;
  requireProvenance(provenance, 'packPayload');
  return packContainer('payload', provenance, [payload]);
}

/**
 * The payload is checked when it is decoded. It shares the file's memory.
 * @throws GradwireError `CONTAINER_UNKNOWN`, `CONTAINER_TRUNCATED`, `CONTAINER_CORRUPT`
 */
export function unpackPayload(file: Uint8Array): PayloadFile {
  const { header, body } = unpackContainer('payload', file);
  return { provenance: parseProvenance(header), payload: body };
}
