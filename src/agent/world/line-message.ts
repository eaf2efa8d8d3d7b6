/** Messages between a rank's process and its parent, as either end takes them. */
import { z } from 'zod';
import { checkedMessage, type Refusal } from '../../shared/protocol/checked-message.ts';

/** @throws GradwireError if it is no such message */
export type Parse<Message> = (raw: unknown) => Message;

const section = z.custom(
  (value) => typeof value === 'object' && value !== null,
  'expected a section with keys',
);

/** A message between processes of one command, of which each trusts the other's fields. */
export function anyMessage<Message>(raw: unknown, refusal: Refusal): Message {
  return checkedMessage(section, raw, refusal) as Message;
}
