/**
 * One channel of RFC 4254 through an OpenSSH master: a command, a shell or a connection to
 * a port. Windows bound both directions: no more data is requested while some is unread,
 * and data that the server has no room for waits here.
 */
import { EventEmitter } from 'node:events';
import { SSH } from './messages.ts';
import { byte, string, uint32, type WireReader } from './wire.ts';

/** Sends a message to the master; `taken` is called when the system has accepted it. */
export type SendMessage = (
  type: number,
  parts: readonly Uint8Array[],
  taken?: () => void,
) => void;

interface Events {
  data: [Buffer];
  /** Called when all data has been read. */
  end: [];
  /** The command's exit code, or the name of the signal that ended it. */
  exit: [number | null, string?];
  close: [];
}

interface Write {
  rest: Buffer;
  readonly done: () => void;
}

export const WINDOW = 2 ** 21;
export const LARGEST_PACKET = 2 ** 15;

export class MuxChannel extends EventEmitter<Events> {
  readonly stderr = new EventEmitter<{ data: [Buffer] }>();
  readonly id: number;
  readonly #send: SendMessage;
  #peer = 0;
  #peerPacket = 0;
  /** Bytes that the server accepts. */
  #room = 0;
  /** Bytes that it may send, and bytes read since the last update. */
  #granted = WINDOW;
  #read = 0;
  #received: Buffer[] = [];
  #paused = false;
  #writes: Write[] = [];
  #replies: ((granted: boolean) => void)[] = [];
  #eof: 'none' | 'received' | 'told' = 'none';
  #ending = false;
  #eofSent = false;
  #closeSent = false;
  #closeReceived = false;
  #over = false;

  constructor(id: number, send: SendMessage) {
    super();
    this.id = id;
    this.#send = send;
  }

  /** The server has opened it. */
  confirm(peer: number, room: number, packet: number): void {
    this.#peer = peer;
    this.#room = room;
    this.#peerPacket = packet;
  }

