/** The number of servers, only for collectives that have servers. */
import type { Catalogue } from '../../../shared/catalogue/catalogue.ts';

type Collectives = Pick<Catalogue, 'collectives'>;

/** Whether a form shows the field; an existing number can be removed. */
export function asksForServers(
  catalogue: Collectives | undefined,
  exchange: { readonly collective?: unknown; readonly servers?: unknown },
): boolean {
  const { collective, servers } = exchange;
  return servers !== undefined || hasServers(catalogue, collective);
}

/** Whether that collective has servers. */
export const hasServers = (
  catalogue: Collectives | undefined,
  collective: unknown,
): boolean =>
  catalogue?.collectives.find(({ id }) => id === collective)?.hasServers === true;
