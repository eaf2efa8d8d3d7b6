/** The tensors of a run's model: of a program they are known once rank 0 has told them. */
import type { RunRecord } from '../../../shared/records/record-kinds.ts';
import type { TensorsRecord } from '../../../shared/records/tensors.ts';
import { isProgram } from '../../../shared/spec/program-spec.ts';
import { modelTensors, placedTensors } from '../../forecast/model-tensors.ts';
import type { FlatTensor } from '../../plan/buckets.ts';
import type { RunOptions } from './run-options.ts';

export class RunModel {
  readonly #options: Pick<RunOptions, 'model' | 'spec'>;
  #told: TensorsRecord | undefined;

  constructor({
    model,
    restored,
    spec,
  }: Pick<RunOptions, 'model' | 'restored' | 'spec'>) {
    this.#options = { model, spec };
    this.#told = restored?.tensors;
  }

  recorded(records: readonly RunRecord[]): void {
    this.#told ??= records.find((record) => record.type === 'tensors');
  }

  /** The tensors of the model; undefined if they are not known here. */
  get tensors(): readonly FlatTensor[] | undefined {
    const { model, spec } = this.#options;
    if (!isProgram(spec.workload)) return modelTensors(spec, model);
    return this.#told && placedTensors(this.#told.tensors);
  }
}
