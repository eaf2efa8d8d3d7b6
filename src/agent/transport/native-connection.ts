/**
 * A connection on libc's sockets. A message is sent in one call, its header and data
 * gathered in place, and received directly in its destination: only the kernel copies
 * bytes, except for the first bytes of a message, which arrive with its header.
 *
 * Node keeps the descriptor: it closes it even if a thread is terminated, wakes this
 * thread when bytes arrive, having read the first of them, and sends what the system did
 * not accept at once. On one thread neither can overtake the other.
 *
 * Hot path: only a view or two are allocated per message.
 */
import type { Socket } from 'node:net';
import type { ErrorData } from '../../shared/errors/errors.ts';
import type { Lane } from '../emulation/lane.ts';
import type { LaneMaker } from '../emulation/rank-cards.ts';
import { writerFor, type ChunkedWriter } from './chunked-writer.ts';
import type { ByteReader } from './frame-reader.ts';
import type { MeshLink } from './mesh-links.ts';
import { encodeAbortFrame, FRAME_HEADER_BYTES } from './message-frame.ts';
import type { PeerConnection, PeerEvents } from './peer-connection.ts';
import type { Progressing, ProgressLoop } from './progress-loop.ts';
import { ReceiveQueue } from './receive-queue.ts';
import { readerFor } from './sealed-reader.ts';
import { STAGING_BYTES, type SocketScratch } from './socket-scratch.ts';
import type { TakenSocket } from './socket-takeover.ts';
import type { MessageHeader } from './transport.ts';
import { wakingSocket, writeRest } from './waking-socket.ts';

/** The most that one call moves: then the other direction has its turn. */
const CALL_BYTES = 2 ** 20;
/** The most that one connection reads before another has its turn. */
const TURN_BYTES = 4 * 2 ** 20;
const NO_BYTES = Buffer.alloc(0);

export class NativeConnection implements PeerConnection, Progressing {
  readonly rank: number;
  readonly queue: ReceiveQueue;
  readonly closed: Promise<void>;
  trouble: string | undefined;
  readonly #events: PeerEvents;
  readonly #loop: ProgressLoop;
  readonly #scratch: SocketScratch;
  /** Takes what the socket reads. */
  readonly #reader: ByteReader;
  /** Writes messages in chunks; undefined if messages go to the socket whole. */
  readonly #writer: ChunkedWriter | undefined;
  /** Lane of the emulated network; undefined for the real one. */
  readonly #lane: Lane | undefined;
  readonly #taken: TakenSocket | undefined;
  readonly #socket: Socket | undefined;
  /** Bytes that Node had read before this connection was created, until they are processed. */
  #leftover: Buffer | undefined;
  /** Bytes sent by our own calls. */
  #sent = 0;
  #received = 0;
  #gone = false;
  /** The end or an error has been read: Node will find it too and report it. */
  #drained = false;
  #deaf = false;
  #paused = false;
  #full = false;

