/** `[user@]host[:port]`, as ssh, scp and ProxyJump take it: taken apart and put together. */

/** Parts of a destination as they were written; nothing is checked. */
export interface DestinationParts {
  /** The host without brackets. */
  readonly host: string;
  readonly user?: string;
  readonly port?: string;
}

/** Splits a destination or an ssh:// address. Brackets tell an IPv6 address from its port. */
export function splitDestination(text: string): DestinationParts {
  const plain = text.replace(/^ssh:\/\//, '').replace(/\/$/, '');
  // A user name may contain an @: the last one counts.
  const at = plain.lastIndexOf('@');
  const rest = plain.slice(at + 1);
  const bracketed = /^\[([^\]]*)\](?::(.*))?$/.exec(rest);
  // Several colons without brackets: an IPv6 address, and no port.
  const withPort = /^([^:]*):([^:]*)$/.exec(rest);
  const [, host = rest, port] = bracketed ?? withPort ?? [];
  return {
    host,
    ...(at < 0 ? {} : { user: plain.slice(0, at) }),
    ...(port === undefined ? {} : { port }),
  };
}

/** The text that `splitDestination` takes apart so; empty without a host. */
export function joinDestination({ host, user, port }: DestinationParts): string {
  if (host === '') return '';
  const where = port === undefined ? host : `${bracketed(host)}:${port}`;
  return user === undefined ? where : `${user}@${where}`;
}

/** `host:port` in messages; an IPv6 address in brackets. */
export const hostAndPort = (host: string, port: number): string =>
  `${bracketed(host)}:${port}`;

const bracketed = (host: string): string => (host.includes(':') ? `[${host}]` : host);
