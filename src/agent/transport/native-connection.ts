/**
 * A connection on libc's sockets. A message leaves in one call, its header and data
 * gathered where they lie; it arrives where it belongs, its destination handed to the
 * system: no byte is copied but by the kernel, except the first of a message, which come
 * with its header.
 *
 * Hot path: what is allocated per message is a view or two.
 */
import type { ErrorData } from '../../shared/errors.ts';
import { FrameReader } from './frame-reader.ts';
import type { DescriptorWatch, Libc } from './libc.ts';
import {
  encodeAbortFrame,
  encodeFrameHeader,
  FRAME_HEADER_BYTES,
} from './message-frame.ts';
import {
  COPY_BYTES,
  QUEUE_BYTES,
  type PeerConnection,
  type PeerEvents,
} from './peer-connection.ts';
import type { Progressing, ProgressLoop } from './progress-loop.ts';
import { ReceiveQueue, WORTH_KEEPING } from './receive-queue.ts';
import type { TakenSocket } from './socket-takeover.ts';
import type { MessageHeader } from './transport.ts';

/** The most that one call moves: then the other direction has its turn. */
const CALL_BYTES = 2 ** 20;
/** The most that one connection reads before another has its turn. */
const TURN_BYTES = 4 * 2 ** 20;
/** Small enough that the receive queue copies what it keeps of it. */
const STAGING_BYTES = WORTH_KEEPING / 2;
/** Pieces gathered in one call. */
const MOST_VECTORS = 16;

/** Memory for the calls of one thread: used within a call only. */
export class SocketScratch {
  readonly libc: Libc;
  readonly staging = Buffer.alloc(STAGING_BYTES);
  readonly header = Buffer.alloc(FRAME_HEADER_BYTES);
  readonly stagingAddress: number;
  readonly vectorsAddress: number;
  readonly #vectors = new Uint32Array(4 * MOST_VECTORS);

  constructor(libc: Libc) {
    this.libc = libc;
    this.stagingAddress = libc.address(this.staging);
    this.vectorsAddress = libc.address(new Uint8Array(this.#vectors.buffer));
  }

  /** struct iovec: address and length, 64 bits each, little-endian on both systems. */
  setVector(index: number, address: number, bytes: number): void {
    const at = 4 * index;
    this.#vectors[at] = address >>> 0;
    this.#vectors[at + 1] = Math.floor(address / 2 ** 32);
    this.#vectors[at + 2] = bytes;
    this.#vectors[at + 3] = 0;
  }
}

/** Bytes that the system has not taken yet. */
interface Unsent {
  readonly bytes: Uint8Array;
  at: number;
  readonly flushed: (() => void) | undefined;
}

export class NativeConnection implements PeerConnection, Progressing {
  readonly rank: number;
  readonly queue: ReceiveQueue;
  readonly closed: Promise<void>;
  trouble: string | undefined;
  readonly #events: PeerEvents;
  readonly #loop: ProgressLoop;
  readonly #scratch: SocketScratch;
  readonly #libc: Libc;
  readonly #reader: FrameReader;
  readonly #descriptor: number;
  readonly #watch: DescriptorWatch | undefined;
  readonly #closed = Promise.withResolvers<undefined>();
  readonly #unsent: Unsent[] = [];
  #unsentBytes = 0;
  #leftover: Buffer | undefined;
  #sent: number;
  #received: number;
  #paused = false;
  #gone = false;
  #destroyed = false;
  #deaf = false;
  /** No more will be written: asked for, told to the peer, impossible. */
  #ending = false;
  #ended = false;
  #unwritable = false;

  /** @param taken owned from here on; undefined: the peer has left already */
  constructor(
    rank: number,
    peer: number,
    taken: TakenSocket | undefined,
    events: PeerEvents,
    loop: ProgressLoop,
    scratch: SocketScratch,
  ) {
    this.rank = peer;
    this.queue = new ReceiveQueue(rank, peer, {
      delivered: (receive) => {
        loop.completed();
        events.delivered(receive);
      },
      aborted: (reason, bodyBytes) => {
        events.aborted(reason, bodyBytes);
      },
    });
    this.closed = this.#closed.promise.then(() => undefined);
    this.#events = events;
    this.#loop = loop;
    this.#scratch = scratch;
    this.#libc = scratch.libc;
    this.#reader = new FrameReader(this.queue);
    this.#sent = taken?.bytesWritten ?? 0;
    this.#received = taken?.bytesRead ?? 0;
    this.#descriptor = taken?.descriptor ?? -1;
    if (taken === undefined) {
      this.#gone = true;
      this.#destroyed = true;
      this.#closed.resolve(undefined);
      return;
    }
    this.#watch = this.#libc.watcher(taken.descriptor, () => {
      loop.wake();
    });
    if (taken.read.length > 0) {
      this.#leftover = taken.read;
      loop.wake();
    }
    loop.add(this);
  }

