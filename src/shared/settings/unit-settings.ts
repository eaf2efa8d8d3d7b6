/** Settings of the units in which quantities are shown. */
import type { DisplayUnits } from '../words/display-units.ts';
import type { Setting, Settings } from './setting.ts';

export const unitSettings = [
  {
    key: 'units.bytes',
    kind: 'choice',
    title: 'Bytes',
    help: 'Prefixes of bytes on the page, in tables of commands and in reports. Exports have bytes.',
    default: 'decimal',
    choices: [
      { value: 'decimal', title: 'Decimal: 1 MB is 1,000,000 B' },
      { value: 'binary', title: 'Binary: 1 MiB is 1,048,576 B' },
    ],
  },
  {
    key: 'units.rates',
    kind: 'choice',
    title: 'Bandwidths',
    help: 'Unit of the bandwidth of a link. Specs take both.',
    default: 'bits',
    choices: [
      { value: 'bits', title: 'Bits: 1 Gbit/s' },
      { value: 'bytes', title: 'Bytes: 125 MB/s' },
    ],
  },
  {
    key: 'units.clock',
    kind: 'choice',
    title: 'Clock',
    help: 'The clock on which moments are shown. Exports have milliseconds since 1970.',
    default: 'local',
    choices: [
      { value: 'local', title: 'Of this computer' },
      { value: 'utc', title: 'UTC' },
    ],
  },
] as const satisfies readonly Setting[];

/** The units that the settings choose. */
export const unitsOf = (settings: Settings): DisplayUnits => ({
  bytes: settings['units.bytes'] === 'binary' ? 'binary' : 'decimal',
  rates: settings['units.rates'] === 'bytes' ? 'bytes' : 'bits',
  clock: settings['units.clock'] === 'utc' ? 'utc' : 'local',
});
