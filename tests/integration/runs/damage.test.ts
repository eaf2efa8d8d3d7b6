/** What lies damaged or locked in the home must not keep runs from being launched. */
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { GradwireHome } from '../../harness/gradwire.ts';

const SHORT = ['run', 'quickstart', '--set', 'iterations=3'];

describe('a damaged home', () => {
  it.each([
    ['description', '{"spec":', ''],
    ['journal', '{"spec":{},"createdAt":1}', '\xff\xff\xff\x7f not a journal'],
  ])(
    'launches runs beside one whose %s cannot be read',
    async (_, description, journal) => {
      await using home = new GradwireHome();
      const folder = path.join(home.directory, 'runs', 'damaged');
      mkdirSync(folder, { recursive: true });
      writeFileSync(path.join(folder, 'run.json'), description);
      writeFileSync(path.join(folder, 'journal.gwj'), journal, 'latin1');
      const { code, stderr } = await home.run(SHORT);
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    },
  );

  it('ends a command whose home has a lock that cannot be looked at', async () => {
    await using home = new GradwireHome();
    mkdirSync(path.join(home.directory, 'app.lock'));
    const { code, stderr } = await home.run(SHORT);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  });
});
