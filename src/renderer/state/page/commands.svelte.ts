/**
 * The registry of all user commands: the palette, the shortcut list, key strokes and the
 * native menu all read it. Views add their commands while they are shown.
 */
import { untrack } from 'svelte';
import type { Command } from './command.ts';
import { isModified, matchesShortcut } from './shortcut.ts';

export class CommandRegistry {
  readonly mac: boolean;
  #commands = $state.raw<readonly Command[]>([]);

  constructor(mac: boolean) {
    this.mac = mac;
  }

  get commands(): readonly Command[] {
    return this.#commands;
  }

  /**
   * Registers commands. Effects that use it depend on the commands, not on the registry.
   * @returns a function that removes them
   */
  register(...added: readonly Command[]): () => void {
    this.#commands = [...untrack(() => this.#commands), ...added];
    return () => {
      this.#commands = untrack(() => this.#commands).filter(
        (command) => !added.includes(command),
      );
    };
  }

  /** @returns whether such a command exists now */
  run(id: string): boolean {
    const command = this.#commands.find((candidate) => candidate.id === id);
    command?.run();
    return command !== undefined;
  }

  /** Runs the command of a key stroke; of several, the last registered. */
  handle(event: KeyboardEvent): void {
    if (event.defaultPrevented || event.repeat) return;
    const typing = isTyping(event.target);
    const command = this.#commands.findLast((candidate) =>
      candidate.shortcuts?.some(
        (shortcut) =>
          (isModified(shortcut) || !typing) &&
          matchesShortcut(event, shortcut, this.mac),
      ),
    );
    if (command === undefined) return;
    event.preventDefault();
    command.run();
  }
}

function isTyping(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement &&
    (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName))
  );
}
