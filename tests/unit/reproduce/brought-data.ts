/** The data of all figures at full scale, a few samples of each, in one directory. */
import { directoryOf, idxBytes } from '../training/idx-fixtures.ts';

const SAMPLES = 40;
const CIFAR_RECORD = 3073;

/** Removed after the test. */
export function broughtData(): string {
  const batches = [1, 2, 3, 4, 5].map((number) => `data_batch_${number}.bin`);
  const pictures = Buffer.alloc(SAMPLES * CIFAR_RECORD);
  return directoryOf({
    'train-images-idx3-ubyte': idxBytes([SAMPLES, 28, 28]),
    'train-labels-idx1-ubyte': idxBytes([SAMPLES], 10),
    't10k-images-idx3-ubyte': idxBytes([SAMPLES, 28, 28]),
    't10k-labels-idx1-ubyte': idxBytes([SAMPLES], 10),
    ...Object.fromEntries(
      [...batches, 'test_batch.bin'].map((name) => [name, pictures]),
    ),
    'train.txt': linesOf((n) =>
      [n % 2, ...Array<number>(13).fill(n), ...Array<string>(26).fill('68fd1e64')].join(
        '\t',
      ),
    ),
    url_combined: linesOf((n) => `${n % 2 === 0 ? '+1' : '-1'} 4:0.5 3231961:1`),
    'webspam_wc_normalized_trigram.svm': linesOf(
      (n) => `${n % 2 === 0 ? 1 : -1} 7:0.5 16609143:1`,
    ),
  });
}

const linesOf = (line: (n: number) => string): Buffer =>
  Buffer.from(Array.from({ length: SAMPLES }, (_, n) => `${line(n)}\n`).join(''));
