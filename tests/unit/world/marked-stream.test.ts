import fc from 'fast-check';
import { expect, test } from 'vitest';
import { MARKER, MarkedStream } from '../../../src/agent/world/marked-stream.ts';

test('what follows the marker is passed on, however it is cut', () => {
  fc.assert(
    fc.property(
      fc.uint8Array({ maxLength: 60 }),
      fc.uint8Array({ maxLength: 60 }),
      fc.array(fc.integer({ min: 1, max: 30 }), { minLength: 1 }),
      (noise, reports, cuts) => {
        const whole = Buffer.concat([noise, Buffer.from(MARKER), reports]);
        const marked = new MarkedStream();
        const taken: Buffer[] = [];
        let from = 0;
        for (let cut = 0; from < whole.length; cut++) {
          const to = from + cuts[cut % cuts.length]!;
          taken.push(marked.take(whole.subarray(from, to)));
          from = to;
        }
        expect(Buffer.concat(taken)).toEqual(Buffer.from(reports));
      },
    ),
  );
});
