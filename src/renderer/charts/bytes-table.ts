/** Bytes per rank and iteration as a table. */
import { meanOf, type Bin } from '../state/history/bin.ts';
import {
  iterationCell,
  valueCell,
  type TableCell,
  type TableTwin,
} from './table-twin.ts';

const whole = (value: number | undefined): TableCell =>
  valueCell(value, (bytes) => String(Math.round(bytes)));

export const bytesTable = (bins: readonly Bin[]): TableTwin => ({
  columns: ['iteration', 'wire sent B', 'wire received B', 'payload B', 'dense B'],
  rows: bins.map((bin) => ({
    key: bin.from,
    cells: [
      iterationCell(bin),
      whole(meanOf(bin, 'wireSent')),
      whole(meanOf(bin, 'wireReceived')),
      whole(meanOf(bin, 'payload')),
      whole(meanOf(bin, 'dense')),
    ],
  })),
});
