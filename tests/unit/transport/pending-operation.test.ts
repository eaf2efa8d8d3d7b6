import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  PendingList,
  PendingSend,
} from '../../../src/agent/transport/pending-operation.ts';

const header = { stream: 0, sequence: 0, epoch: 0, operation: 0, dtype: 0 };

test('a pending list keeps the order of posting whatever ends first', () => {
  fc.assert(
    fc.property(
      fc.array(fc.integer({ min: 0, max: 3 }), { maxLength: 20 }),
      fc.array(fc.nat(), { maxLength: 20 }),
      (ranks, removals) => {
        const list = new PendingList<PendingSend>();
        const model = ranks.map((rank) => new PendingSend(rank, header));
        for (const operation of model) list.append(operation);
        for (const removal of removals) {
          if (model.length === 0) break;
          const [removed] = model.splice(removal % model.length, 1);
          list.remove(removed!);
          expect(list.first).toBe(model[0]);
        }
        for (const rank of [0, 1, 2, 3]) {
          expect(list.concerns(rank)).toBe(model.some((one) => one.rank === rank));
        }
        expect([...list.drain()]).toEqual(model);
        expect(list.first).toBeUndefined();
      },
    ),
  );
});
