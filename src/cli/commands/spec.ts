/** `gradwire spec schema`: the JSON Schema of a spec, for editors. */
import type { Command } from 'commander';
import { z } from 'zod';
import { experimentSpecSchema } from '../../shared/experiment-spec.ts';

export function addSpecCommand(program: Command): void {
  program
    .command('spec')
    .description('the format of experiment specs')
    .command('schema')
    .description('print the JSON Schema of a spec')
    .action(() => {
      const schema = z.toJSONSchema(experimentSpecSchema, { io: 'input' });
      process.stdout.write(`${JSON.stringify(schema, null, 2)}\n`);
    });
}
