/**
 * The numbers that a program logs, for the records of its steps. One that is not finite is the
 * program's own affair, so its training goes on, but its record cannot have it: a notice says so,
 * once for each name. So it does for a name that no record has, which may be a slip.
 */
import type { Notice } from '../../../shared/records/notice.ts';
import { nearest } from '../../../shared/words/nearest.ts';
import { shownValue } from '../../../shared/words/printable.ts';
import type { Stepped } from '../../bridge/messages.ts';
import type { StepResult } from '../../training/trainer.ts';

const NAMES: readonly string[] = ['loss', 'accuracy'];
/** Names with a notice: a program may make up a new one in every step. */
const MOST_TOLD = 8;

export class LoggedValues {
  readonly #notice: (notice: Notice) => void;
  readonly #told = new Set<string>();

  /** @param notice takes notices of this rank */
  constructor(notice: (notice: Notice) => void) {
    this.#notice = notice;
  }

  /** Loss and accuracy of a step, where they were logged and are finite. */
  of({ printed, values }: Stepped, iteration: number): StepResult {
    if (printed !== undefined) this.#read(printed);
    for (const name of Object.keys(values)) this.#known(name);
    return {
      loss: this.#finite('loss', values['loss'], iteration),
      metric: this.#finite('accuracy', values['accuracy'], iteration),
    };
  }

  #read(line: string): void {
    this.#notice({
      level: 'info',
      code: 'LOSS_PRINTED',
      message: `the loss is read from what the program prints: ${shownValue(line)}`,
    });
  }

  #known(name: string): void {
    if (NAMES.includes(name) || this.#told.has(name)) return;
    if (this.#told.size >= MOST_TOLD) return;
    this.#told.add(name);
    const meant = nearest(name, NAMES);
    this.#notice({
      level: 'warning',
      code: 'LOGGED_UNKNOWN',
      message:
        `the program logs ${shownValue(name)}, which is not shown: only loss and accuracy are` +
        (meant === undefined ? '' : `; did it mean ${meant}?`),
    });
  }

  #finite(
    name: string,
    value: number | undefined,
    iteration: number,
  ): number | undefined {
    if (value === undefined || Number.isFinite(value)) return value;
    if (this.#told.has(name)) return undefined;
    this.#told.add(name);
    this.#notice({
      level: 'warning',
      code: 'MEASURE_NOT_FINITE',
      message:
        `the program logged the ${name} ${value} in iteration ${iteration}; ` +
        `records of such steps have no ${name}, and training goes on`,
    });
    return undefined;
  }
}
