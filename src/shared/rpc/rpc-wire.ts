/**
 * The wire between a page and its host, at both ends: text on a channel, which is a WebSocket or a
 * MessagePort, and as text birpc's messages in JSON. Calls, answers and pushes are the same on both
 * kinds, so that both hosts behave alike. Messages that cannot be decoded are never acted on.
 */
import { z } from 'zod';
import { GradwireError, toErrorData } from '../errors/errors.ts';
import type { TerminalEvents } from './terminal.ts';
import type { AppEvents } from './rpc.ts';

/** One end of a channel: ordered and reliable while open. It closes once and never reopens. */
export interface RpcChannel {
  /** Sends one message. A message posted after the close is dropped. */
  post(text: string): void;
  /** Sets the one listener, before the first message can arrive. */
  onMessage(listener: (text: unknown) => void): void;
  /** Called once, whichever side closed; immediately if it has already closed. */
  onClose(listener: () => void): void;
  /** @param reason `refused`: the other side broke the protocol; default: there is no more to say */
  close(reason?: 'refused'): void;
}

interface PortEvents {
  (event: 'message', listener: (event: { readonly data: unknown }) => void): unknown;
  (event: 'close', listener: () => void): unknown;
}

/** A MessagePort: that of Electron's main process, which has `on`, or a page's. */
interface Port {
  readonly on?: PortEvents;
  readonly addEventListener?: PortEvents;
  postMessage(text: string): void;
  start(): void;
  close(): void;
}

/** A port emits no event when it is closed on its own side, so this channel does. */
export function portChannel(port: Port): RpcChannel {
  const ended = new AbortController();
  const on = (port.on ?? port.addEventListener!).bind(port) as PortEvents;
  on('close', () => ended.abort());
  return {
    post: (text) => {
      if (!ended.signal.aborted) port.postMessage(text);
    },
    onMessage: (listener) => {
      on('message', (event) => listener(event.data));
      port.start();
    },
    onClose: (listener) => {
      if (ended.signal.aborted) listener();
      else ended.signal.addEventListener('abort', listener);
    },
    close: () => {
      port.close();
      ended.abort();
    },
  };
}

/**
 * Calls from main to the renderer. The renderer answers each push once it has processed it:
 * the answers are the flow control.
 */
export interface SessionEvents extends AppEvents, TerminalEvents {
  /**
   * Pushes were dropped because the renderer did not keep up: it must read everything that it
   * shows again.
   */
  resync(): void;
}

const messageSchema = z.discriminatedUnion('t', [
  z.object({
    t: z.literal('q'),
    i: z.string().max(64).optional(),
    m: z.string().max(64),
    a: z.array(z.unknown()),
    o: z.boolean().optional(),
  }),
  z.object({
    t: z.literal('s'),
    i: z.string().max(64),
    r: z.unknown().optional(),
    e: z.unknown().optional(),
  }),
]);

export type RpcMessage = z.infer<typeof messageSchema>;

/** One message as text. A thrown value travels as ErrorData. */
export function encodeRpcMessage(message: unknown): string {
  if (typeof message === 'object' && message !== null && 'e' in message) {
    return JSON.stringify({ ...message, e: toErrorData(message.e) });
  }
  return JSON.stringify(message);
}

/** @throws GradwireError `RPC_MALFORMED`: the text is not a message. */
function decodeRpcMessage(text: unknown): RpcMessage {
  let value: unknown;
  try {
    value = JSON.parse(typeof text === 'string' ? text : '');
  } catch (cause) {
    throw malformed('it is not JSON', cause);
  }
  const parsed = messageSchema.safeParse(value);
  if (!parsed.success) throw malformed('it lacks the fields of a call or an answer');
  return parsed.data;
}

/**
 * Decodes a channel's messages and passes them on. A peer that sends anything else has another
 * version or is malicious: its channel is closed.
 */
export function onDecodedMessage(
  channel: RpcChannel,
  listener: (message: RpcMessage) => void,
): void {
  channel.onMessage((text) => {
    let message: RpcMessage;
    try {
      message = decodeRpcMessage(text);
    } catch (error) {
      if (!(error instanceof GradwireError)) throw error;
      channel.close('refused');
      return;
    }
    listener(message);
  });
}

function malformed(reason: string, cause?: unknown): GradwireError {
  return new GradwireError(
    {
      code: 'RPC_MALFORMED',
      kind: 'failure',
      message: `received a message that is neither a call nor an answer: ${reason}`,
      place: 'rpc',
      next: 'Reload the page so that its version matches Gradwire’s.',
    },
    { cause },
  );
}
