/** Help about an option. A default of no, or of nothing yet, says nothing: it is left out. */
import { Help, type Option } from 'commander';

const help = new Help();

export function optionDescription(option: Option): string {
  const value: unknown = option.defaultValue;
  const says = value !== false && !(Array.isArray(value) && value.length === 0);
  if (says) return help.optionDescription(option);
  const silent = Object.create(option) as Option;
  silent.defaultValue = undefined;
  return help.optionDescription(silent);
}
