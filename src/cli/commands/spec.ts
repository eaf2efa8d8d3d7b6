/** `gradwire spec schema`: the JSON Schema of a spec, for editors. */
import type { Command } from 'commander';
import { z } from 'zod';
import { experimentSpecSchema } from '../../shared/spec/experiment-spec.ts';

export function addSpecCommand(program: Command): void {
  program
    .command('spec')
    .description('the format of experiment specs')
    .command('schema')
    .description('print the JSON Schema of a spec')
    .action(() => {
      const schema = z.toJSONSchema(experimentSpecSchema, {
        io: 'input',
        override: ({ jsonSchema, path }) => {
          // A command implies its model and that it reads its own data.
          const place = path.join('.');
          if (place === 'properties.workload.properties.command') {
            const list = {
              type: 'array',
              items: { type: 'string' },
              minItems: 1,
            } as const;
            for (const key of ['type', 'items', 'minItems', 'maxItems']) {
              Reflect.deleteProperty(jsonSchema, key);
            }
            jsonSchema.anyOf = [{ type: 'string', minLength: 1 }, list];
          }
          if (place !== 'properties.workload') return;
          delete jsonSchema.required;
          jsonSchema.anyOf = [
            { required: ['model', 'dataset'] },
            { required: ['command'] },
          ];
        },
      });
      process.stdout.write(`${JSON.stringify(schema, null, 2)}\n`);
    });
}
