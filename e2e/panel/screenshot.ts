/** Takes screenshots of the side panel and the popup in the light and the dark color scheme. */
import assert from 'node:assert/strict';
import type { Page } from 'playwright-core';
import { repositoryRoot } from '../harness/process.ts';
import { assertAccessible } from './accessibility.ts';

/** runsAllTests makes saveScreenshots check all rules of axe-core in the dark scheme, as in `make nightly`. */
const runsAllTests = Boolean(process.env.OPENTABS_TEST_ALL);

const MaxHeightPx = 4000;

/** saveScreenshots checks that no element is wider than the page and that axe-core finds no accessibility violation. */
export async function saveScreenshots(panel: Page, name: string, kind: 'panel' | 'popup' = 'panel'): Promise<void> {
  const height = await panel.evaluate(() => document.body.scrollHeight);
  await panel.setViewportSize({ width: 360, height: Math.min(height, MaxHeightPx) });
  const overflowPx = await panel.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
  assert.ok(overflowPx <= 0, `the ${kind} in ${name} is ${overflowPx} px too wide`);
  for (const colorScheme of ['light', 'dark'] as const) {
    await panel.emulateMedia({ colorScheme });
    await assertAccessible(
      panel,
      `${name} ${colorScheme}`,
      colorScheme === 'dark' && !runsAllTests ? ['color-contrast'] : undefined,
    );
    await panel.screenshot({ path: `${repositoryRoot}e2e/out/${kind}-${name}-${colorScheme}.png` });
  }
  await panel.setViewportSize({ width: 360, height: 640 });
}
