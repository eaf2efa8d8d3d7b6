/** How many ranks are servers: asked of those collectives alone that have some. */
import type { Catalogue } from '../../shared/catalogue.ts';

type Collectives = Pick<Catalogue, 'collectives'>;

/** Whether a form has a field for it: a number that is there already can be taken away. */
export function asksForServers(
  catalogue: Collectives | undefined,
  exchange: { readonly collective?: unknown; readonly servers?: unknown },
): boolean {
  const { collective, servers } = exchange;
  return servers !== undefined || hasServers(catalogue, collective);
}

/** Whether some ranks are servers in that collective. */
export const hasServers = (
  catalogue: Collectives | undefined,
  collective: unknown,
): boolean =>
  catalogue?.collectives.find(({ id }) => id === collective)?.hasServers === true;
