/**
 * A field of a form: what it asks for, and how the text typed into it becomes a value.
 * Only the validator behind `checkSpec` judges values, never the form.
 */
import type { Fact } from '../../../shared/catalogue/facts.ts';
import type { JsonValue } from '../../../shared/checks/json.ts';

/** The kind of a field's values, which decides on its control. */
export type FieldKind =
  'number' | 'integer' | 'boolean' | 'choice' | 'several' | 'text' | 'json';

/** A value that a field offers. */
export interface FormChoice {
  readonly value: string;
  readonly label: string;
  /** Shown under the field while chosen; if several can be chosen, with each. */
  readonly hint?: string | undefined;
  /** More about it, for whoever wants to know, while it is chosen. */
  readonly facts?: readonly Fact[] | undefined;
}

/** A field, as the form shows it. */
export interface FormField {
  /** Dotted, as in errors and `--set`: `workload.model`. */
  readonly path: string;
  readonly kind: FieldKind;
  readonly title: string;
  readonly description?: string | undefined;
  readonly minimum?: number | undefined;
  readonly maximum?: number | undefined;
  readonly choices?: readonly FormChoice[] | undefined;
  /** The default choice. */
  readonly usual?: string | undefined;
}

/** Fields of one part of a spec, under a title. */
export interface FormSection {
  readonly title: string;
  readonly fields: readonly FormField[];
  /** Rarely used: folded while all of them have their usual values. */
  readonly more?: readonly FormField[];
}

/**
 * The typed text as a value: a number or JSON if the field takes it and the text is one,
 * otherwise the text itself, which the validator then names. Empty: absent.
 */
export function readField(kind: FieldKind, text: string): JsonValue | undefined {
  const trimmed = text.trim();
  if (trimmed === '') return undefined;
  if (kind === 'number' || kind === 'integer') {
    const value = Number(trimmed);
    // As text, the error shows what was typed: JSON has no other numbers.
    return Number.isFinite(value) ? value : trimmed;
  }
  if (kind === 'json') return parsed(trimmed) ?? trimmed;
  return text;
}

function parsed(text: string): JsonValue | undefined {
  try {
    return JSON.parse(text) as JsonValue;
  } catch {
    // Not yet JSON: the validator reports what it should be.
    return undefined;
  }
}

/**
 * Choices for entries of the catalogue.
 * @param factsOf more about an entry
 */
export function entryChoices<
  E extends { readonly id: string; readonly summary: string },
>(
  entries: readonly E[],
  factsOf: (entry: E) => readonly Fact[],
): readonly FormChoice[] {
  return entries.map((entry) => ({
    value: entry.id,
    label: entry.id,
    hint: entry.summary,
    facts: factsOf(entry),
  }));
}

/** Choices that need no explanation. */
export function plainChoices(
  values: readonly string[] | undefined,
): readonly FormChoice[] {
  return (values ?? []).map((value) => ({ value, label: value }));
}
