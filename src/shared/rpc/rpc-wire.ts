/**
 * The wire format of calls, answers and pushes: birpc's messages as JSON text, the same over a
 * WebSocket and a MessagePort, so that both hosts behave alike. Both ends encode and decode
 * here; messages that cannot be decoded are never acted on.
 */
import { z } from 'zod';
import { GradwireError, toErrorData } from '../errors/errors.ts';
import type { TerminalEvents } from './terminal.ts';
import type { AppEvents } from './rpc.ts';

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
  channel: {
    onMessage(listener: (text: unknown) => void): void;
    close(reason: 'refused'): void;
  },
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
