/** `[user@]host[:port]`, as ssh, scp and ProxyJump take it; also as an ssh:// address. */
import { splitDestination } from '../../../shared/machines/destination.ts';
import { checkHostName, checkPort, checkUserName } from '../target.ts';

export interface Destination {
  readonly name: string;
  readonly user?: string | undefined;
  readonly port?: number | undefined;
}

/** @throws GradwireError `SSH_TARGET_INVALID` */
export function parseDestination(text: string): Destination {
  const { host: name, user, port: digits } = splitDestination(text);
  const port = digits === undefined ? undefined : portOf(digits);
  checkHostName(name);
  if (user !== undefined) checkUserName(user);
  if (port !== undefined) checkPort(port, digits);
  return { name, user, port };
}

/** NaN if the text is not a number; the check of the port reports it. */
const portOf = (digits: string): number =>
  /^\d+$/.test(digits) ? Number(digits) : Number.NaN;

/** The value of ProxyJump. @throws GradwireError `SSH_TARGET_INVALID` */
export function parseJumps(text: string): readonly Destination[] {
  return text.split(',').map((one) => parseDestination(one.trim()));
}
