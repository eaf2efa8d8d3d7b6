/** Event files: what TensorBoard's format is, and that they have what was recorded. */
import { afterAll, expect, test } from 'vitest';
import { crc32c } from '../../../src/export/tensorboard/crc32c.ts';
import { EventFile } from '../../../src/export/tensorboard/event-file.ts';
import { TemporaryStore } from '../../harness/temporary-store.ts';
import {
  done,
  entries,
  iterationRecord,
  sampleSpec,
  started,
  switchRecord,
} from '../main/sample-records.ts';
import { readEvents } from './event-records.ts';
import { partsOf } from './exported.ts';

const temporary = new TemporaryStore();
const { store } = temporary;
afterAll(() => {
  temporary.close();
});

test('checksums are those of RFC 3720', () => {
  // Appendix B.4: bytes of 0, of 255, and from 0 up.
  expect(crc32c(new Uint8Array(32))).toBe(0x8a9136aa);
  expect(crc32c(new Uint8Array(32).fill(255))).toBe(0x62a8ab43);
  expect(crc32c(Uint8Array.from({ length: 32 }, (_, n) => n))).toBe(0x46dd794e);
  expect(crc32c(new TextEncoder().encode('123456789'))).toBe(0xe3069283);
  expect(crc32c(new Uint8Array())).toBe(0);
});

test('events of any size are whole, in several takes', () => {
  const file = new EventFile(12.5);
  const long = 'é'.repeat(100_000);
  const values = Array.from({ length: 5000 }, (_, n): [string, number] => [
    `tag ${n}`,
    n / 2,
  ]);
  file.scalars({ wallTime: 13, step: 2 ** 40 + 3 }, values);
  const first = file.take();
  file.text({ wallTime: 14, step: 0 }, 'words', long);
  file.scalars({ wallTime: 15, step: 127 }, []);
  const events = readEvents(Buffer.concat([first, file.take()]));
  expect(file.take()).toHaveLength(0);
  expect(events).toEqual([
    { wallTime: 12.5, step: 0, scalars: {}, texts: {}, fileVersion: 'brain.Event:2' },
    {
      wallTime: 13,
      step: 2 ** 40 + 3,
      scalars: Object.fromEntries(values),
      texts: {},
    },
    { wallTime: 14, step: 0, scalars: {}, texts: { words: long } },
    { wallTime: 15, step: 127, scalars: {}, texts: {} },
  ]);
});

test('ranks that leave a field out count with what its absence means', async () => {
  const spec = sampleSpec({ world: { ranks: 4 } });
  store.create({ id: 'absent', spec, switches: [], createdAt: 1000 });
  const records = [0, 1, 2, 3].map((rank) => iterationRecord(0, rank));
  const odd = { ...records[0]!, clipped: 0.5, staleness: 4, drained: true as const };
  store.records.append(
    'absent',
    entries([{ ...started, ranks: 4 }, odd, ...records.slice(1)]),
  );
  const parts = await partsOf(store, 'absent', { format: 'tensorboard' });
  const scalars = Object.assign(
    {},
    ...readEvents(Buffer.concat(parts)).map((event) => event.scalars),
  ) as Readonly<Record<string, number>>;
  expect(scalars).toMatchObject({ 'step/clipped': 0.875, 'step/staleness': 1 });
  // Flags are no numbers, and what was not observed is not 0.
  expect(Object.keys(scalars).join()).not.toMatch(/drained|exchanged|residual/);
});

test('a run has the means over its ranks, at the times of its records', async () => {
  store.create({ id: 'r', spec: sampleSpec(), switches: [], createdAt: 1000 });
  const { loss, ...unmeasured } = iterationRecord(3, 1);
  expect(loss).toBeDefined();
  store.records.append(
    'r',
    entries([
      started,
      iterationRecord(2, 0),
      { ...iterationRecord(2, 1), wall: 4.5 },
      switchRecord(3, 'none', 'topk'),
      iterationRecord(3, 0),
      unmeasured,
      { type: 'evaluation', iteration: 3, at: 2500, metric: 0.5, samples: 9, wall: 4 },
      done,
    ]),
  );
  const bytes = Buffer.concat(await partsOf(store, 'r', { format: 'tensorboard' }));
  const [head, ...events] = readEvents(bytes);
  expect(head).toMatchObject({ wallTime: 1, fileVersion: 'brain.Event:2' });
  const at = (step: number, tag: string) =>
    events.flatMap((event) => {
      const value = event.scalars[tag] ?? event.texts[tag];
      return event.step === step && value !== undefined
        ? [[event.wallTime, value]]
        : [];
    });
  expect(at(2, 'training/loss')).toEqual([[1_700_000_000.002, 20.5]]);
  // The mean over those that observed it.
  expect(at(3, 'training/loss')).toEqual([[1_700_000_000.003, 30]]);
  expect(at(2, 'step/wall_ms')).toEqual([[1_700_000_000.002, 4]]);
  expect(at(2, 'phases/compute_ms')).toEqual([[1_700_000_000.002, 2]]);
  expect(at(2, 'bytes/wire_sent_bytes')).toEqual([[1_700_000_000.002, 100]]);
  expect(at(3, 'test/accuracy')).toEqual([[2.5, 0.5]]);
  expect(at(3, 'test/loss')).toEqual([]);
  const [change] = at(3, 'switches');
  expect(change![1]).toContain('topk');
});
