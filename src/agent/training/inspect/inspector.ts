/**
 * The process that inspects models from files and data that must be read whole. A user's file
 * is an arbitrary program: it may never end, or exhaust its process, but nothing else.
 */
import { writeSync } from 'node:fs';
import { setImmediate } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { toErrorData } from '../../../shared/errors/errors.ts';
import { encodeFrame, FrameDecoder } from '../../../shared/protocol/frame.ts';
import { ignoreWarningSignals } from '../../bundle/warning-signals.ts';
import {
  invalidModelFile,
  loadModelFile,
  modelFileFault,
  type ModelSource,
} from '../models/model-file.ts';
import { factsOfData } from '../data-facts.ts';
import { layerFacts, type ModelFacts } from '../model-facts.ts';
import { countMultiplyAdds } from './count-multiply-adds.ts';
import { REPLIES, type InspectorReply, type InspectorRequest } from './inspections.ts';
import { stepBytes } from './step-bytes.ts';
import { rehearseModel } from './rehearse-model.ts';

async function inspect(request: InspectorRequest): Promise<InspectorReply> {
  try {
    return { answer: await answerTo(request) };
  } catch (error) {
    return { error: toErrorData(error) };
  }
}

async function answerTo({ kind, question }: InspectorRequest): Promise<unknown> {
  switch (kind) {
    case 'model':
      return await factsOfModel(question);
    case 'work':
      return await ofModelFile(question, async () =>
        countMultiplyAdds(await loadModelFile(question)),
      );
    case 'step':
      return await ofModelFile(question.source, async () =>
        stepBytes(await loadModelFile(question.source), question.rows),
      );
    case 'data':
      return factsOfData(question);
  }
}

/** @throws GradwireError: whatever goes wrong with a model from a file is the file's fault */
async function factsOfModel(source: ModelSource): Promise<ModelFacts> {
  const model = await ofModelFile(source, async () => {
    const found = await loadModelFile(source);
    await rehearseModel(found);
    return found;
  });
  const { id, inputs, tensors } = model;
  return {
    id,
    inputs,
    tensors: tensors.map(({ name, shape, rowsOf }) => ({ name, shape, rowsOf })),
    layers: layerFacts(model),
  };
}

/**
 * Does work on a model's file. Also waits for a promise that the file's code rejects and nothing
 * handles.
 */
async function ofModelFile<T>(
  { name }: ModelSource,
  work: () => Promise<T>,
): Promise<T> {
  const rejected = new Promise<never>((_, reject) => {
    process.once('unhandledRejection', (reason) => {
      reject(modelFileFault(reason, name));
    });
    process.once('uncaughtException', (error) => {
      reject(modelFileFault(error, name));
    });
    // Nothing is left to do, so that what it awaits cannot come.
    process.once('beforeExit', () => {
      reject(invalidModelFile(name, 'it awaits something that never happens'));
    });
  });
  const working = work().catch((error: unknown) => {
    throw modelFileFault(error, name);
  });
  const done = await Promise.race([working, rejected]);
  await Promise.race([rejected, setImmediate()]);
  return done;
}

function writeAll(bytes: Uint8Array): void {
  for (let at = 0; at < bytes.length;) at += writeSync(REPLIES, bytes, at);
}

ignoreWarningSignals();
const decoder = new FrameDecoder<InspectorRequest>();
process.stdin.on('data', (chunk: Buffer) => {
  for (const request of decoder.push(chunk)) {
    void inspect(request).then((reply) => {
      writeAll(encodeFrame(reply));
      process.exit();
    });
  }
});
// If the caller is gone, no answer is needed. This thread may be reading, so another one checks.
new Worker(
  `const { ppid } = process;
  setInterval(() => process.ppid === ppid || process.kill(process.pid, 'SIGKILL'), 500);`,
  { eval: true },
).unref();
