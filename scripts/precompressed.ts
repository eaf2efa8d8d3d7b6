/**
 * Lays compressed forms beside the renderer's files, once, at the highest levels: the server
 * then compresses nothing while ranks need the cores.
 */
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import type { Plugin } from 'vite';
import { LICENCE_LIST } from './third-party-notices.ts';
import { ENCODINGS, type ContentEncoding } from '../src/main/web/content-encoding.ts';

const TEXT = /^[^.].*\.(html|js|css|svg|json)$/;

/** Below this much the headers of a compressed answer are longer than what it saves. */
const LEAST_BYTES = 256;

const compress: Readonly<
  Record<ContentEncoding['name'], (bytes: Buffer) => Promise<Buffer>>
> = {
  br: (bytes) =>
    promisify(brotliCompress)(bytes, {
      params: {
        [constants.BROTLI_PARAM_MODE]: constants.BROTLI_MODE_TEXT,
        [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length,
      },
    }),
  gzip: (bytes) => promisify(gzip)(bytes, { level: constants.Z_BEST_COMPRESSION }),
};

export function precompressed(): Plugin {
  return {
    name: 'precompressed',
    apply: 'build',
    async writeBundle({ dir }, bundle) {
      const written = Object.values(bundle).map(async (output) => {
        const { fileName } = output;
        const bytes = Buffer.from(
          output.type === 'chunk' ? output.code : output.source,
        );
        if (fileName === LICENCE_LIST) return; // removed again
        if (!TEXT.test(fileName) || bytes.length < LEAST_BYTES) return;
        const forms = ENCODINGS.map(async ({ name, suffix }) => {
          const file = path.join(dir ?? '', `${fileName}${suffix}`);
          await writeFile(file, await compress[name](bytes));
        });
        await Promise.all(forms);
      });
      await Promise.all(written);
    },
  };
}
