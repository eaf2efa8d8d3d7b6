/** `workload.model`: the name of a built-in model, or a user's file. */

/** Whether it is a file: names have no slash and no such extension. */
export const isModelFile = (model: string): boolean =>
  /[/\\]/.test(model) || /\.[cm]?[jt]s$/.test(model);

/** Names the model and the data that a run trains, as lists show it. */
export function workloadName(workload: {
  readonly model: string;
  readonly dataset: string;
}): string {
  const model = modelName(workload.model);
  return workload.dataset === NO_DATA ? model : `${model} on ${workload.dataset}`;
}

/** `workload.dataset` of workloads that train nothing. */
export const NO_DATA = 'none';

/** The name for lists; of a file, its file name. */
export const modelName = (model: string): string =>
  isModelFile(model) ? model.split(/[/\\]/).at(-1)! : model;
