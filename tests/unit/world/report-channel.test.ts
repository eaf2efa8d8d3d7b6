import { PassThrough } from 'node:stream';
import { expect, it } from 'vitest';
import { ReportChannel } from '../../../src/agent/world/report-channel.ts';
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
