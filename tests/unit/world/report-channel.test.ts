import { PassThrough } from 'node:stream';
import { expect, it, vi } from 'vitest';
import { MARKER } from '../../../src/agent/world/marked-stream.ts';
import { readReports, ReportChannel } from '../../../src/agent/world/report-channel.ts';
import { FrameDecoder } from '../../../src/shared/protocol/frame.ts';
import type { FromWorker } from '../../../src/shared/protocol/worker.ts';

const report: FromWorker = {
  type: 'records',
  records: [
    { type: 'notice', at: 1, level: 'info', code: 'A', message: 'x'.repeat(2 ** 20) },
  ],
};

it('has room again once a supervisor that was behind has read everything', async () => {
  const stream = new PassThrough();
  const channel = new ReportChannel(stream);
  let sent = 0;
  let room: Promise<void> | undefined;
  while (room === undefined) {
    channel.send(report);
    sent++;
    expect(sent).toBeLessThan(100);
    room = channel.room();
  }
  const decoder = new FrameDecoder();
  let read = 0;
  stream.on('data', (chunk: Buffer) => {
    for (const message of decoder.push(chunk)) {
      expect(message).toEqual(report);
      read++;
    }
  });
  await room;
  expect(channel.room()).toBeUndefined();
  await new Promise<void>((resolve) => {
    channel.end(resolve);
  });
  expect(read).toBe(sent);
});

function gathering() {
  const stream = new PassThrough();
  const channel = new ReportChannel<object, number>(stream, false, (parts) => ({
    parts,
  }));
  const decoder = new FrameDecoder();
  const heard: unknown[] = [];
  stream.on('data', (chunk: Buffer) => heard.push(...decoder.push(chunk)));
  return { channel, heard };
}

it('sends what was gathered before a report, and makes it only then', async () => {
  const { channel, heard } = gathering();
  const make = vi.fn(() => 2);
  channel.gather(1);
  channel.gather(make);
  expect(make).not.toHaveBeenCalled();
  channel.send({ type: 'finished' });
  await expect.poll(() => heard).toHaveLength(2);
  expect(heard).toEqual([{ parts: [1, 2] }, { type: 'finished' }]);
  expect(make).toHaveBeenCalledOnce();
});

it('sends 256 at once, and fewer after a moment', async () => {
  const { channel, heard } = gathering();
  for (let n = 0; n < 257; n++) channel.gather(n);
  await expect.poll(() => heard).toHaveLength(2);
  const all = Array.from({ length: 257 }, (_, n) => n);
  expect(heard).toEqual([{ parts: all.slice(0, 256) }, { parts: all.slice(256) }]);
});

it('sends what was gathered before it ends', async () => {
  const { channel, heard } = gathering();
  channel.gather(1);
  await new Promise<void>((resolve) => {
    channel.end(resolve);
  });
  expect(heard).toEqual([{ parts: [1] }]);
});

function reading(stream: PassThrough, byLine: boolean) {
  const heard: unknown[] = [];
  const broken: unknown[] = [];
  const printed: string[] = [];
  readReports(stream, byLine, {
    parse: (raw) => {
      if (typeof raw === 'object') return raw;
      throw new Error(`${String(raw)} is no report`);
    },
    heard: (message) => heard.push(message),
    printed: (bytes) => printed.push(String(bytes)),
    broken: (error) => broken.push(error),
  });
  return { broken, heard, printed };
}

it.each([false, true])('arrives as it was sent, by line: %s', async (byLine) => {
  const stream = new PassThrough();
  const { broken, heard, printed } = reading(stream, byLine);
  if (byLine) stream.write(`a greeting\n${MARKER}`);
  const channel = new ReportChannel<object>(stream, byLine);
  channel.send({ type: 'finished' });
  if (byLine) channel.print(Buffer.from('epoch 1'));
  channel.send(report);
  await expect.poll(() => heard).toEqual([{ type: 'finished' }, report]);
  expect(printed).toEqual(byLine ? ['epoch 1'] : []);
  expect(broken).toEqual([]);
});

it('is not read after something that is no report', async () => {
  const stream = new PassThrough();
  const { broken, heard } = reading(stream, false);
  const channel = new ReportChannel<object | number>(stream);
  channel.send({ type: 'finished' });
  channel.send(7);
  channel.send({ type: 'finished' });
  await expect.poll(() => broken).toEqual([new Error('7 is no report')]);
  expect(heard).toEqual([{ type: 'finished' }]);
});
