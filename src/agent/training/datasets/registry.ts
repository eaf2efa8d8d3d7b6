/**
 * The data sets, by id. Ours have a line each; others are registered from outside,
 * in each process that is to know them.
 */
import {
  invalidDefinition,
  register,
  type RegistryKind,
} from '../../../shared/catalogue/registry.ts';
import {
  byteDataset,
  sampleLength,
  type ByteDatasetDefinition,
} from './byte-dataset.ts';
import { cifar10 } from './cifar-10.ts';
import { clicks, clicksLarge } from './clicks.ts';
import { criteo } from './criteo.ts';
import { csv } from './csv.ts';
import type { Dataset } from './dataset.ts';
import { digits } from './digits.ts';
import { mnist } from './mnist.ts';
import { reversal } from './reversal.ts';
import { sentences } from './sentences.ts';
import { shapes } from './shapes.ts';
import { sparse } from './sparse.ts';
import { svmlight } from './svmlight.ts';
import { trigrams } from './trigrams.ts';
import { textCharacters } from './text-characters.ts';
import { textWords } from './text-words.ts';
import { text } from './text.ts';

const known = new Map<string, Dataset>(
  [
    ...[digits, mnist, shapes, cifar10],
    ...[sentences, text, textCharacters, textWords, reversal],
    ...[sparse, svmlight, trigrams],
    ...[clicks, clicksLarge, criteo, csv],
  ].map((dataset) => [dataset.id, dataset]),
);
export const datasets: ReadonlyMap<string, Dataset> = known;

const KIND: RegistryKind = { code: 'DATASET', noun: 'data set' };
/** A label is a byte. */
const MOST_CLASSES = 256;

/**
 * Makes a data set known to this process.
 * @throws GradwireError `DATASET_DUPLICATE`; `DATASET_INVALID` for one without fields, for
 * empty samples and for more classes than a byte can name
 */
export function registerDataset(dataset: Dataset | ByteDatasetDefinition): void {
  register(known, 'fields' in dataset ? checked(dataset) : ofBytes(dataset), KIND);
}

function checked(dataset: Dataset): Dataset {
  const { id, fields } = dataset;
  if (Object.keys(fields).length === 0) {
    throw invalidDefinition(KIND, id, 'its samples have no fields');
  }
  return dataset;
}

function ofBytes(definition: ByteDatasetDefinition): Dataset {
  const { classes, id } = definition;
  if (sampleLength(definition) === 0) {
    throw invalidDefinition(KIND, id, 'its samples are empty');
  }
  if (!(classes >= 1 && classes <= MOST_CLASSES)) {
    throw invalidDefinition(KIND, id, `${classes} classes, not 1 to ${MOST_CLASSES}`);
  }
  return byteDataset(definition);
}
