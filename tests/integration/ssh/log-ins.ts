/** Answers to the questions of a log-in, and who is logged in by them. */
import type { SshConnection } from '../../../src/main/ssh/connection.ts';
import type {
  SecretsQuestion,
  SshQuestions,
} from '../../../src/shared/machines/ssh-question.ts';

/** Gives these answers, one list a question; undefined when there are no more. */
export function answering(...answers: (readonly string[])[]): SshQuestions & {
  readonly asked: SecretsQuestion[];
} {
  const asked: SecretsQuestion[] = [];
  return {
    asked,
    hostKey: () => Promise.resolve('refuse'),
    secrets: (question) => {
      asked.push(question);
      return Promise.resolve(answers.shift());
    },
  };
}

export async function whoIs(connection: Promise<SshConnection>): Promise<string> {
  await using opened = await connection;
  return (await opened.run('id -un')).stdout.trim();
}