  get gone(): boolean {
    return this.#gone;
  }

  get socketBytes(): { readonly sent: number; readonly received: number } {
    return { sent: this.#sent, received: this.#received };
  }

  get awaited(): boolean {
    if (this.#destroyed) return false;
    return this.#unsent.length > 0 || (!this.#gone && this.queue.expected > 0);
  }

  write(header: MessageHeader, data: Uint8Array, flushed: () => void): boolean {
    const { length } = data;
    const scratch = this.#scratch;
    let wrote = 0;
    if (this.#unsent.length === 0) {
      encodeFrameHeader(scratch.header, 'data', header, length);
      scratch.setVector(0, this.#libc.address(scratch.header), FRAME_HEADER_BYTES);
      const now = Math.min(length, CALL_BYTES);
      if (now > 0) scratch.setVector(1, this.#libc.address(data), now);
      wrote = this.#writeVectors(now > 0 ? 2 : 1);
      if (wrote === FRAME_HEADER_BYTES + length) return true;
    }
    if (wrote < FRAME_HEADER_BYTES) {
      const prefix = Buffer.allocUnsafe(FRAME_HEADER_BYTES);
      encodeFrameHeader(prefix, 'data', header, length);
      this.#keep(prefix, wrote, length === 0 ? flushed : undefined);
    }
    const at = Math.max(0, wrote - FRAME_HEADER_BYTES);
    const copied = length <= COPY_BYTES && this.#unsentBytes < QUEUE_BYTES;
    if (length > 0) {
      this.#keep(copied ? Buffer.from(data) : data, at, copied ? undefined : flushed);
    }
    this.#loop.nudge();
    return copied && length > 0;
  }

  writeAbort(error: ErrorData): number {
    if (this.#gone || this.#unwritable || this.#ending) return 0;
    const frame = encodeAbortFrame(error);
    this.#keep(frame, 0, undefined);
    this.#flush();
    this.rest();
    return frame.length;
  }

  expect(): void {
    this.#loop.nudge();
  }

  setPaused(paused: boolean): void {
    if (paused === this.#paused) return;
    this.#paused = paused;
    this.rest();
    // What Node had read comes before what the system tells of.
    if (!paused && this.#leftover !== undefined) this.#loop.wake();
  }

  ignore(): void {
    this.#deaf = true;
    this.queue.clear();
    this.setPaused(false);
  }

  end(): void {
    this.#ending = true;
    this.#endWriting();
    this.rest();
  }

  destroy(): void {
    if (this.#destroyed) return;
    this.#destroyed = true;
    this.#watch?.close();
    this.#libc.close(this.#descriptor);
    this.#unsent.length = 0;
    this.#leave();
    this.#closed.resolve(undefined);
  }

  progress(): boolean {
    const flushed = this.#flush();
    return this.#read() || flushed;
  }

  rest(): void {
    if (this.#destroyed) return;
    this.#watch?.watch(!this.#paused && !this.#gone, this.#unsent.length > 0);
  }

  #keep(bytes: Uint8Array, at: number, flushed: (() => void) | undefined): void {
    this.#unsent.push({ bytes, at, flushed });
    this.#unsentBytes += bytes.length - at;
  }

  /** Bytes that the system took of the first `count` vectors: 0 where it is full. */
  #writeVectors(count: number): number {
    if (this.#unwritable || this.#destroyed) return 0;
    const wrote = this.#libc.writev(
      this.#descriptor,
      this.#scratch.vectorsAddress,
      count,
    );
    if (wrote >= 0) {
      this.#sent += wrote;
      return wrote;
    }
    const name = this.#libc.errno();
    if (name === 'EAGAIN' || name === 'EINTR' || name === 'ENOBUFS') return 0;
    // The peer has gone: reading finds its last words first, then its end.
    this.trouble = name;
    this.#unwritable = true;
    this.#unsent.length = 0;
    this.#unsentBytes = 0;
    this.#loop.wake();
    return 0;
  }

  #flush(): boolean {
    if (this.#unsent.length === 0) return false;
    const end = this.#events.writing();
    let moved = false;
    while (this.#unsent.length > 0) {
      let count = 0;
      let bytes = 0;
      for (const { bytes: view, at } of this.#unsent) {
        if (count === MOST_VECTORS || bytes === CALL_BYTES) break;
        const take = Math.min(view.length - at, CALL_BYTES - bytes);
        this.#scratch.setVector(count++, this.#libc.address(view) + at, take);
        bytes += take;
      }
      const wrote = this.#writeVectors(count);
      if (wrote === 0) break;
      moved = true;
      this.#taken(wrote);
      if (wrote < bytes || this.#loop.hasCompleted) break;
    }
    end();
    this.#endWriting();
    return moved;
  }

  #taken(bytes: number): void {
    this.#unsentBytes -= bytes;
    let left = bytes;
    while (left > 0) {
      const first = this.#unsent[0]!;
      const take = Math.min(left, first.bytes.length - first.at);
      first.at += take;
      left -= take;
      if (first.at < first.bytes.length) return;
      this.#unsent.shift();
      if (first.flushed === undefined) continue;
      this.#loop.completed();
      first.flushed();
    }
  }

  /** Whether any byte came. */
  #read(): boolean {
    if (this.#paused || this.#gone) return false;
    let total = 0;
    let end: (() => void) | undefined;
    const working = (): void => {
      end ??= this.#events.reading();
    };
    if (this.#leftover !== undefined) {
      const leftover = this.#leftover;
      this.#leftover = undefined;
      total = leftover.length;
      working();
      this.#take(0, leftover);
    }
    while (total < TURN_BYTES) {
      const room = this.#deaf ? undefined : this.#reader.room();
      // What is small comes with what follows it.
      const direct =
        room === undefined || room.length < STAGING_BYTES
          ? 0
          : Math.min(room.length, CALL_BYTES);
      const read = this.#readInto(direct === 0 ? undefined : room, direct);
      if (read === 0) break;
      total += read;
      working();
      const filled = Math.min(read, direct);
      this.#take(filled, this.#scratch.staging.subarray(0, read - filled));
      if (read < direct + STAGING_BYTES || this.#loop.hasCompleted) break;
      if (this.#paused || this.#destroyed) break;
    }
    if (total === 0) return false;
    end?.();
    this.#events.read(this);
    return true;
  }

  /** Read to the room, then to the staging memory. Returns 0 where there is nothing. */
  #readInto(room: Uint8Array | undefined, direct: number): number {
    const { staging, stagingAddress, vectorsAddress } = this.#scratch;
    let read: number;
    if (room === undefined) {
      read = this.#libc.recv(this.#descriptor, stagingAddress, staging.length);
    } else {
      this.#scratch.setVector(0, this.#libc.address(room), direct);
      // Bytes may go to the staging memory only where they follow the whole room.
      const count = direct === room.length ? 2 : 1;
      this.#scratch.setVector(1, stagingAddress, staging.length);
      read = this.#libc.readv(this.#descriptor, vectorsAddress, count);
    }
    if (read > 0) {
      this.#received += read;
      return read;
    }
    if (read < 0) {
      const name = this.#libc.errno();
      if (name === 'EAGAIN' || name === 'EINTR') return 0;
      this.trouble ??= name;
    }
    this.#leave();
    if (read < 0 || this.#unwritable) this.destroy();
    else this.end();
    return 0;
  }

  /** The next bytes: so many in the room already, then these. */
  #take(filled: number, more: Buffer): void {
    if (this.#deaf) return;
    try {
      if (filled > 0) this.#reader.filled(filled);
      if (more.length > 0) this.#reader.push(more);
    } catch (cause) {
      this.#events.broken(this, cause);
    }
  }

  /** Once all has left: tell the peer; once it has told us: close. */
  #endWriting(): void {
    if (!this.#ending || this.#destroyed) return;
    if (this.#unsent.length > 0) return;
    if (!this.#ended) {
      this.#ended = true;
      this.#libc.shutdown(this.#descriptor);
    }
    if (this.#gone) this.destroy();
  }

  #leave(): void {
    if (this.#gone) return;
    this.#gone = true;
    this.#events.gone(this);
  }
}
