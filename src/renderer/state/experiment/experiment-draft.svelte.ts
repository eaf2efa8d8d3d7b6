/**
 * An experiment before its launch: the form's draft and its YAML, each following the other.
 * Main turns the form's changes into YAML; typed YAML changes the draft if it is a valid
 * spec, and otherwise leaves one error. Only main validates. Answers to questions that a
 * later change has overtaken are dropped.
 */
import type { Catalogue } from '../../../shared/catalogue/catalogue.ts';
import type { JsonValue } from '../../../shared/checks/json.ts';
import { toErrorData, type ErrorData } from '../../../shared/errors/errors.ts';
import type { SwitchRecord } from '../../../shared/records/switch.ts';
import type { AppApi, Preset } from '../../../shared/rpc/rpc.ts';
import { withoutIdleMomentum } from '../../../shared/spec/experiment-spec.ts';
import type { WrittenSpec } from '../../../shared/spec/written-spec.ts';
import { nextName } from './run-name.ts';
import { withMethod } from './changed-method.ts';
import { withModel } from './changed-model.ts';
import { withValue, type Draft } from './spec-draft.ts';

const TYPING_MS = 250;
/** Another machine is asked for its catalogue, which may need a connection first. */
const SLOW_MS = 600;

/** The parts of the app that a draft uses. */
interface Launcher {
  readonly api: AppApi;
  readonly catalogue: Catalogue | undefined;
  launch(spec: unknown, switchesOf?: string): Promise<ErrorData | undefined>;
}

export class ExperimentDraft {
  /** Whether the launched run repeats the switches of the run that the draft came from. */
  repeats = $state(true);

  readonly #app: Launcher;
  #draft = $state.raw<Draft>();
  #yaml = $state('');
  #error = $state.raw<ErrorData>();
  #launchError = $state.raw<ErrorData>();
  #launching = $state(false);
  #switches = $state.raw<readonly SwitchRecord[]>([]);
  #checking = $state(false);
  /** The run to start from. */
  #origin: string | undefined;
  /** The side that was changed last; the other one follows. */
  #source: 'form' | 'yaml' = 'form';
  /** The text that changes of the form are written into: valid, or undefined. */
  #written: WrittenSpec | undefined;
  #question = 0;
  #typing: ReturnType<typeof setTimeout> | undefined;

  constructor(app: Launcher) {
    this.#app = app;
  }

  /** The draft; undefined until the preset or run to start from has been read. */
  get draft(): Draft | undefined {
    return this.#draft;
  }

  get yaml(): string {
    return this.#yaml;
  }

  /** The reason why the spec cannot run. */
  get error(): ErrorData | undefined {
    return this.#error;
  }

