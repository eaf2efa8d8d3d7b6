/** The server's side of a page's line: one that does not answer is ended. */
import { EventEmitter } from 'node:events';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { WebSocket } from 'ws';
import { socketChannel } from '../../../src/main/serve/socket-channel.ts';

class FakeSocket extends EventEmitter {
  pings = 0;
  isTerminated = false;
  ping(): void {
    this.pings++;
  }
  terminate(): void {
    this.isTerminated = true;
    this.emit('close');
  }
}

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

test('a peer that answers no ping is cut off, and then left alone', () => {
  const socket = new FakeSocket();
  const closed = vi.fn();
  socketChannel(socket as unknown as WebSocket).onClose(closed);
  vi.advanceTimersByTime(60_000);
  expect([socket.pings, socket.isTerminated]).toEqual([2, false]);
  vi.advanceTimersByTime(30_000);
  expect([socket.pings, socket.isTerminated]).toEqual([2, true]);
  expect(closed).toHaveBeenCalledOnce();
  expect(vi.getTimerCount()).toBe(0);
});

test.each(['pong', 'message'])(
  'a peer that gives a sign of life stays (%s)',
  (sign) => {
    const socket = new FakeSocket();
    socketChannel(socket as unknown as WebSocket);
    for (let minute = 0; minute < 60; minute++) {
      vi.advanceTimersByTime(60_000);
      socket.emit(sign, Buffer.alloc(0), false);
    }
    expect([socket.pings, socket.isTerminated]).toEqual([120, false]);
  },
);
