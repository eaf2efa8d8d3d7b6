/**
 * The process that predicts steps for a page or a command: it times the methods on this computer,
 * so nobody else should wait in the same thread. Its arguments: the file in which times are kept,
 * and Gradwire's version. It ends with its parent.
 */
import { toErrorData } from '../../shared/errors/errors.ts';
import {
  forecastCallSchema,
  type ForecastAnswer,
  type ForecastQuestion,
  type ForecastReply,
} from '../../shared/forecast/forecast-question.ts';
import { checkedMessage } from '../../shared/protocol/checked-message.ts';
import { parseExperimentSpec } from '../../shared/spec/experiment-spec.ts';
import { ignoreWarningSignals } from '../bundle/warning-signals.ts';
import { inspectSpec } from '../training/inspect/inspect-spec.ts';
import type { SpecFacts } from '../training/data-facts.ts';
import { forecastWorlds } from './forecast-spec.ts';
import { KeptRehearsals } from './kept-rehearsals.ts';
import { specMemory, stepMemory } from './spec-memory.ts';

ignoreWarningSignals();
process.on('uncaughtException', fail);
process.on('unhandledRejection', fail);
const [file = '', version = ''] = process.argv.slice(2);
const kept = new KeptRehearsals(file, version);

async function answerTo(question: ForecastQuestion): Promise<ForecastAnswer> {
  const spec = parseExperimentSpec(question.spec);
  const known = await inspectSpec(spec);
  kept.begin();
  const { candidates, elements } = await forecastWorlds(spec, {
    ...question,
    known,
    rehearse: (buckets) => kept.of(buckets, question.rehearse),
  });
  const memory = question.memory ? await memoryOf(spec, question, known) : undefined;
  return { worlds: candidates, elements, memory };
}

/** Steps that were traced, by what they depend on: a trace takes seconds. */
const traced = new Map<string, ReturnType<typeof stepMemory>>();

async function memoryOf(
  spec: ReturnType<typeof parseExperimentSpec>,
  {
    allotted,
    elements,
    worlds,
  }: Pick<ForecastQuestion, 'allotted' | 'elements' | 'worlds'>,
  known: SpecFacts,
): Promise<ForecastAnswer['memory']> {
  const counts = worlds.map(({ ranks }) => ranks);
  // Of a model of another size there is no step to trace.
  const step =
    elements === undefined ? await tracedStep(spec, known, allotted) : undefined;
  return specMemory(spec, counts, known, step, elements, allotted).map(
    ({ parts }) => parts,
  );
}

async function tracedStep(
  spec: ReturnType<typeof parseExperimentSpec>,
  known: SpecFacts,
  allotted: boolean | undefined,
): ReturnType<typeof stepMemory> {
  const { backend, optimizer, parallelism, workload } = spec;
  const key = JSON.stringify([allotted, backend, optimizer, parallelism, workload]);
  const tracing = traced.get(key) ?? stepMemory(spec, known, allotted);
  traced.set(key, tracing);
  tracing.catch(() => traced.delete(key));
  return await tracing;
}

async function reply(raw: unknown): Promise<void> {
  let id: number | undefined;
  try {
    const refusal = { code: 'REQUEST_INVALID', what: 'the question' } as const;
    const call = checkedMessage(forecastCallSchema, raw, refusal);
    ({ id } = call);
    send({ id, answer: await answerTo(call.question) });
  } catch (error) {
    send({ id, error: toErrorData(error) });
  }
}

/** Replies to a caller that may be gone, which ends this process, too. */
function send(answer: ForecastReply): void {
  process.send!(answer, () => undefined);
}

/** Tells what nothing else caught. It may belong to any question, so it ends all of them. */
function fail(thrown: unknown): void {
  process.send!({ error: toErrorData(thrown) }, () => process.exit(1));
}

/** One at a time, because methods that are timed side by side would disturb each other. */
let last: Promise<void> = Promise.resolve();
process.on('message', (raw) => {
  last = last.then(() => reply(raw));
});
process.on('disconnect', () => process.exit());
