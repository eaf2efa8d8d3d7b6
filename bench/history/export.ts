/** The cost of an export for main: `gradwire serve` sends pieces as fast as they are asked for. */
import { readFileSync } from 'node:fs';
import type { PieceFormat } from '../../src/shared/records/export-format.ts';
import type { ExportPiece, ExportPlace } from '../../src/shared/rpc/run-pieces.ts';
import type { Server } from '../../tests/harness/server.ts';
import { connectTo } from '../../tests/integration/serve/socket-connection.ts';
import type { Measurement } from '../report.ts';

export async function measureExport(
  server: Server,
  run: string,
  name: string,
  { format, seconds }: { readonly format: PieceFormat; readonly seconds: number },
): Promise<readonly Measurement[]> {
  const connection = await connectTo(server.url);
  try {
    const start = performance.now();
    let [bytes, largest, pieces] = [0, 0, 0];
    let place: ExportPlace | undefined;
    do {
      const piece: ExportPiece = await connection.api.exportRun(run, format, place);
      const length = Buffer.byteLength(piece.text);
      bytes += length;
      largest = Math.max(largest, length);
      pieces++;
      place = piece.next;
    } while (place !== undefined && performance.now() - start < seconds * 1000);
    const took = (performance.now() - start) / 1000;
    const status = readFileSync(`/proc/${server.pid}/status`, 'utf8');
    const end = place === undefined ? 'all of it' : `up to iteration ${place.from}`;
    return [
      {
        name: `${name}: export as ${format}`,
        value: bytes / 1e6 / took,
        unit: 'MB/s',
        note: `${end}: ${(bytes / 1e6).toFixed(0)} MB in ${pieces} pieces, the largest ${(largest / 1e6).toFixed(1)} MB`,
      },
      {
        name: `${name}: memory of main after it`,
        value: Number(/VmHWM:\s+(\d+) kB/.exec(status)![1]) / 1000,
        unit: 'MB',
        goal: 300,
        note: 'peak resident set of serve since its start',
      },
    ];
  } finally {
    connection.close();
  }
}
