/** `workload` in a spec: the model, its data and what a step takes of them. */
import { z } from 'zod';
import { programKeys } from './program-spec.ts';
import '../checks/spec-key.ts';

const columnName = z.string().min(1);

/** Most characters in a model's file. */
export const MOST_MODEL_SOURCE = 256_000;

const syntheticSchema = z.strictObject({
  profile: z
    .string()
    .optional()
    .describe('Network whose layer sizes to use')
    .meta({ title: 'Profile' }),
  layers: z
    .array(
      z
        .int()
        .min(1)
        .max(2 ** 29),
    )
    .min(1)
    .max(10_000)
    .optional()
    .describe('Elements of each layer, first to last, in place of a profile'),
  computeMs: z
    .number()
    .min(0)
    .max(3_600_000)
    .optional()
    .describe('Compute time in milliseconds; default: as on a 10 TFLOP/s GPU')
    .meta({ title: 'Compute time, ms' }),
  distribution: z
    .enum(['normal', 'laplace'])
    .default('normal')
    .describe('Distribution of its values'),
  overlap: z
    .number()
    .min(0)
    .max(1)
    .default(0.5)
    .describe('Fraction of the values that is the same on all ranks')
    .meta({ title: 'Shared by all ranks' }),
});
export type SyntheticSpec = z.infer<typeof syntheticSchema>;

export const workloadSchema = z.strictObject({
  model: z
    .string()
    .describe('Model to train: a name, your own file, or program for a command')
    .meta({ title: 'Model' }),
  modelSource: z
    .string()
    .max(MOST_MODEL_SOURCE)
    .optional()
    .describe('Contents of the model’s file; filled in when the spec is read'),
  dataset: z.string().describe('Data set to train on').meta({ title: 'Data set' }),
  data: z
    .string()
    .optional()
    .describe('File of the data set, or directory of its files')
    .meta({ title: 'File or directory' }),
  samples: z
    .int()
    .min(10)
    .max(100_000_000)
    .optional()
    .describe('Samples that a generated click log has, including those for testing')
    .meta({ title: 'Samples' }),
  features: z
    .int()
    .min(1)
    .max(2 ** 30)
    .optional()
    .describe(
      'Number of features of sparse samples, which is the number of weights of a linear model',
    )
    .meta({ title: 'Features' }),
  columns: z
    .strictObject({
      label: columnName
        .optional()
        .describe('Column with the class of a sample; default: label')
        .meta({ title: 'Label column' }),
      numeric: z
        .array(columnName)
        .optional()
        .describe(
          'Numeric columns, such as ["price", "age"]; default: all numeric ones',
        )
        .meta({ title: 'Numeric columns' }),
      categorical: z
        .array(columnName)
        .optional()
        .describe('Categorical columns, such as ["city"]; default: all others')
        .meta({ title: 'Category columns' }),
    })
    .optional()
    .describe('Columns of a CSV file: label [label], numeric, categorical'),
  synthetic: syntheticSchema
    .optional()
    .describe('Size and timing of the gradients that synthetic-gradient generates'),
  batchPerRank: z
    .int()
    .min(1)
    .max(65_536)
    .default(32)
    .describe('Samples per rank')
    .meta({ title: 'Batch per rank' }),
  ...programKeys,
});
