/** Finding commands by typed words: every word must begin a word of title or group. */
import type { Command } from './command.ts';

export function findCommands(
  commands: readonly Command[],
  typed: string,
): readonly Command[] {
  const words = typed.toLowerCase().split(/\s+/).filter(Boolean);
  return commands.filter((command) => {
    const own = `${command.title} ${command.group}`
      .toLowerCase()
      .split(/[^\p{L}\p{N}]+/u);
    return words.every((word) => own.some((candidate) => candidate.startsWith(word)));
  });
}