  /** The path that the error names, as its message quotes it. */
  get wrong(): string | undefined {
    return /"([\w.]+)"/.exec(this.#error?.message ?? '')?.[1];
  }

  /** The reason why the last launch failed. */
  get launchError(): ErrorData | undefined {
    return this.#launchError;
  }

  get launching(): boolean {
    return this.#launching;
  }

  /** The agent of a run's first machine has been asked and has not answered yet. */
  get checking(): boolean {
    return this.#checking;
  }

  /** The switches of the run to start from. */
  get switches(): readonly SwitchRecord[] {
    return this.#switches;
  }

  close(): void {
    clearTimeout(this.#typing);
  }

  /** Starts from an earlier run: its spec under the next name, and its switches. */
  async beginWithRun(run: string): Promise<void> {
    this.#origin = run;
    try {
      const { spec, events } = await this.#app.api.run(run);
      this.#switches = events.filter((event) => event.type === 'switch');
      const named = { ...spec, name: nextName(spec.name) };
      this.#take(withoutIdleMomentum(named) as unknown as Draft);
    } catch (thrown) {
      this.#error = dataOf(thrown);
    }
  }

  /** Starts from a spec that another view has made. */
  beginWithSpec(spec: Draft): void {
    this.#take(withoutIdleMomentum(spec as never) as unknown as Draft);
  }

  /** Starts from a preset: its own text, comments included; the form shows the same spec. */
  async beginWithPreset(presets: readonly Preset[], id: string): Promise<void> {
    const chosen = presets.find((entry) => entry.id === id);
    if (chosen === undefined) {
      this.#error = {
        code: 'PRESET_UNKNOWN',
        kind: 'input',
        message: `there is no preset "${id}"`,
        place: 'address',
        next: 'Choose one from the list.',
      };
      return;
    }
    this.#draft = chosen.spec as unknown as Draft;
    this.#yaml = chosen.yaml;
    this.#written = { text: chosen.yaml, spec: chosen.spec };
    this.#source = 'yaml';
    await this.#check(chosen.yaml);
  }

  /** Changes one value of the form, and what depends on it. */
  change(path: string, value: JsonValue | undefined): void {
    const draft = this.#draft;
    if (draft === undefined) return;
    if (path === 'exchange.method') {
      const methods = this.#app.catalogue?.methods;
      const method = methods?.find((entry) => entry.id === value);
      if (method !== undefined) {
        this.#take(withMethod(draft, method));
        return;
      }
    }
    if (path === 'workload.model') {
      this.#take(withModel(draft, value));
      return;
    }
    const next = withValue(draft, path, value);
    this.#take(path === 'optimizer.kind' ? withoutIdleMomentum(next) : next);
  }

  /** The user types YAML; it is checked after a pause. */
  type(text: string): void {
    this.#yaml = text;
    this.#written = undefined;
    this.#source = 'yaml';
    this.#launchError = undefined;
    // An answer that is on its way is about another text.
    this.#question++;
    this.#checking = false;
    clearTimeout(this.#typing);
    this.#typing = setTimeout(() => void this.#check(text), TYPING_MS);
  }

  /**
   * Launches what the page shows. The side that was changed last counts: the YAML of a form
   * that has just been changed may still be on its way.
   */
  async launch(): Promise<void> {
    if (this.#launching) return;
    clearTimeout(this.#typing);
    const mine = ++this.#question;
    const form = this.#source === 'form' ? this.#draft : undefined;
    const typed = this.#yaml;
    this.#launching = true;
    this.#launchError = undefined;
    try {
      const text = form === undefined ? typed : await this.#textOf(form);
      const answer = await this.#app.api.checkSpec(text);
      if (mine === this.#question) {
        this.#yaml = text;
        if (form !== undefined) this.#written = { text, spec: form };
        this.#error = answer.ok ? undefined : answer.error;
      }
      if (answer.ok) {
        const repeats = this.#switches.length > 0 && this.repeats;
        const origin = repeats ? this.#origin : undefined;
        this.#launchError = await this.#app.launch(answer.spec, origin);
      }
    } catch (thrown) {
      this.#launchError = dataOf(thrown);
    } finally {
      this.#launching = false;
      if (mine === this.#question) this.#checking = false;
    }
  }

  /** The form has changed: its YAML follows, then the check. */
  #take(next: Draft): void {
    this.#draft = next;
    this.#source = 'form';
    this.#launchError = undefined;
    void this.#write(next);
  }

  #textOf(draft: Draft): Promise<string> {
    return this.#written === undefined
      ? this.#app.api.specToYaml(draft)
      : this.#app.api.specToYaml(draft, this.#written);
  }

  async #write(next: Draft): Promise<void> {
    const mine = ++this.#question;
    try {
      const text = await this.#textOf(next);
      if (mine !== this.#question) return;
      this.#yaml = text;
      this.#written = { text, spec: next };
      await this.#check(text);
    } catch (thrown) {
      if (mine === this.#question) this.#error = dataOf(thrown);
    }
  }

  async #check(text: string): Promise<void> {
    const mine = ++this.#question;
    // Clears the previous error while the new text is being checked.
    const slow = setTimeout(() => {
      if (mine !== this.#question) return;
      this.#error = undefined;
      this.#checking = true;
    }, SLOW_MS);
    try {
      const answer = await this.#app.api.checkSpec(text);
      if (mine !== this.#question) return;
      this.#error = answer.ok ? undefined : answer.error;
      if (answer.ok && this.#source === 'yaml') {
        this.#draft = answer.spec as unknown as Draft;
        this.#written = { text, spec: answer.spec };
      }
    } catch (thrown) {
      if (mine === this.#question) this.#error = dataOf(thrown);
    } finally {
      clearTimeout(slow);
      if (mine === this.#question) this.#checking = false;
    }
  }
}

const dataOf = (thrown: unknown): ErrorData => toErrorData(thrown);
