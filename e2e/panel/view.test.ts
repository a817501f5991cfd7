/** Promise: whatever calls do, a person sees it in the side panel, on 360 px, light and dark. Screenshots go to e2e/out/. */
import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import { after, before, beforeEach, test } from 'node:test';
import { repositoryRoot } from '../harness/process.ts';
import { waitFor } from '../harness/wait.ts';
import { type Bed, makeBed } from './bed.ts';
import { activities, asking, failed, many, plugins, running, suspended } from './scenes.ts';
import { shoot } from './shoot.ts';

let bed: Bed;

before(async () => {
  mkdirSync(`${repositoryRoot}e2e/out`, { recursive: true });
  bed = await makeBed();
});
beforeEach(async () => {
  bed.show([]);
  await bed.panel.goto(`chrome-extension://${bed.chrome.extensionId}/panel.html`);
});
after(() => bed?.close());

test('running calls, nested ones under their parent', async () => {
  const { panel, show } = bed;
  show(running);
  await panel.getByText('page 42 of 100').waitFor();
  await panel.locator('.word', { hasText: 'indexing' }).waitFor();
  const lefts = await panel.locator('.call').evaluateAll((all) => all.map((one) => one.getBoundingClientRect().left));
  const [c1 = 0, c2 = 0, c3 = 0, c4 = 0] = lefts;
  assert.ok(c1 === c2 && c2 < c3 && c3 < c4, String(lefts));
  await shoot(panel, 'running');
});

test('internal messages are shown while the switch is on, which is stored', async () => {
  const { panel, show } = bed;
  show(running);
  await panel.getByText('page 42 of 100').waitFor();
  // That a call ended, for whom and how, is always there; its result if it is meant for people.
  await panel.locator('.ended', { hasText: 'echo' }).waitFor();
  assert.equal(await panel.getByText('Sent to 3 people.').count(), 1);
  const seen = async () => [await panel.getByText('chunk 7 of 10').count(), await panel.getByText('secret').count()];
  assert.deepEqual(await seen(), [0, 0]);
  const everything = panel.getByRole('switch', { name: 'Show everything' });
  await everything.check();
  await waitFor('the report and the result', async () => String(await seen()) === '1,1');
  await panel.reload();
  await waitFor('the report and the result again', async () => String(await seen()) === '1,1');
  await everything.uncheck();
  await waitFor('neither', async () => String(await seen()) === '0,0');
});

test('calls that failed say why', async () => {
  const { panel, show } = bed;
  show(failed);
  await panel.getByText('failed').first().click();
  await panel.getByText(/Ask for fewer pages/).waitFor();
  assert.equal(await panel.getByText('echo').count(), 1);
  await shoot(panel, 'failed');
});

test('calls that wait for a person', async () => {
  const { panel, show, tabId } = bed;
  show(suspended(tabId));
  await panel.getByRole('button', { name: 'Go to tab' }).waitFor();
  await waitFor('buttons that can be pressed', async () => (await panel.locator('[aria-disabled=true]').count()) === 0);
  await shoot(panel, 'suspended');
});

test('many questions at once leave room for each other', async () => {
  const { panel, show } = bed;
  show(Array.from({ length: 12 }, (_, i) => asking(`q${i}`, `t${i}`)));
  const deny = panel.getByRole('button', { name: 'Deny' });
  await deny.nth(4).waitFor();
  assert.equal(await deny.count(), 5);
  await waitFor('buttons that can be pressed', async () => (await panel.locator('[aria-disabled=true]').count()) === 0);
  await shoot(panel, '12-questions');
  await panel.getByRole('button', { name: 'Show 7 more' }).click();
  await waitFor('all', async () => (await deny.count()) === 12);
});

test('activities, by their type, never as HTML', async () => {
  const { panel, show } = bed;
  show(activities);
  await panel.getByRole('cell', { name: 'Subject of message 30' }).waitFor();
  await panel.getByText(/^SELECT id, subject/).waitFor();
  await panel.getByText(/<img src=x/).waitFor();
  assert.equal(await panel.locator('img').count(), 0);
  assert.equal(await panel.getByText('for nobody').count(), 0);
  await shoot(panel, 'activities');
});

test('30 calls at once are drawn anew in their places', async () => {
  const { panel, show } = bed;
  show(many(0));
  await panel.getByText('page 27 of 30').waitFor();
  await panel.evaluate(() => {
    const list = document.querySelector('.calls');
    const changes = { count: 0 };
    Object.assign(globalThis, { changes });
    if (list) new MutationObserver((seen) => (changes.count += seen.length)).observe(list, { childList: true });
  });
  const stop = panel.getByRole('button', { name: /^Stop/ }).nth(20);
  await stop.focus();
  for (let step = 1; step <= 20; step++) show(many(step / 20));
  await waitFor('all to be far', async () => (await panel.getByText('100%').count()) === 9);
  assert.equal(await panel.evaluate(() => Object(globalThis).changes.count), 0, 'no card was made anew');
  assert.ok(await stop.evaluate((button) => button === document.activeElement), 'the focus stays');
  await shoot(panel, '30-calls');
});

test('plugins, what they may do, and one to review', async () => {
  const { panel, server } = bed;
  server.tell('state.plugins', { plugins });
  await panel.getByRole('tab', { name: /Plugins/ }).click();
  await panel.getByText('needs a reload').waitFor();
  await panel.getByRole('button', { name: 'Review mail' }).click();
  await panel.getByText('3 tools, 2 with their own permission').first().click();
  await panel.getByRole('combobox', { name: 'Permission of post' }).waitFor();
  const reading = panel.getByRole('list', { name: 'Reading' }).first();
  assert.deepEqual(await reading.locator('.tool').allTextContents(), ['echoread-only', 'export_messages']);
  await shoot(panel, 'plugins');
});

test('the badge says how many calls wait for a person, also while the panel is closed', async () => {
  const { server, panel } = bed;
  await panel.goto('about:blank');
  server.tell('state.waiting', { count: 2 });
  const icon = () =>
    bed.worker.evaluate(async () => [await chrome.action.getBadgeText({}), await chrome.action.getTitle({})]);
  await waitFor('the badge', async () => String(await icon()) === '2?,opentabs: 2 calls waiting for approval');
  server.tell('state.waiting', { count: 0 });
  await waitFor('no badge', async () => String(await icon()) === ',opentabs');
});
