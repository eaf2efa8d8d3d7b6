/** Which methods can push what one rank has to a server. */
import { expect, it } from 'vitest';
import { methods } from '../../../src/agent/methods/registry.ts';
import { LoneCompressor } from './lone-compressor.ts';

it.each([...methods.values()])(
  'says whether ranks agree on something within an exchange: $id',
  ({ agreesOn, id, replicas }) => {
    const { compressor } = new LoneCompressor({ method: id, tensors: [60] });
    const talks = compressor.talks;
    expect(agreesOn !== undefined).toBe(talks || replicas === 'drift');
  },
);
