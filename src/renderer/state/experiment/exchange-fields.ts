/** Fields of an exchange plan, for the form of a spec and for a switch. */
import type {
  Catalogue,
  MethodEntry,
  ParameterEntry,
} from '../../../shared/catalogue/catalogue.ts';
import { collectiveFacts } from '../../../shared/catalogue/facts.ts';
import {
  entryChoices,
  plainChoices,
  type FormChoice,
  type FormField,
} from './form-field.ts';
import { field, schemaAt } from './spec-fields.ts';
import { valueAt, type Draft } from './spec-draft.ts';

/** The collectives that carry a method's payload, and the two automatic choices. */
export function collectiveChoices(
  catalogue: Catalogue,
  method: MethodEntry | undefined,
): readonly FormChoice[] {
  const taken = catalogue.collectives.filter(
    (entry) => method === undefined || method.collectives.includes(entry.id),
  );
  return [
    { value: 'auto', label: 'auto', hint: 'The cheapest predicted by the cost model' },
    {
      value: 'adaptive',
      label: 'adaptive',
      hint: 'The cheapest by measured times, so two runs may choose differently',
    },
    ...entryChoices(taken, collectiveFacts),
  ];
}

/**
 * The field of a method's parameter.
 * @param prefix of its path: `exchange.` in a spec, empty in a plan
 */
export function parameterField(parameter: ParameterEntry, prefix: string): FormField {
  return {
    path: prefix + parameter.key,
    kind: parameter.type,
    title: parameter.title,
    description: parameter.description,
    minimum: parameter.minimum,
    maximum: parameter.maximum,
    choices: parameter.choices?.map((choice) => ({ value: choice, label: choice })),
  };
}

/** The number of servers. */
export const serversField = field('exchange.servers');

/**
 * The compression between stages of a pipeline.
 * @param plan the value of `exchange`
 */
export function activationFields(
  path: '' | 'exchange.',
  plan: Draft,
): readonly FormField[] {
  const at = 'exchange.activations';
  const choices = plainChoices(schemaAt(`${at}.method`).enum);
  const method: FormField = {
    ...field(`${at}.method`, [...choices]),
    path: `${path}activations.method`,
    usual: 'none',
  };
  const chosen = valueAt(plan, 'activations.method') ?? 'none';
  if (chosen === 'none') return [method];
  const sparsity = field(`${at}.sparsity`);
  return [method, { ...sparsity, path: `${path}activations.sparsity` }];
}
