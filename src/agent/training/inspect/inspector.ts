/**
 * The process in which a model from a file is looked at. The file is somebody's program: it
 * may never end, or take what its process has, and nothing else.
 */
import { toErrorData } from '../../../shared/errors.ts';
import { loadModelFile, type ModelSource } from '../models/model-file.ts';
import type { Inspection } from './inspect-model.ts';
import { rehearseModel } from './rehearse-model.ts';

async function inspect(source: ModelSource): Promise<Inspection> {
  try {
    const model = await loadModelFile(source);
    await rehearseModel(model);
    const { id, inputs, tensors } = model;
    return {
      model: {
        ...{ id, inputs },
        tensors: tensors.map(({ name, shape, rowsOf }) => ({ name, shape, rowsOf })),
      },
    };
  } catch (error) {
    return { error: toErrorData(error) };
  }
}

process.once('message', (source) => {
  void inspect(source as ModelSource).then((inspection) =>
    process.send!(inspection, () => process.exit()),
  );
});