  /** `done` receives whether the server grants it. */
  request(
    name: string,
    parts: readonly Uint8Array[],
    done: (granted: boolean) => void,
  ): void {
    this.#replies.push(done);
    const head = [uint32(this.#peer), string(name), byte(1)];
    this.#send(SSH.channelRequest, [...head, ...parts]);
  }

  pause(): void {
    this.#paused = true;
  }

  resume(): void {
    if (!this.#paused) return;
    this.#paused = false;
    this.#deliver();
  }

  /**
   * `done` is called once it is sent; never if the channel closes first, which `close`
   * reports.
   */
  write(bytes: Buffer, done: () => void): void {
    if (this.#closeSent) return;
    this.#writes.push({ rest: bytes, done });
    if (this.#writes.length === 1) this.#pump();
  }

  /** Ends the writing side. */
  end(): void {
    this.#ending = true;
    this.#pump();
  }

  /** Stops reading and writing; the server closes its end. */
  close(): void {
    if (this.#closeSent) return;
    this.#closeSent = true;
    this.#writes = [];
    this.#send(SSH.channelClose, [uint32(this.#peer)]);
  }

  /** Sends a signal to the command: `TERM`. Not every server delivers it. */
  signal(name: string): void {
    this.#tell('signal', [string(name)]);
  }

  /** Sends the terminal's size. */
  setWindow(rows: number, columns: number, height: number, width: number): void {
    const size = [columns, rows, width, height].map(uint32);
    this.#tell('window-change', size);
  }

  /**
   * Handles a server's message for this channel, already read up to the channel number.
   * @throws Error for a message that breaks the protocol
   */
  receive(type: number, message: WireReader): void {
    switch (type) {
      case SSH.channelWindowAdjust:
        this.#room += message.uint32();
        this.#pump();
        break;
      case SSH.channelData:
        this.#receiveData(message.string());
        break;
      case SSH.channelExtendedData: {
        message.uint32(); // stderr is the only kind
        const bytes = message.string();
        this.#count(bytes);
        this.stderr.emit('data', bytes);
        this.#grant(bytes.length);
        break;
      }
      case SSH.channelEof:
        if (this.#eof === 'none') this.#eof = 'received';
        this.#deliver();
        break;
      case SSH.channelRequest:
        this.#receiveRequest(message);
        break;
      case SSH.channelSuccess:
      case SSH.channelFailure:
        this.#replies.shift()?.(type === SSH.channelSuccess);
        break;
      case SSH.channelClose:
        this.#closeReceived = true;
        this.close();
        this.#deliver();
        break;
      default:
        throw new Error(`message ${type} for a channel`);
    }
  }

  /** Whether the channel is finished, so that its number may be reused. */
  get isOver(): boolean {
    return this.#closeSent && this.#closeReceived;
  }

  /**
   * The connection is gone. This is not the end of the data, so only `close` is
   * reported.
   */
  abandon(): void {
    if (this.#over) return;
    this.#received = [];
    this.#writes = [];
    this.#closeSent = true;
    this.#closeReceived = true;
    this.#eof = 'told';
    this.#paused = false;
    this.#deliver();
  }

  #tell(name: string, parts: readonly Uint8Array[]): void {
    if (this.#closeSent) return;
    const head = [uint32(this.#peer), string(name), byte(0)];
    this.#send(SSH.channelRequest, [...head, ...parts]);
  }

  #receiveData(bytes: Buffer): void {
    this.#count(bytes);
    if (this.#closeSent) return;
    this.#received.push(bytes);
    this.#deliver();
  }

  #count(bytes: Buffer): void {
    this.#granted -= bytes.length;
    if (this.#granted < 0) throw new Error('received more data than the window allows');
  }

  #receiveRequest(message: WireReader): void {
    const name = message.string().toString('latin1');
    const wantsReply = message.byte() !== 0;
    if (name === 'exit-status') this.emit('exit', message.uint32());
    else if (name === 'exit-signal') {
      this.emit('exit', null, `SIG${message.string().toString('latin1')}`);
    } else if (wantsReply && !this.#closeSent) {
      this.#send(SSH.channelFailure, [uint32(this.#peer)]);
    }
  }

  /** Delivers what has arrived, in order: data, its end, the close. */
  #deliver(): void {
    while (!this.#paused && this.#received.length > 0) {
      const bytes = this.#received.shift()!;
      this.emit('data', bytes);
      this.#grant(bytes.length);
    }
    if (this.#received.length > 0) return;
    if (this.#eof === 'received' || (this.#closeReceived && this.#eof === 'none')) {
      this.#eof = 'told';
      this.emit('end');
    }
    if (this.#closeReceived && !this.#over) {
      this.#over = true;
      this.#replies.splice(0).forEach((reply) => {
        reply(false);
      });
      this.emit('close');
    }
  }

  /**
   * Half a window at a time, because an update for every packet would double the number
   * of messages.
   */
  #grant(bytes: number): void {
    this.#read += bytes;
    if (this.#read < WINDOW / 2 || this.#closeSent) return;
    this.#granted += this.#read;
    this.#send(SSH.channelWindowAdjust, [uint32(this.#peer), uint32(this.#read)]);
    this.#read = 0;
  }

  /** Sends as much written data as the server has room for. */
  #pump(): void {
    while (this.#writes.length > 0 && !this.#closeSent) {
      const write = this.#writes[0]!;
      const size = Math.min(
        write.rest.length,
        this.#room,
        this.#peerPacket,
        LARGEST_PACKET,
      );
      if (size === 0 && write.rest.length > 0) return;
      const piece = write.rest.subarray(0, size);
      write.rest = write.rest.subarray(size);
      this.#room -= size;
      const last = write.rest.length === 0;
      if (last) this.#writes.shift();
      this.#send(
        SSH.channelData,
        [uint32(this.#peer), string(piece)],
        last ? write.done : undefined,
      );
    }
    if (this.#ending && !this.#eofSent && !this.#closeSent) {
      this.#eofSent = true;
      this.#send(SSH.channelEof, [uint32(this.#peer)]);
    }
  }
}
