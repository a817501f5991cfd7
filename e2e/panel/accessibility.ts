/** Checks that keyboard users and screen reader users can use the side panel. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Page } from 'playwright-core';

const axeSource = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

export async function assertAccessible(page: Page, sceneName: string, ruleNames?: readonly string[]): Promise<void> {
  if (!(await page.evaluate(() => 'axe' in globalThis))) await page.evaluate(axeSource);
  const axeViolations = await page.evaluate(async (axeRules) => {
    const options = { resultTypes: ['violations'], ...(axeRules ? { runOnly: axeRules } : {}) };
    const { violations: axeViolations } = await Object(globalThis).axe.run(document, options);
    return axeViolations.flatMap(({ id, help, nodes }: { id: string; help: string; nodes: { html: string }[] }) =>
      nodes.slice(0, 3).map(({ html }) => `${id}: ${help}: ${html.slice(0, 200)}`),
    );
  }, ruleNames);
  assert.deepEqual(axeViolations, [], `axe-core must find no violations in the scene ${sceneName}`);
}

/** listTabStops presses Tab from the start of the page until the focus leaves the page. */
export async function listTabStops(page: Page): Promise<string[]> {
  while ((await focusNextElement(page)) !== undefined); // from the focused element to the end of the page
  const names: string[] = [];
  for (let name = await focusNextElement(page); name !== undefined; name = await focusNextElement(page))
    names.push(name);
  return names;
}

async function focusNextElement(page: Page): Promise<string | undefined> {
  await page.keyboard.press('Tab');
  return page.evaluate(() => {
    const element = document.activeElement;
    if (!element || element === document.body) return undefined;
    const { width, height } = element.getBoundingClientRect();
    const label = element.getAttribute('aria-label') ?? element.textContent ?? '';
    return `${width * height > 0 ? '' : 'invisible '}${element.tagName.toLowerCase()} ${label.trim().slice(0, 60)}`;
  });
}
