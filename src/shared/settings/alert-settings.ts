/** Settings of the alert rules, made from their definitions: whether each is on, and its parameters. */
import { ALERT_RULES } from '../alerts/alert-rules.ts';
import type { RuleChoices } from '../alerts/run-watch.ts';
import type { Setting, Settings } from './setting.ts';

const keyOf = (rule: string, name: string): string => `alerts.${rule}.${name}`;

/** The setting that turns a rule on. */
const ON = 'on';

export const alertSettings: readonly Setting[] = ALERT_RULES.flatMap(
  ({ about, id, parameters, title }): readonly Setting[] => [
    {
      key: keyOf(id, ON),
      kind: 'switch',
      title,
      help: about,
      default: true,
      group: title,
    },
    ...Object.entries(parameters).map(([name, parameter]): Setting => {
      const { isWhole = false, least, most } = parameter;
      return {
        key: keyOf(id, name),
        kind: 'number',
        title: parameter.title,
        help: parameter.help,
        default: parameter.default,
        least,
        most,
        isWhole,
        group: title,
      };
    }),
  ],
);

/** The rules that are on, with their parameters. */
export const ruleChoices = (settings: Settings): RuleChoices =>
  new Map(
    ALERT_RULES.filter(({ id }) => settings[keyOf(id, ON)] === true).map(
      ({ id, parameters }) => {
        const names = Object.keys(parameters);
        const values = names.map((name) => [name, Number(settings[keyOf(id, name)])]);
        return [id, Object.fromEntries(values) as Record<string, number>];
      },
    ),
  );
