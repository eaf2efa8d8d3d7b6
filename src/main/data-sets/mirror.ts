/** A mirror of data sets, whose URL may have a user and a password. */
import { unescape } from 'node:querystring';

export interface Mirror {
  /** The URL without user and password, which are never printed. */
  readonly url: string;
  /** The header that has them; undefined where there are none. */
  readonly authorization: string | undefined;
}

/** @param text an http or https URL; fetch refuses one that has a user or a password */
export function mirrorAt(text: string): Mirror {
  const url = new URL(text);
  const { username, password } = url;
  if (username === '' && password === '')
    return { url: text, authorization: undefined };
  url.username = '';
  url.password = '';
  // Not decodeURIComponent, which throws at a percent sign that stands for itself.
  const pair = Buffer.from(`${unescape(username)}:${unescape(password)}`);
  return { url: url.href, authorization: `Basic ${pair.toString('base64')}` };
}
