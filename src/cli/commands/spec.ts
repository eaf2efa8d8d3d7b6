/** `gradwire spec schema`: the JSON Schema of a spec, for editors. */
import type { Command } from 'commander';
import { specSchema } from './spec-schema.ts';

export function addSpecCommand(program: Command): void {
  program
    .command('spec')
    .description('the format of experiment specs')
    .command('schema')
    .description('print the JSON Schema of a spec')
    .option('--json', 'on one line', false)
    .action(async ({ json }: { readonly json: boolean }) => {
      // Loaded here: no other command needs the engine.
      const { compressors, makeCatalogue, syntheticProfiles } =
        await import('../../agent/engine.ts');
      const parameters = new Map(
        [...compressors.values()].map((method) => [method.id, method.parameters]),
      );
      const schema = specSchema({
        catalogue: makeCatalogue(),
        profiles: syntheticProfiles(),
        parameters,
      });
      process.stdout.write(`${JSON.stringify(schema, null, json ? 0 : 2)}\n`);
    });
}
