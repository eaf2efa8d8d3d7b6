/** A page under test: what goes wrong on it, and who could not use it. */
import axe from 'axe-core';
import type { Page } from 'playwright-core';

/** Errors of the page and its console, from now on. */
export function watchErrors(page: Page): readonly string[] {
  const errors: string[] = [];
  page.on('pageerror', (error) => errors.push(error.message));
  page.on('console', (message) => {
    if (message.type() === 'error') errors.push(message.text());
  });
  return errors;
}

/** The page's own global, where the function below runs. */
declare const window: { readonly axe?: typeof axe };

/**
 * Serious obstacles of a page to people with disabilities. A document gets axe once, and axe describes
 * only what is wrong: half of its work would be to say what is not.
 */
export async function obstacles(page: Page): Promise<readonly string[]> {
  if (!(await page.evaluate(() => window.axe !== undefined)))
    await page.evaluate(axe.source);
  return await page.evaluate(async () => {
    const { violations } = await window.axe!.run({ resultTypes: ['violations'] });
    return violations
      .filter(({ impact }) => impact === 'serious' || impact === 'critical')
      .map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' ')}`);
  });
}
