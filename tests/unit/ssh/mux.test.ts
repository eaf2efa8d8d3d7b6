/** Frames and channels of a master's control socket, against a peer that is written here. */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { SSH } from '../../../src/main/ssh/mux/messages.ts';
import { MuxChannel, WINDOW } from '../../../src/main/ssh/mux/mux-channel.ts';
import {
  byte,
  frame,
  FrameSplitter,
  string,
  uint32,
  WireReader,
} from '../../../src/main/ssh/mux/wire.ts';
import { runs } from '../../harness/effort.ts';

it('cuts frames from pieces of any length', () => {
  fc.assert(
    fc.property(
      fc.array(fc.uint8Array({ maxLength: 50 })),
      fc.array(fc.integer({ min: 1, max: 30 }), { minLength: 1 }),
      (payloads, lengths) => {
        const bytes = Buffer.concat(payloads.map((payload) => frame(payload)));
        const splitter = new FrameSplitter();
        const seen: number[][] = [];
        for (let at = 0, turn = 0; at < bytes.length; turn++) {
          const length = lengths[turn % lengths.length]!;
          for (const one of splitter.take(bytes.subarray(at, at + length))) {
            seen.push([...one]);
          }
          at += length;
        }
        expect(seen).toEqual(payloads.map((payload) => [...payload]));
      },
    ),
    { numRuns: runs(100) },
  );
});

it('takes no frame that is longer than any can be, and no value beyond its end', () => {
  expect(() => [...new FrameSplitter().take(uint32(2 ** 30))]).toThrow(/1073741824/);
  const reader = new WireReader(Buffer.concat([string('a'), uint32(9)]));
  expect(reader.string().toString()).toBe('a');
  expect(() => reader.string()).toThrow(/truncated/);
});

interface Sent {
  readonly type: number;
  readonly body: Buffer;
}

function channel(room: number, packet = 2 ** 15): { it: MuxChannel; sent: Sent[] } {
  const sent: Sent[] = [];
  const made = new MuxChannel(0, (type, parts, taken) => {
    sent.push({ type, body: Buffer.concat(parts) });
    taken?.();
  });
  made.confirm(7, room, packet);
  return { it: made, sent };
}

const data = (text: string | Uint8Array): WireReader => new WireReader(string(text));
const typesOf = (sent: readonly Sent[]): readonly number[] =>
  sent.map(({ type }) => type);

it('sends no more than the server has room for, in packets that it takes', () => {
  const { it: one, sent } = channel(10, 4);
  let done = 0;
  one.write(Buffer.from('0123456789abcdef'), () => done++);
  one.write(Buffer.from('gh'), () => done++);
  one.end();
  expect(sent.map(({ body }) => body.subarray(8).toString())).toEqual([
    ...['0123', '4567', '89'],
  ]);
  expect(done).toBe(0);
  one.receive(SSH.channelWindowAdjust, new WireReader(uint32(100)));
  expect(done).toBe(2);
  expect(sent.at(-2)!.body.subarray(8).toString()).toBe('gh');
  expect(sent.at(-1)!.type).toBe(SSH.channelEof);
});

it('holds back what is not read, tells the end after it, and gives room again', () => {
  const { it: one, sent } = channel(0);
  const seen: string[] = [];
  one.on('data', (bytes) => {
    seen.push(`${bytes.length}`);
    one.pause();
  });
  one.on('end', () => seen.push('end'));
  one.on('exit', (code) => seen.push(`exit ${code}`));
  one.on('close', () => seen.push('close'));
  const half = Buffer.alloc(WINDOW / 2);
  one.receive(SSH.channelData, data(half));
  one.receive(SSH.channelData, data(half));
  expect(typesOf(sent)).toEqual([SSH.channelWindowAdjust]);
  const status = Buffer.concat([string('exit-status'), byte(0), uint32(3)]);
  one.receive(SSH.channelEof, new WireReader(Buffer.alloc(0)));
  one.receive(SSH.channelRequest, new WireReader(status));
  one.receive(SSH.channelClose, new WireReader(Buffer.alloc(0)));
  expect(seen).toEqual([`${WINDOW / 2}`, 'exit 3']);
  one.resume();
  one.resume();
  expect(seen.slice(2)).toEqual([`${WINDOW / 2}`, 'end', 'close']);
  expect(typesOf(sent)).toContain(SSH.channelClose);
  expect(one.isOver).toBe(true);
});

it('takes no more than it has granted', () => {
  const { it: one } = channel(0);
  one.pause();
  one.receive(SSH.channelData, data(Buffer.alloc(WINDOW)));
  expect(() => {
    one.receive(SSH.channelData, data('x'));
  }).toThrow(/more data than the window/);
});

it('tells a lost connection by its close alone: it is no end of the data', () => {
  const { it: one, sent } = channel(0);
  const seen: string[] = [];
  for (const event of ['end', 'close'] as const) one.on(event, () => seen.push(event));
  const replies: boolean[] = [];
  one.request('exec', [], (granted) => replies.push(granted));
  one.write(Buffer.from('never'), () => seen.push('written'));
  one.abandon();
  one.abandon();
  expect(seen).toEqual(['close']);
  expect(replies).toEqual([false]);
  const before = sent.length;
  one.close();
  one.signal('TERM');
  expect(sent).toHaveLength(before);
});
