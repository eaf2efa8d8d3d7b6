/** `[user@]host[:port]`, as ssh, scp and ProxyJump take it; also as an ssh:// address. */
import { checkHostName, checkPort, checkUserName } from '../target.ts';

export interface Destination {
  readonly name: string;
  readonly user?: string | undefined;
  readonly port?: number | undefined;
}

/** @throws GradwireError `SSH_TARGET_INVALID` */
export function parseDestination(text: string): Destination {
  const plain = text.replace(/^ssh:\/\//, '').replace(/\/$/, '');
  // A user name may contain an @: the last one counts.
  const at = plain.lastIndexOf('@');
  const user = at < 0 ? undefined : plain.slice(0, at);
  const rest = plain.slice(at + 1);
  const bracketed = /^\[([^\]]*)\](?::(.*))?$/.exec(rest);
  // Several colons without brackets: an IPv6 address, and no port.
  const withPort = /^([^:]*):([^:]*)$/.exec(rest);
  const [, name, digits] = bracketed ?? withPort ?? [undefined, rest, undefined];
  const port = digits === undefined ? undefined : portOf(digits);
  checkHostName(name!);
  if (user !== undefined) checkUserName(user);
  if (port !== undefined) checkPort(port, digits);
  return { name: name!, user, port };
}

/** Not a number where the text is none: the check of the port says so. */
const portOf = (digits: string): number =>
  /^\d+$/.test(digits) ? Number(digits) : Number.NaN;

/** The value of ProxyJump. @throws GradwireError `SSH_TARGET_INVALID` */
export function parseJumps(text: string): readonly Destination[] {
  return text.split(',').map((one) => parseDestination(one.trim()));
}
