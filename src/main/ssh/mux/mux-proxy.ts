/**
 * The control socket of an OpenSSH master in its proxy mode (PROTOCOL.mux, section 5): the
 * messages of RFC 4254 in the clear; the master encrypts them and separates the channels of
 * several clients. So one authenticated connection of `ssh` carries everything, without a
 * process for each command, and remote terminals can be resized without a local one.
 */
import net from 'node:net';
import { MUX, MUX_VERSION, OPEN_FAILURES, SSH } from './messages.ts';
import { LARGEST_PACKET, MuxChannel, WINDOW, type SendMessage } from './mux-channel.ts';
import { byte, frame, FrameSplitter, string, uint32, WireReader } from './wire.ts';

export type ChannelOpened = (error: Error | undefined, channel: MuxChannel) => void;

const LOOPBACK = '127.0.0.1';

export interface TerminalRequest {
  readonly columns: number;
  readonly rows: number;
  readonly term: string;
}

/** An empty list of terminal modes (RFC 4254, section 8). */
const NO_MODES = byte(0);

interface Opening {
  readonly channel: MuxChannel;
  readonly done: ChannelOpened;
}

export class MuxProxy {
  readonly #socket: net.Socket;
  readonly #openings = new Map<number, Opening>();
  readonly #channels = new Map<number, MuxChannel>();
  /** Handlers of connections to ports of the host's loopback. */
  readonly #accepting = new Map<number, (channel: MuxChannel) => void>();
  readonly #ended: (cause: Error | undefined) => void;
  #next = 0;

  private constructor(
    socket: net.Socket,
    ended: (cause: Error | undefined) => void,
    splitter: FrameSplitter,
  ) {
    this.#socket = socket;
    this.#ended = ended;
    let cause: Error | undefined;
    socket.removeAllListeners();
    socket.on('data', (chunk) => {
      try {
        for (const message of splitter.take(chunk)) this.#receive(message);
      } catch (error) {
        cause = error as Error;
        socket.destroy();
      }
    });
    socket.on('error', (error) => {
      cause ??= error;
    });
    socket.on('close', () => {
      this.#ended(cause);
    });
  }

  /**
   * @param ended the socket is closed; channels stay until `abandon`
   * @throws Error if nothing listens, or the listener is not a master
   */
  static connect(
    path: string,
    ended: (cause: Error | undefined) => void,
  ): Promise<MuxProxy> {
    return new Promise((resolve, reject) => {
      const socket = net.connect(path);
      const splitter = new FrameSplitter();
      let greeted = false;
      const fail = (error: Error): void => {
        socket.destroy();
        reject(error);
      };
      socket.once('error', fail);
      socket.once('close', () => {
        fail(new Error('the master closed its control socket'));
      });
      socket.once('connect', () => {
        socket.write(frame(uint32(MUX.hello), uint32(MUX_VERSION)));
        socket.write(frame(uint32(MUX.proxy), uint32(0)));
      });
      socket.on('data', (chunk) => {
        try {
          for (const bytes of splitter.take(chunk)) {
            const message = new WireReader(bytes);
            const type = message.uint32();
            if (!greeted) {
              const version = message.uint32();
              if (type !== MUX.hello || version !== MUX_VERSION) {
                throw new Error(`the master has version ${version}`);
              }
              greeted = true;
            } else if (type === MUX.proxyGranted) {
              // Nothing arrives before the first channel is requested.
              resolve(new MuxProxy(socket, ended, splitter));
              return;
            } else {
              throw new Error(
                'this version of ssh cannot share its connection this way',
              );
            }
          }
        } catch (error) {
          fail(error as Error);
        }
      });
    });
  }

