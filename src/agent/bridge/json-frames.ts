/** Frames of JSON, as programs in other languages send and get them. */
import { FrameDecoder, frameOf } from '../../shared/protocol/frame.ts';

export const encodeJson = (message: object): Uint8Array =>
  frameOf(Buffer.from(JSON.stringify(message)));

/** @param check takes the value of a frame, or the beginning of its text if that is no JSON */
export const jsonDecoder = <T>(check: (raw: unknown) => T): FrameDecoder<T> =>
  new FrameDecoder(undefined, (body) => check(parsed(body)));

/** The text of what is no JSON, cut, so that the error shows it. */
function parsed(body: Uint8Array): unknown {
  const text = Buffer.from(body.buffer, body.byteOffset, body.length).toString();
  try {
    return JSON.parse(text);
  } catch {
    return text.slice(0, 100);
  }
}
