/** A place that the rail and the palette offer. */
import type House from '@lucide/svelte/icons/house';
import type { Route } from '../../state/places/route.ts';

export interface RailPlace {
  readonly title: string;
  readonly icon: typeof House;
  readonly to: Route;
  /** Keys that go there, as commands have them. */
  readonly shortcuts?: readonly string[];
}