  exec(command: string, done: ChannelOpened): void {
    this.#session(done, (channel, granted) => {
      channel.request('exec', [string(command)], granted);
    });
  }

  shell({ columns, rows, term }: TerminalRequest, done: ChannelOpened): void {
    this.#session(done, (channel, granted) => {
      const size = [columns, rows, 0, 0].map(uint32);
      const terminal = [string(term), ...size, string(NO_MODES)];
      channel.request('pty-req', terminal, (given) => {
        if (given) channel.request('shell', [], granted);
        else granted(false);
      });
    });
  }

  /** A connection from the host to a port. */
  forward(host: string, port: number, done: ChannelOpened): void {
    const from = [string(LOOPBACK), uint32(0)];
    this.#open('direct-tcpip', [string(host), uint32(port), ...from], done);
  }

  /**
   * Asks the host to listen at a port of its loopback. A master does not pass on the
   * answer: only an arriving connection shows that the host listens. Nor does it pass on a
   * cancellation: the host listens until the connection ends.
   */
  listen(port: number, accept: (channel: MuxChannel) => void): void {
    this.accept(port, accept);
    const unanswered = byte(0);
    const where = [string(LOOPBACK), uint32(port)];
    this.#send(SSH.globalRequest, [string('tcpip-forward'), unanswered, ...where]);
  }

  /** Sets the handler of connections to a requested port. */
  accept(port: number, accept: (channel: MuxChannel) => void): void {
    this.#accepting.set(port, accept);
  }

  /** Refuses further connections to the port. */
  refuse(port: number): void {
    this.#accepting.delete(port);
  }

  close(): void {
    this.#socket.destroy();
  }

  /** Ends all channels after the loss of the connection. */
  abandon(): void {
    for (const { channel, done } of [...this.#openings.values()]) {
      done(new Error('the connection is gone'), channel);
    }
    this.#openings.clear();
    const channels = [...this.#channels.values()];
    this.#channels.clear();
    for (const channel of channels) channel.abandon();
  }

  #session(
    done: ChannelOpened,
    start: (channel: MuxChannel, granted: (given: boolean) => void) => void,
  ): void {
    this.#open('session', [], (error, channel) => {
      if (error !== undefined) {
        done(error, channel);
        return;
      }
      start(channel, (given) => {
        if (given) done(undefined, channel);
        else {
          channel.close();
          done(new Error('the server refuses the request'), channel);
        }
      });
    });
  }

  #open(type: string, parts: readonly Uint8Array[], done: ChannelOpened): void {
    const channel = new MuxChannel(this.#next++, this.#send);
    this.#openings.set(channel.id, { channel, done });
    const sizes = [channel.id, WINDOW, LARGEST_PACKET].map(uint32);
    this.#send(SSH.channelOpen, [string(type), ...sizes, ...parts]);
  }

  readonly #send: SendMessage = (type, parts, taken) => {
    // No padding: the master adds it.
    this.#socket.write(frame(byte(0), byte(type), ...parts), () => taken?.());
  };

  #receive(bytes: Buffer): void {
    const message = new WireReader(bytes);
    message.byte(); // the length of the absent padding
    const type = message.byte();
    switch (type) {
      case SSH.globalRequest:
        message.string();
        if (message.byte() !== 0) this.#send(SSH.requestFailure, []);
        return;
      case SSH.channelOpen:
        this.#receiveOpening(message);
        return;
      case SSH.channelOpenConfirmation:
      case SSH.channelOpenFailure:
        this.#receiveOpened(type, message);
        return;
      default: {
        const id = message.uint32();
        const channel = this.#channels.get(id);
        // A late message for a channel that both ends have closed.
        if (channel === undefined) return;
        channel.receive(type, message);
        if (channel.isOver) this.#channels.delete(id);
      }
    }
  }

  /** Accepts connections to ports that we requested; agents and displays are not forwarded. */
  #receiveOpening(message: WireReader): void {
    const type = message.string().toString('latin1');
    const [peer, room, packet] = [message.uint32(), message.uint32(), message.uint32()];
    const accept =
      type === 'forwarded-tcpip' && message.string().toString('latin1') === LOOPBACK
        ? this.#accepting.get(message.uint32())
        : undefined;
    if (accept === undefined) {
      const reason = [uint32(1), string('not requested'), string('')];
      this.#send(SSH.channelOpenFailure, [uint32(peer), ...reason]);
      return;
    }
    const channel = new MuxChannel(this.#next++, this.#send);
    this.#channels.set(channel.id, channel);
    channel.confirm(peer, room, packet);
    const sizes = [peer, channel.id, WINDOW, LARGEST_PACKET].map(uint32);
    this.#send(SSH.channelOpenConfirmation, sizes);
    accept(channel);
  }

  #receiveOpened(type: number, message: WireReader): void {
    const id = message.uint32();
    const opening = this.#openings.get(id);
    if (opening === undefined) return;
    this.#openings.delete(id);
    const { channel, done } = opening;
    if (type === SSH.channelOpenConfirmation) {
      this.#channels.set(id, channel);
      channel.confirm(message.uint32(), message.uint32(), message.uint32());
      done(undefined, channel);
    } else {
      const reason = message.uint32();
      const words = message.string().toString('utf8');
      done(new Error(words || (OPEN_FAILURES[reason] ?? `reason ${reason}`)), channel);
    }
  }
}
