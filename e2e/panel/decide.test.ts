/** Promise: what a person decides in the side panel is what happens, and nothing is decided by mistake. */
import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import { waitFor } from '../harness/wait.ts';
import { type Bed, makeBed } from './bed.ts';
import { asking, call, plugins, suspended } from './scenes.ts';

let bed: Bed;

before(async () => {
  bed = await makeBed();
});
beforeEach(async () => {
  bed.server.answer = () => ({});
  bed.server.forget();
  bed.show([]);
  await bed.panel.reload();
  await bed.panel.getByText('No tool is running.').waitFor();
});
after(() => bed?.close());

/** asked returns what the server was asked for, once it was asked. */
async function asked(method: string): Promise<unknown> {
  return waitFor(method, () => bed.server.asked.find((one) => one.method === method)?.params);
}

/** pressAtOnce presses buttons in the moment they are there, as a finger does that was on its way to something else. */
async function pressAtOnce(buttons: string): Promise<void> {
  await bed.panel.evaluate((buttons) => {
    document.title = '';
    const early = new MutationObserver(() => {
      const there = document.querySelectorAll<HTMLElement>(buttons);
      if (there.length === 0) return;
      early.disconnect();
      for (const button of there) button.click();
      document.title = 'pressed';
    });
    early.observe(document.body, { childList: true, subtree: true, attributes: true });
  }, buttons);
}

const taken = { outcome: 'decided', allowed: true };

test('each answer is sent as it was pressed', async () => {
  const { panel, server, show } = bed;
  server.answer = () => taken;
  const decide = { callId: 's1', ticketId: 't1', allow: true };
  const answers: [string, object, string][] = [
    ['Deny', { ...decide, allow: false }, 'Denied.'],
    ['Allow once', { ...decide, scope: 'once' }, 'Allowed once.'],
    ['Allow for 10 min', { ...decide, scope: 'time', forMs: 600_000 }, 'Allowed for 10 min.'],
    ['Allow for this session', { ...decide, scope: 'session' }, 'Allowed for this session.'],
    ['Allow always', { ...decide, scope: 'always' }, 'Allowed from now on.'],
  ];
  for (const [name, params, fate] of answers) {
    server.forget();
    show([asking('s1', 't1')]);
    await panel.getByRole('button', { name }).click();
    assert.deepEqual(await asked('call.decide'), params);
    show([]);
    await panel.getByText(fate).waitFor();
    await panel.reload();
  }
});

test('a tool that waits for the person: the tab is shown, then the call goes on', async () => {
  const { panel, server, show, site, tabId } = bed;
  server.answer = () => taken;
  show(suspended(tabId).slice(1, 2));
  await panel.bringToFront();
  await panel.getByRole('button', { name: 'Go to tab' }).click();
  await waitFor('the tab in front', () => site.evaluate(() => document.visibilityState === 'visible'));
  await panel.bringToFront();
  await panel.getByRole('button', { name: /^Done/ }).click();
  assert.deepEqual(await asked('call.decide'), { callId: 's2', ticketId: 't2', allow: true });
});

test('a card that has just come or moved can’t be answered by mistake', async () => {
  const { panel, server, show } = bed;
  server.answer = () => taken;
  await pressAtOnce('.ticket button');
  show([asking('s1', 't1'), asking('s2', 't2')]);
  await panel.getByRole('button', { name: 'Deny' }).nth(1).waitFor();
  assert.ok(await panel.evaluate(() => document.activeElement === document.body), 'no button has the focus');
  await panel.getByText('messages export_messages is waiting for approval. 2 waiting.').waitFor({ state: 'attached' });
  await panel.keyboard.press('Enter');
  const late = panel.getByRole('button', { name: 'Deny' }).nth(1);
  await waitFor('buttons that can be pressed', async () => (await late.getAttribute('aria-disabled')) === 'false');
  assert.equal(await panel.title(), 'pressed');
  assert.deepEqual(server.asked, []);
  // The first card goes and the second slides to its place.
  await pressAtOnce('.gone + .ticket button');
  show([asking('s2', 't2')]);
  await panel.getByText('No longer waiting for approval.').waitFor();
  await waitFor('the press', () => panel.evaluate(() => document.title === 'pressed'));
  assert.deepEqual(server.asked, []);
  await panel.getByRole('button', { name: 'Deny' }).click();
  assert.deepEqual(await asked('call.decide'), { callId: 's2', ticketId: 't2', allow: false });
});

test('buttons that move in a card that stands can’t be pressed by mistake', async () => {
  const { panel, server, show } = bed;
  server.answer = () => taken;
  const list = JSON.stringify(Array.from({ length: 30 }, (_, i) => i));
  const questions = ['t1', 't2', 't3', 't4'].map((id) => asking(id, id, { args: list }));
  show(questions.slice(0, 1));
  const deny = panel.getByRole('button', { name: 'Deny' }).first();
  await waitFor('a button', async () => (await deny.getAttribute('aria-disabled')) === 'false');
  // Many cards show less of their arguments.
  await pressAtOnce('.crowded > :first-child button');
  show(questions);
  await waitFor('the press', () => panel.evaluate(() => document.title === 'pressed'));
  await waitFor('a button again', async () => (await deny.getAttribute('aria-disabled')) === 'false');
  assert.deepEqual(server.asked, []);
  await deny.click();
  assert.deepEqual(await asked('call.decide'), { callId: 't1', ticketId: 't1', allow: false });
});

