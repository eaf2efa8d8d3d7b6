/** `workload.model`: the name of a model that comes with Gradwire, or a file of the user's. */

/** Whether it is a file: names have no slash and no such ending. */
export const isModelFile = (model: string): boolean =>
  /[/\\]/.test(model) || /\.[cm]?[jt]s$/.test(model);

/** What a run trains, as lists show it. */
export function workloadName(workload: {
  readonly model: string;
  readonly dataset: string;
}): string {
  const model = modelName(workload.model);
  return workload.dataset === NO_DATA ? model : `${model} on ${workload.dataset}`;
}

/** `workload.dataset` of what trains nothing. */
export const NO_DATA = 'none';

/** As lists show it: of a file its name. */
export const modelName = (model: string): string =>
  isModelFile(model) ? model.split(/[/\\]/).at(-1)! : model;
