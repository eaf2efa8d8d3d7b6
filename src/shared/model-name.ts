/** `workload.model`: the name of a model that comes with Gradwire, or a file of the user's. */

/** Whether it is a file: names have no slash and no such ending. */
export const isModelFile = (model: string): boolean =>
  /[/\\]/.test(model) || /\.[cm]?[jt]s$/.test(model);

/** As lists show it: of a file its name. */
export const modelName = (model: string): string =>
  isModelFile(model) ? model.split(/[/\\]/).at(-1)! : model;
