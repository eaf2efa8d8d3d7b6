/** Places of the sliders of a plan, as texts for their fields. */
import { readLink } from './plan-choices.ts';
import { emulatedNetwork } from '../../../shared/machines/emulated-network.ts';

const doubled = (most: number, from = 1): readonly string[] =>
  Array.from({ length: Math.log2(most / from) + 1 }, (_, index) =>
    String(from * 2 ** index),
  );

export const RANK_PLACES = doubled(1024, 2);
export const MACHINE_PLACES = doubled(256);
export const BANDWIDTH_PLACES: readonly string[] = [
  ...['100 Mbit/s', '200 Mbit/s', '500 Mbit/s', '1 Gbit/s', '2 Gbit/s', '5 Gbit/s'],
  ...['10 Gbit/s', '25 Gbit/s', '40 Gbit/s', '100 Gbit/s', '200 Gbit/s', '400 Gbit/s'],
];
export const LATENCY_PLACES: readonly string[] = [
  ...['0 s', '5 µs', '10 µs', '20 µs', '50 µs', '100 µs', '200 µs', '500 µs'],
  ...['1 ms', '2 ms', '5 ms', '10 ms', '50 ms'],
];

/** The number of the place nearest to a value, by ratio; the first for what cannot be read. */
export function nearestPlace(
  places: readonly string[],
  value: string | number,
): number {
  const wanted = sizeOf(value);
  if (!(wanted > 0)) return 0;
  const distance = (place: string): number => {
    const size = sizeOf(place);
    return size > 0 ? Math.abs(Math.log(size / wanted)) : Infinity;
  };
  return places.reduce(
    (best, place, index) => (distance(place) < distance(places[best]!) ? index : best),
    0,
  );
}

/** A count, bit/s or seconds; NaN: neither. */
function sizeOf(value: string | number): number {
  const number = Number(value);
  if (!Number.isNaN(number)) return number;
  const text = String(value);
  try {
    const isRate = /(bit|b|B)(ps|\/s)$/.test(text);
    const link = isRate ? readLink(text) : readLink('1 Gbit/s', text);
    const { bandwidth, latency } = emulatedNetwork(link);
    return isRate ? bandwidth : latency;
  } catch {
    return NaN;
  }
}
