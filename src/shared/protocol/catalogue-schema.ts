/** Schema of an agent's catalogue, as its hello carries it. */
import { z } from 'zod';
import type { Catalogue } from '../catalogue/catalogue.ts';
import type { JsonObject, JsonValue } from '../checks/json.ts';

const MOST_ENTRIES = 1000;
const id = z.string().max(200);
const text = z.string().max(10_000);
const many = <S extends z.ZodType>(schema: S): z.ZodReadonly<z.ZodArray<S>> =>
  z.array(schema).max(MOST_ENTRIES).readonly();

const payloadKind = z.enum(['dense', 'sparse', 'quantized', 'scalars']);

const parameter = z.object({
  key: id,
  type: z.enum(['number', 'integer', 'boolean', 'choice', 'text']),
  title: text,
  description: text,
  default: (z.json() as z.ZodType<JsonValue>).optional(),
  minimum: z.number().optional(),
  maximum: z.number().optional(),
  choices: many(text).optional(),
});

const method = z.object({
  id,
  title: text,
  summary: text,
  source: text,
  suits: text.optional(),
  payload: payloadKind,
  reducible: z.boolean(),
  uncompressed: z.boolean().optional(),
  invitation: (z.record(z.string(), z.json()) as z.ZodType<JsonObject>).optional(),
  schedules: many(z.object({ iterations: id, start: id.optional() })).optional(),
  apartBelow: id.optional(),
  residual: z.boolean(),
  residualOf: text.optional(),
  residualIf: id.optional(),
  replicas: z.enum(['identical', 'drift']),
  collectives: many(id),
  parameters: many(parameter),
});

const collective = z.object({
  id,
  title: text,
  summary: text,
  source: text,
  formula: text.optional(),
  suits: text.optional(),
  takes: many(payloadKind),
  hasServers: z.boolean().optional(),
});

const model = z.object({
  id,
  title: text,
  summary: text,
  parameterCount: z.number().min(0).optional(),
});

const dataset = z.object({
  id,
  title: text,
  summary: text,
  needsData: z.boolean(),
  hasFeatures: z.boolean().optional(),
  takesColumns: z.boolean().optional(),
  takesSamples: z.boolean().optional(),
});

const optimizer = z.object({
  id,
  title: text,
  summary: text,
  source: text,
  options: many(id),
  leavesMomentum: z.boolean(),
  trainsTables: z.boolean(),
});

export const catalogueSchema = z.object({
  methods: many(method),
  collectives: many(collective),
  models: many(model),
  datasets: many(dataset),
  optimizers: many(id),
  describedOptimizers: many(optimizer).optional(),
  backends: many(id),
}) satisfies z.ZodType<Catalogue>;
