/**
 * A Slurm cluster in the app, a real Slurm and a real sshd: its login node is added, a run
 * waits there, is cancelled, and begins by itself when there are nodes.
 */
import path from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { AppPage } from '../harness/app-page.ts';
import { until } from '../harness/processes.ts';
import { SlurmCluster, slurmMissing } from '../harness/slurm.ts';
import { SshServer } from '../harness/sshd.ts';

describe.skipIf(slurmMissing() !== undefined)(
  'a Slurm cluster in the app',
  { tags: 'soak' },
  () => {
    let slurm: SlurmCluster;
    let machine: SshServer;
    let app: AppPage;
    let page: Page;
    let held: string;

    beforeAll(async () => {
      slurm = await SlurmCluster.start();
      machine = await SshServer.start({
        shellStart:
          `export SLURM_CONF=${slurm.environment.SLURM_CONF!}\n` +
          `export PATH=${path.dirname(process.execPath)}:$PATH\n`,
      });
      app = await AppPage.open();
      ({ page } = app);
    });
    afterAll(async () => {
      await app?.[Symbol.asyncDispose]();
      await machine?.[Symbol.asyncDispose]();
      await slurm?.[Symbol.asyncDispose]();
    });

    const part = (testId: string) => app.part(testId);
    const said = (field: string, text: RegExp) =>
      page.locator(`#node-${field}-said`).filter({ hasText: text }).waitFor();
    const shown = (testId: string, text: RegExp) =>
      part(testId).filter({ hasText: text }).first().waitFor();

    test('its login node is added; what is wrong is said beside the field', async () => {
      await app.go('Cluster');
      await part('add-node').click();
      expect(await part('node-partition').count()).toBe(0);
      await part('node-host').fill('127.0.0.1');
      await part('node-port').fill('123456');
      await part('node-identity').fill(machine.key);
      await part('node-name').fill('hpc');
      await part('node-slurm-login').check();
      await part('node-partition').fill('main');
      await part('node-time').fill('soon');
      await part('node-nodes').fill('two');
      await part('node-setup').fill('export A=1\nexport B="two words"');
      await part('node-options').fill('qos=high');
      await part('node-confirm').click();
      await said('port', /from 1 to 65535/);
      await said('time', /hours:minutes:seconds/);
      await said('nodes', /"two" is not valid: a whole number/);
      await said('options', /starts with -/);
      expect(await page.locator(':focus').getAttribute('id')).toBe('node-port');
      expect(await app.obstacles()).toEqual([]);
      await part('node-port').fill(String(machine.port));
      await part('node-time').fill('30:00');
      await part('node-nodes').fill('2');
      await part('node-options').fill('--comment=lab');
      await part('node-more').click();
      await part('node-jump').fill('a;b');
      await part('node-confirm').click();
      // What only the app can tell comes back to the field as well.
      await said('jump', /"a;b" is not a host name/);
      await part('node-jump').fill('');
      await part('node-confirm').click();
      const card = part('node-hpc').getByTestId('node-slurm');
      await card.waitFor();
      expect((await card.innerText()).replaceAll('\n', ' ')).toMatch(
        /Slurm login node.* partition main time limit 30:00 nodes 2 setup export A=1; export B="two words" sbatch --comment=lab/,
      );
      await part('node-hpc').getByTestId('node-check').click();
      await part('question-accept').click();
      await part('node-hpc').getByTestId('node-ready').waitFor();
      expect(await app.obstacles()).toEqual([]);
    });

    test('a network that cannot be emulated there is refused in the form', async () => {
      await app.go('New experiment');
      await page.getByText('Slurm cluster, partition main, ready').waitFor();
      await part('field-world.nodes-hpc').check();
      await part('field-world.nodes-this-computer').uncheck();
      await part('field-world.ranks').fill('2');
      await part('field-iterations').fill('1000000');
      await part('more-World').click();
      await part('field-world.ports').fill('9-1');
      await part('field-world.ports').press('Tab');
      await shown('spec-error', /"world.ports" is "9-1"/);
      expect(await part('field-world.ports').getAttribute('aria-invalid')).toBe('true');
      await part('field-world.ports').fill('');
      await part('field-network.bandwidth').fill('1 Gbit/s');
      await part('field-network.bandwidth').press('Tab');
      await shown('spec-error', /NETWORK_UNSUPPORTED · network/);
      await part('field-network.bandwidth').fill('');
      await part('field-network.bandwidth').press('Tab');
      await part('spec-error').waitFor({ state: 'detached' });
    });

    test('a run that waits says why wherever its state is shown', async () => {
      held = slurm.hold(2);
      await part('launch').click();
      await shown('run-state', /Queued/);
      await shown('run-queue', /Job \d+ is queued at hpc: (Resources|Priority) \(/);
      await shown('events', /Queued[^]*job \d+ is queued at hpc/);
      await part('queued-runs').getByRole('link').waitFor();
      expect(await part('live-runs').count()).toBe(0);
      expect(await app.obstacles()).toEqual([]);
      await app.go('Runs');
      await shown('runs-table', /Queued\s+job \d+, (Resources|Priority)/);
      expect(await app.obstacles()).toEqual([]);
    });

    test('to stop it cancels its job, and says so before', async () => {
      await part('queued-runs').getByRole('link').click();
      await part('stop').click();
      await shown('stop-dialog', /This cancels its job \d+ at hpc/);
      expect(await part('stop-confirm').innerText()).toBe('Cancel the job');
      await part('stop-confirm').click();
      await shown('run-error', /stopped before it started/);
      await until(
        () => [...slurm.jobs().keys()],
        (left) => left.length === 1 && left[0] === held,
        'its job to be cancelled',
      );
    });

    test('a run begins by itself, and its nodes are named beside its ranks', async () => {
      await part('run-again').click();
      await shown('run-state', /Queued/);
      slurm.cancel(held);
      await shown('rank-0', /n0/);
      await shown('rank-1', /n1/);
      await shown('run-state', /Running/);
      await shown('run-nodes', /job \d+ on n0, n1, until /);
      await shown('events', /Nodes allocated[^]*has n0, n1 until/);
      expect(await part('phase-rank').innerText()).toContain('rank 1 on n1');
      expect(await part('log-rank').innerText()).toContain('1 on n1');
      expect(await part('run-queue').count()).toBe(0);
      await part('stop').click();
      await part('stop-confirm').click();
      await shown('run-state', /Stopped/);
      // With nothing beside it that computes.
      expect(await app.obstacles()).toEqual([]);
      expect(app.errors).toEqual([]);
    });
  },
);
