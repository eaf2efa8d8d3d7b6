/**
 * Tells raised alerts to the user's command and webhook: by the process that stored them, one after
 * another, each with a limit of time. A target that fails is told of once, until it works again.
 */
import { toErrorData, type ErrorData } from '../../shared/errors/errors.ts';
import { toldAlert } from '../../shared/alerts/told-alert.ts';
import type { RaisedAlert } from '../../shared/alerts/run-watch.ts';
import type { RunSummary } from '../../shared/rpc/run-summary.ts';
import type { Settings } from '../../shared/settings/settings.ts';
import type { RunAlerts } from '../store/run-alerts.ts';
import { postAlert } from './post-alert.ts';
import { runCommand } from './run-command.ts';

const LIMIT_MS = 10_000;
/** Alerts that wait to be told at most: later ones are in their runs. */
const MOST_WAITING = 50;

export interface AlertDeliveryOptions {
  readonly alerts: Pick<RunAlerts, 'listen'>;
  readonly settings: () => Settings;
  /** A target failed; told once until it works again. */
  readonly failed: (error: ErrorData) => void;
}

/** A way in which alerts are told, by the setting that has its target. */
interface Target {
  readonly setting: 'notify.command' | 'notify.webhook';
  readonly send: (target: string, text: string, signal: AbortSignal) => Promise<void>;
}

const TARGETS: readonly Target[] = [
  { setting: 'notify.command', send: runCommand },
  { setting: 'notify.webhook', send: postAlert },
];

export class AlertDelivery {
  readonly #options: AlertDeliveryOptions;
  readonly #stop: () => void;
  /** Targets that fail, by their settings. */
  readonly #failing = new Map<string, string>();
  readonly #closing = new AbortController();
  #waiting = 0;
  #last: Promise<void> = Promise.resolve();

  constructor(options: AlertDeliveryOptions) {
    this.#options = options;
    this.#stop = options.alerts.listen((summary, alerts) => {
      for (const raised of alerts) this.#take(summary, raised);
    });
  }

  /** Takes no more alerts; resolves when those that wait are told, or the limit is over. */
  async close(): Promise<void> {
    this.#stop();
    const limit = setTimeout(() => {
      this.#closing.abort();
    }, LIMIT_MS);
    await this.#last;
    clearTimeout(limit);
  }

  #take(summary: RunSummary, raised: RaisedAlert): void {
    if (raised.alert.phase !== 'raised') return;
    const settings = this.#options.settings();
    const targets = TARGETS.filter(({ setting }) => settings[setting] !== '');
    if (targets.length === 0 || this.#waiting >= MOST_WAITING) return;
    const text = JSON.stringify(toldAlert(summary, raised.alert));
    this.#waiting++;
    this.#last = this.#last.then(async () => {
      await Promise.all(
        targets.map((target) =>
          this.#send(target, String(settings[target.setting]), text),
        ),
      );
      this.#waiting--;
    });
  }

  /** Never rejects. */
  async #send({ send, setting }: Target, target: string, text: string): Promise<void> {
    const closing = this.#closing.signal;
    if (closing.aborted) return;
    try {
      await send(
        target,
        text,
        AbortSignal.any([AbortSignal.timeout(LIMIT_MS), closing]),
      );
      this.#failing.delete(setting);
    } catch (error) {
      if (this.#failing.get(setting) !== target)
        this.#options.failed(toErrorData(error));
      this.#failing.set(setting, target);
    }
  }
}
