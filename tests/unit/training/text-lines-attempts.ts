/** Attempts at text files with a sample in each line: what their formats have in common. */
import { appendFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { piecesOf } from '../../../src/agent/training/datasets/data-file.ts';
import { ShardCollector } from '../../../src/agent/training/datasets/sparse-samples.ts';
import { file, type Attempt, type Attempts } from './data-attempts.ts';
import { CRITEO, CSV, HALVES, MARK, SVM, TSV, wide } from './data-samples.ts';

const LINES: Readonly<Record<string, string>> = {
  svmlight: SVM,
  csv: CSV,
  criteo: CRITEO,
  trigrams: TSV,
};
/** For each format of lines. */
const each = (attempt: (text: string, dataset: string) => Attempt): Attempt[] =>
  Object.entries(LINES).map(([dataset, text]) => attempt(text, dataset));
/** For each that may have a test part beside it. */
const ofTwoFiles: typeof each = (attempt) =>
  each(attempt).filter(({ dataset }) => dataset !== 'trigrams');

/** More text while a file is being read. */
function appendWhileRead(place: string): void {
  const pieces = piecesOf(place);
  pieces.next();
  appendFileSync(place, '0,1\n');
  Array.from(pieces);
}

export const textLines: Attempts = {
  'Text files': {
    "lines that end with `\\n`, `\\r\\n`, or the file's end": [
      ...each((lines, dataset) => file(dataset, lines, { parts: HALVES })),
      ...each((lines, dataset) =>
        file(dataset, lines.slice(0, -1).replaceAll('\n', '\r\n'), { parts: HALVES }),
      ),
    ],
    'empty lines': each((lines, dataset) =>
      file(dataset, lines.replaceAll('\n', '\n\n'), { parts: HALVES }),
    ),
    'more than 67,108,864 empty lines in a row': [
      file(
        'svmlight',
        gzipSync(Buffer.concat([Buffer.from(SVM), Buffer.alloc(80_000_000, '\n')])),
        { says: 'some.data, line 21: more than 67108864 empty lines' },
      ),
    ],
    'UTF-8 with a byte order mark': each((lines, dataset) =>
      file(dataset, MARK + lines, { parts: HALVES }),
    ),
    'a gzipped file, whatever its name': each((lines, dataset) =>
      file(dataset, gzipSync(MARK + lines), { parts: HALVES }),
    ),
    'a file named `.gz` that is not gzipped': each((lines, dataset) =>
      file(dataset, lines, { name: 'some.gz', parts: HALVES }),
    ),
    'a gzipped file of several parts, or padded with zeros': each((lines, dataset) =>
      file(
        dataset,
        Buffer.concat([
          ...[lines.slice(0, 50), lines.slice(50)].map((part) => gzipSync(part)),
          Buffer.alloc(512),
        ]),
        { parts: HALVES },
      ),
    ),
    'a gzipped test part `NAME.t.gz` beside `NAME.gz`': ofTwoFiles((lines, dataset) =>
      file(dataset, gzipSync(lines), {
        ...{ name: 'some.gz', files: { 'some.t.gz': gzipSync(lines) } },
        parts: [20, 20],
      }),
    ),
    'a test part without samples': [
      file('svmlight', SVM, { files: { 'some.data.t': '# none\n' }, parts: [20, 0] }),
      file('csv', CSV, { files: { 'some.data.t': 'label,x\n' }, parts: [20, 0] }),
    ],
    'fewer than ten samples and no test part': [
      file('svmlight', '1 1:1\n-1 2:1\n', { parts: [2, 0] }),
      file('csv', 'label,x\n0,1\n1,2\n', { parts: [2, 0] }),
    ],
    'a gzipped file that is cut short': each((lines, dataset) =>
      file(dataset, gzipSync(lines).subarray(0, -9), {
        says: 'unexpected end of file',
      }),
    ),
    'a gzipped file with a wrong checksum': each((lines, dataset) => {
      const bytes = gzipSync(lines);
      bytes[bytes.length - 6]! ^= 1;
      return file(dataset, bytes, { says: 'incorrect data check' });
    }),
    'a gzipped file with something behind its end': each((lines, dataset) =>
      file(dataset, Buffer.concat([gzipSync(lines), Buffer.from(lines)]), {
        says: 'incorrect header check',
      }),
    ),
    'a gzipped file with zeros between its parts': each((lines, dataset) => {
      const part = gzipSync(lines);
      const parts = Buffer.concat([part, Buffer.alloc(512), part]);
      return file(dataset, parts, { says: `byte ${part.length + 512} is not 0` });
    }),
    'a file that is gzipped twice': each((lines, dataset) =>
      file(dataset, gzipSync(gzipSync(lines)), { says: 'gzipped twice' }),
    ),
    'bzip2, xz, Zstandard, ZIP, 7-Zip, Parquet, HDF5': [
      file('csv', Buffer.from('BZh91AY&SY'), { says: 'compressed by bzip2' }),
      file('csv', Buffer.from('fd377a585a0000', 'hex'), { says: 'compressed by xz' }),
      file('criteo', Buffer.from('28b52ffd00', 'hex'), { says: 'by Zstandard' }),
      file('svmlight', Buffer.from('PK\x03\x04..'), { says: 'a ZIP archive' }),
      file('svmlight', Buffer.from('377abcaf271c', 'hex'), { says: '7-Zip' }),
      file('trigrams', Buffer.from('PAR1....'), { says: 'Parquet' }),
      file('csv', gzipSync(Buffer.from('\x89HDF\r\n', 'latin1')), { says: 'HDF5' }),
    ],
    'UTF-16 or UTF-32 with a byte order mark': [
      ...each((lines, dataset) =>
        file(dataset, wide(MARK + lines), { says: 'text in UTF-16' }),
      ),
      file('csv', wide(MARK + CSV).swap16(), { says: 'text in UTF-16' }),
      file('csv', Buffer.from('fffe00006c000000', 'hex'), { says: 'text in UTF-32' }),
    ],
    'a zero byte, as in UTF-16 without a mark': each((lines, dataset) =>
      file(dataset, wide(lines), {
        says: 'some.data, line 1, column 2: a zero byte',
      }),
    ),
    'a line of more than 64 MiB, gzipped or not': [
      file('svmlight', gzipSync(Buffer.alloc(80_000_000, '#')), {
        says: 'line 1: longer',
      }),
    ],
    'a file without samples': [
      file('svmlight', '# none\n', { says: '0 training samples' }),
      file('svmlight', ''),
      file('csv', ''),
      file('criteo', '\n', { says: 'no samples' }),
      file('trigrams', gzipSync(''), { says: '0 labels' }),
    ],
    'fewer samples than ranks': each((lines, dataset) =>
      file(dataset, lines, { request: { world: 19 }, says: '18 training samples' }),
    ),
    'no path, no such file, a directory, a named pipe': Object.keys(LINES).flatMap(
      (dataset) => [
        { dataset },
        { dataset, name: 'none', says: 'does not exist' },
        { dataset, name: '.', says: 'is not a file' },
        { dataset, name: 'pipe', files: { pipe: 'PIPE' }, says: 'is not a file' },
      ],
    ),
    'a directory with the name of the test part': ofTwoFiles((lines, dataset) =>
      file(dataset, lines, { files: { 'some.data.t': 'DIRECTORY' } }),
    ),
    'a file that changes while it is read': [
      file('csv', CSV, { work: appendWhileRead, says: 'some.data changed' }),
      file('csv', gzipSync(CSV), {
        work: appendWhileRead,
        says: 'some.data changed',
      }),
      file('svmlight', SVM, {
        says: 'the data has 3 samples, but had 4 a moment before',
        work() {
          const counted = new ShardCollector({ train: 4, test: 0 }, 0, 1);
          for (let n = 0; n < 3; n++) counted.ofTrain(n);
          counted.shard();
        },
      }),
    ],
  },
};