test('another surface that was first is named, and a refusal is shown where it was pressed', async () => {
  const { panel, server, show } = bed;
  server.answer = () => {
    throw new Error('permissions.json is read-only');
  };
  show([asking('s1', 't1')]);
  await panel.getByRole('button', { name: 'Allow always' }).click();
  await panel.locator('.ticket').getByText('permissions.json is read-only').waitFor();
  server.answer = () => ({ outcome: 'already', by: 'opentabs calls', allowed: false });
  await panel.getByRole('button', { name: 'Allow once' }).click();
  await waitFor('both requests', () => server.asked.length === 2);
  show([call('s1', { status: 'failed', error: 'a person denied it' })]);
  await panel.getByText('Already denied by opentabs calls.').waitFor();
});

test('permissions of plugins and tools', async () => {
  const { panel, server } = bed;
  server.tell('state.plugins', { plugins });
  await panel.getByRole('tab', { name: /Plugins/ }).click();
  const messages = panel.getByRole('combobox', { name: 'Permission of Messages' });
  await messages.selectOption('auto');
  assert.deepEqual(await asked('config.permission'), { plugin: 'messages', permission: 'auto' });
  server.tell('state.plugins', { plugins: plugins.map((one) => ({ ...one, permission: 'auto' })) });
  await waitFor('the list', async () => (await panel.locator('select.auto').count()) >= 3);
  server.tell('state.plugins', { plugins }); // as another surface has set it
  await waitFor('what holds', async () => (await messages.inputValue()) === 'ask');
  await panel.getByText('3 tools').first().click();
  server.forget();
  await panel.getByRole('combobox', { name: 'Permission of post' }).selectOption('default');
  assert.deepEqual(await asked('config.permission'), { plugin: 'messages', tool: 'post' });
  server.answer = () => {
    throw new Error('permissions.json is read-only');
  };
  const bank = panel.getByRole('combobox', { name: 'Permission of Bank' });
  await bank.selectOption('auto');
  await panel.getByText('permissions.json is read-only').waitFor();
  assert.equal(await bank.inputValue(), 'off');
});

test('a review is for the code that was shown', async () => {
  const { panel, server } = bed;
  server.tell('state.plugins', { plugins });
  await panel.getByRole('tab', { name: /Plugins/ }).click();
  await panel.getByRole('button', { name: 'Review mail' }).click();
  await panel.getByRole('button', { name: 'Allow, ask each time' }).waitFor();
  const hash = 'ab'.repeat(32);
  server.tell('state.plugins', { plugins: plugins.map((one) => ({ ...one, hash })) });
  await panel.getByRole('button', { name: 'Review mail' }).click(); // what it is now was not shown
  await panel.getByRole('button', { name: 'Allow, ask each time' }).click();
  assert.deepEqual(await asked('config.review'), { plugin: 'mail', hash, permission: 'ask' });
});

test('by keyboard: nothing is pressed by itself, and the focus stays near when its button goes', async () => {
  const { panel, server, show } = bed;
  server.answer = () => taken;
  show([asking('s1', 't1'), asking('s2', 't2')]);
  const deny = panel.getByRole('button', { name: 'Deny' }).first();
  await waitFor('a button', async () => (await deny.getAttribute('aria-disabled')) === 'false');
  const focused = () => panel.evaluate(() => document.activeElement?.textContent ?? '');
  await panel.keyboard.press('Tab');
  for (let i = 0; i < 20 && (await focused()) !== 'Deny'; i++) await panel.keyboard.press('Tab');
  assert.equal(await focused(), 'Deny', 'the harmless answer comes first');
  await panel.keyboard.press('Enter');
  assert.deepEqual(await asked('call.decide'), { callId: 's1', ticketId: 't1', allow: false });
  show([asking('s2', 't2')]);
  await panel.getByText('Denied.').waitFor();
  assert.match(await focused(), /Waiting for you/);
  await panel.keyboard.press('Enter');
  assert.equal(server.asked.length, 1);
});

test('a question of a plugin says so, and for whom a longer permission holds', async () => {
  const { panel, show } = bed;
  const reason = 'The plugin tickets (tab 7, https://site.test) wants to run messages__export_messages';
  const caller = { plugin: 'tickets', tool: 'tickets__file', tabId: 7, origin: 'https://site.test' };
  show([asking('n1', 't1', { reason, caller })]);
  await panel.getByText(reason).waitFor();
  await panel.getByText('Allow the plugin tickets without asking again').waitFor();
  show([asking('n2', 't2')]);
  await panel.getByText(/^Allow .+ without asking again$/).waitFor();
  await panel.getByText('Allow the plugin tickets without asking again').waitFor({ state: 'detached' });
});
