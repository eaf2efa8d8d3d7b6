/**
 * A supervisor's greeting, the first message on every connection. Of a supervisor of another
 * version only what `READING_VERSION` covers is read.
 */
import { z } from 'zod';
import { checkedMessage, type Refusal } from './checked-message.ts';
import { catalogueSchema } from './catalogue-schema.ts';

export const PROTOCOL_VERSION = 1;

/**
 * Version of the part that watches and stops runs: hello, records, run states and the requests
 * of `READING_METHODS`. It stays when others change, so that an app can watch the runs of a
 * supervisor of another version.
 */
export const READING_VERSION = 1;

const name = z.string().max(255);

const readSchema = z.object({
  type: z.literal('hello'),
  protocol: z.int(),
  /** Default: 1. */
  reading: z.int().optional(),
  version: name,
  pid: z.int().min(0),
  host: name,
  /** Made up when it starts: two links with the same one lead to one machine. Not in older versions. */
  instance: name.optional(),
});

const helloSchema = readSchema.extend({
  cores: z.int().min(1),
  catalogue: catalogueSchema,
});
export type SupervisorHello = Readonly<z.infer<typeof helloSchema>>;

const UNKNOWN: Pick<SupervisorHello, 'cores' | 'catalogue'> = {
  cores: 1,
  catalogue: {
    methods: [],
    collectives: [],
    models: [],
    datasets: [],
    optimizers: [],
    backends: [],
  },
};

/** @throws GradwireError with the refusal's code */
export function parseHello(raw: unknown, refusal: Refusal): SupervisorHello {
  const read = checkedMessage(readSchema, raw, refusal);
  return read.protocol === PROTOCOL_VERSION
    ? checkedMessage(helloSchema, raw, refusal)
    : { ...read, ...UNKNOWN };
}