  /**
   * @param taken the link's socket, owned from here on; undefined: the peer has left
   * already
   * @param card for messages to the peer, if the network is emulated
   */
  constructor(
    rank: number,
    { peer, keys }: Pick<MeshLink, 'peer' | 'keys'>,
    taken: TakenSocket | undefined,
    events: PeerEvents,
    loop: ProgressLoop,
    scratch: SocketScratch,
    card?: LaneMaker,
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
    this.#events = events;
    this.#loop = loop;
    this.#scratch = scratch;
    const frames = readerFor(keys, this.queue, peer);
    const lane = card?.connect({
      put: (segment, taken) => this.#putSegment(segment, taken),
      deliver: (bytes) => {
        const end = events.reading();
        this.#push(frames, bytes);
        end();
        events.read(this);
      },
      setFull: (full) => {
        this.#full = full;
        this.#regulate();
      },
    });
    this.#lane = lane;
    this.#reader = lane?.reader ?? frames;
    this.#writer = writerFor(keys, lane, (pieces) => this.#put(pieces));
    this.#taken = taken;
    const { promise, resolve } = Promise.withResolvers<undefined>();
    this.closed = promise.then(() => undefined);
    if (taken === undefined) {
      this.#gone = true;
      resolve(undefined);
      return;
    }
    this.#socket = wakingSocket(taken.descriptor, {
      arrived: (bytes) => {
        loop.turned();
        this.#arrived(bytes);
      },
      failed: (error) => {
        this.trouble ??= error.code ?? error.message;
      },
      drained: () => {
        if (lane === undefined) this.#writer?.drained();
        else lane.drained();
      },
      ended: () => {
        this.#leave();
      },
      closed: () => {
        this.#leave();
        resolve(undefined);
      },
    });
    loop.add(this);
    if (taken.read.length === 0) return;
    this.#leftover = taken.read;
    setImmediate(() => {
      this.#arrived(NO_BYTES);
    });
  }

  get gone(): boolean {
    return this.#gone;
  }

  get socketBytes(): { readonly sent: number; readonly received: number } {
    const { bytesWritten = 0, bytesRead = 0 } = this.#taken ?? {};
    const { sent = 0, received = 0 } = this.#lane?.headers ?? {};
    return {
      sent: bytesWritten + this.#sent + (this.#socket?.bytesWritten ?? 0) - sent,
      received: bytesRead + this.#received + (this.#socket?.bytesRead ?? 0) - received,
    };
  }

  get awaited(): boolean {
    return this.queue.expected > 0 && !this.#gone && !this.#drained;
  }

  get flushing(): boolean {
    return this.#socket !== undefined && this.#socket.writableLength > 0;
  }

  framing(length: number): number {
    return this.#writer?.framing(length) ?? FRAME_HEADER_BYTES;
  }

  write(header: MessageHeader, data: Uint8Array, flushed: () => void): boolean {
    if (this.#writer !== undefined) return this.#writer.write(header, data, flushed);
    const socket = this.#socket!;
    const wrote =
      socket.writableLength === 0
        ? this.#accepted(
            this.#scratch.writeMessage(this.#taken!.descriptor, header, data),
          )
        : 0;
    if (wrote === FRAME_HEADER_BYTES + data.length) return true;
    return writeRest(socket, header, data, wrote, flushed);
  }

  writeAbort(error: ErrorData): number {
    if (this.#gone || this.#socket?.writable !== true) return 0;
    if (this.#writer !== undefined) return this.#writer.writeAbort(error);
    const frame = encodeAbortFrame(error);
    this.#socket.write(frame);
    return frame.length;
  }

  expect(): void {
    this.#loop.nudge();
  }

  setPaused(paused: boolean): void {
    this.#paused = paused;
    this.#regulate();
  }

  ignore(): void {
    this.#deaf = true;
    this.queue.clear();
    this.#lane?.clear();
    this.setPaused(false);
  }

  end(): void {
    const end = (): void => {
      this.#socket?.end();
    };
    if (this.#writer === undefined) end();
    else this.#writer.end(end);
  }

  destroy(): void {
    this.#lane?.clear();
    this.#socket?.destroy();
  }

  progress(): boolean {
    if (this.#gone || this.#socket?.isPaused() !== false) return false;
    if (this.#leftover !== undefined) {
      this.#arrived(NO_BYTES);
      return true;
    }
    return this.#read(undefined);
  }

  /** Bytes of a write that the system accepted, as it returned; 0 if it accepts none now. */
  #accepted(wrote: number): number {
    // Node gets the same error for the rest, and reports it.
    if (wrote <= 0) return 0;
    this.#sent += wrote;
    return wrote;
  }

  /**
   * Sends encrypted pieces. Returns whether there is room for more; otherwise `drain`
   * follows.
   */
  #put(pieces: readonly Uint8Array[]): boolean {
    const bytes = this.#scratch.gather(pieces);
    const wrote = this.#writeOne(bytes);
    return (
      wrote === bytes.length || this.#writeRest(Buffer.from(bytes.subarray(wrote)))
    );
  }

  /** Sends a segment, as `#put` does pieces; calls `taken` when its memory is no longer needed. */
  #putSegment(segment: Buffer, taken: () => void): boolean {
    const wrote = this.#writeOne(segment);
    if (wrote < segment.length) return this.#writeRest(segment.subarray(wrote), taken);
    taken();
    return true;
  }

  /** Bytes that the system accepts at once. */
  #writeOne(bytes: Buffer): number {
    if (this.#socket!.writableLength > 0) return 0;
    return this.#accepted(this.#scratch.writeBytes(this.#taken!.descriptor, bytes));
  }

  #writeRest(bytes: Buffer, taken?: () => void): boolean {
    const socket = this.#socket!;
    return socket.write(bytes, taken) || socket.writableLength === 0;
  }

  /** Node has read these; what follows them is still in the socket. */
  #arrived(bytes: Buffer): void {
    const end = this.#events.reading();
    const leftover = this.#leftover;
    this.#leftover = undefined;
    if (leftover !== undefined) this.#take(0, leftover);
    if (bytes.length > 0) this.#take(0, bytes);
    if (bytes.length < STAGING_BYTES || !this.#read(end)) {
      end();
      this.#events.read(this);
    }
  }

  /**
   * Reads what has arrived, mostly directly to its destination. Returns whether any byte
   * came; if so, the work has been ended and reported.
   */
  #read(working: (() => void) | undefined): boolean {
    let total = 0;
    let end = working;
    while (total < TURN_BYTES && !this.#socket!.destroyed) {
      const room = this.#deaf ? undefined : this.#reader.room();
      // Small pieces are read together with what follows.
      const direct =
        room === undefined || room.length < STAGING_BYTES
          ? 0
          : Math.min(room.length, CALL_BYTES);
      const [read, asked] = this.#readInto(direct === 0 ? undefined : room, direct);
      if (read === 0) break;
      total += read;
      end ??= this.#events.reading();
      const filled = Math.min(read, direct);
      this.#take(filled, this.#scratch.staging.subarray(0, read - filled));
      if (read < asked || this.#loop.hasCompleted) break;
    }
    if (total === 0) return false;
    end?.();
    this.#events.read(this);
    return true;
  }

  /**
   * Reads to the room, then to the staging memory: returns the bytes that came and those
   * requested.
   */
  #readInto(
    room: Uint8Array | undefined,
    direct: number,
  ): readonly [read: number, asked: number] {
    const { staging } = this.#scratch;
    const read = this.#scratch.read(this.#taken!.descriptor, room, direct);
    const asked =
      room === undefined
        ? staging.length
        : direct + (direct === room.length ? staging.length : 0);
    if (read > 0) {
      this.#received += read;
      return [read, asked];
    }
    if (read < 0) {
      const name = this.#scratch.libc.errno();
      if (name === 'EAGAIN' || name === 'EINTR') return [0, asked];
      this.trouble ??= name;
    }
    this.#drained = true;
    return [0, asked];
  }

  /** The next bytes: `filled` of them are in the room already, these follow. */
  #take(filled: number, more: Buffer): void {
    if (this.#deaf) return;
    try {
      if (filled > 0) this.#reader.filled(filled);
    } catch (cause) {
      this.#events.broken(this, cause);
      return;
    }
    if (more.length > 0) this.#push(this.#reader, more);
  }

  #push(reader: ByteReader, bytes: Buffer): void {
    if (this.#deaf) return;
    try {
      reader.push(bytes);
    } catch (cause) {
      this.#events.broken(this, cause);
    }
  }

  #regulate(): void {
    const socket = this.#socket;
    const paused = this.#paused || this.#full;
    if (socket === undefined || paused === socket.isPaused()) return;
    if (paused) socket.pause();
    else socket.resume();
  }

  #leave(): void {
    if (this.#gone) return;
    if (this.#leftover !== undefined) this.#arrived(NO_BYTES);
    // Data received before the end is still being delivered.
    if (this.#lane === undefined) this.#leaveNow();
    else this.#lane.end(() => this.#leaveNow());
  }

  #leaveNow(): void {
    if (this.#gone) return;
    this.#gone = true;
    this.#writer?.clear();
    this.#lane?.drop();
    this.#events.gone(this);
  }
}
