/**
 * The user takes a tab back from an agent by a click or a key press in the tab, or with `opentabs browser
 * release`.
 */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { waitFor } from '../harness/wait.ts';
import { type AgentFixture, startAgentFixture } from './agent-fixture.ts';

let fixture: AgentFixture;

before(async () => {
  fixture = await startAgentFixture();
});
after(() => fixture?.close());

const taskPage = `<title>Tasks</title><h1>Tasks</h1><label>Task <input id="task"></label>
  <button onclick="count.textContent++">Add</button><p id="count">0</p><a href="/next">Next page</a>`;

async function waitForTabTaken(tabId: number): Promise<void> {
  await waitFor('the server to receive the input of the user', async () => {
    const { browsers = [] } = await fixture.stack.readStatus();
    return browsers.some(({ held_tabs = [] }) => held_tabs.some((held) => held.tab_id === tabId && held.taken));
  });
}

async function assertFailsAsTaken(tool: string, args: Record<string, unknown>): Promise<void> {
  const { code, text } = await fixture.callExpectingFailure(tool, args);
  assert.equal(code, 'tab_taken', text);
  assert.match(text, /the user took tab \d+ back by a click or a key \d+ s ago, and you have not read the page since/);
}

test("a user's click takes the tab back until the agent reads the page again", async () => {
  const { setPage, open, callTool: run, findRef: refOf, findPage: pageOf, shop, stack } = fixture;
  setPage('/tasks', taskPage);
  const tabId = await open('/tasks');
  const page = await pageOf(`${shop}/tasks`);
  const add = await refOf('"Add"');
  await run('browser_click', { target: add });
  await page.mouse.click(5, 300);
  await waitForTabTaken(tabId);
  await assertFailsAsTaken('browser_click', { target: add });
  await assertFailsAsTaken('browser_navigate', { url: `${shop}/tasks` });
  const batch = await fixture.callExpectingFailure('browser_batch', {
    steps: [{ tool: 'browser_click', args: { target: add } }],
  });
  assert.match(batch.text, /tab_taken/);
  const status = await stack.runCli('status');
  assert.match(status.stdout, /you took it back from .*, which must read the page before it acts again/);
  assert.equal(await page.textContent('#count'), '1', "no action runs after the user's click");
  await run('browser_find', { text: 'Add' });
  await run('browser_click', { target: add });
  assert.equal(await page.textContent('#count'), '2');
});

test("a user's key press takes the tab back, also in a new document or a frame; agent input does not", async () => {
  const { setPage, open, callTool: run, findRef: refOf, findPage: pageOf, shop, other } = fixture;
  setPage('/keys', taskPage);
  setPage('/next', `<title>Next</title><label>Name <input id="name"></label><iframe src="${other}/inner"></iframe>`);
  setPage('/inner', '<title>Inner</title><button>Inner button</button>');
  const tabId = await open('/keys');
  const page = await pageOf(`${shop}/keys`);
  await run('browser_type', { target: await refOf('"Task"'), text: 'milk', slowly: true });
  await run('browser_press_key', { target: await refOf('"Task"'), key: 'a' });
  await run('browser_click', { target: await refOf('"Add"'), doubleClick: true });
  await run('browser_click', { target: await refOf('"Next page"') });
  const name = await refOf('"Name"');
  await page.keyboard.press('Shift');
  await page.mouse.wheel(0, 10);
  await run('browser_type', { target: name, text: 'Ada' });
  await page.focus('#name');
  await page.keyboard.type('!');
  await waitForTabTaken(tabId);
  await assertFailsAsTaken('browser_type', { target: name, text: 'Bob' });
  assert.equal(await page.inputValue('#name'), 'Ada!');

  await run('browser_snapshot');
  await run('browser_type', { target: name, text: 'Eve' });
  await page.frameLocator('iframe').getByRole('button').click();
  await waitForTabTaken(tabId);
  await assertFailsAsTaken('browser_type', { target: name, text: 'Bob' });
});

test('stopping the agent in a tab ends its call, and further actions there need an approval', async () => {
  const {
    setPage,
    open,
    callTool: run,
    callExpectingFailure: fail,
    findRef: refOf,
    findPage: pageOf,
    shop,
    stack,
    client,
    approvalForms: forms,
  } = fixture;
  setPage(
    '/stop',
    `${taskPage}<button style="animation: move 1s infinite">Moving</button>
    <style>@keyframes move { from { margin-left: 0 } to { margin-left: 200px } }</style>`,
  );
  const tabId = await open('/stop');
  const add = await refOf('"Add"');
  const acting = client.call('browser_click', { target: await refOf('"Moving"') });
  await waitFor('the tab to be in use', async () =>
    (await stack.readStatus()).browsers?.some(({ held_tabs = [] }) => held_tabs.some((held) => held.tab_id === tabId)),
  );
  const released = await stack.runCli('browser', 'release', `${tabId}`);
  assert.match(released.stderr, /stopped .* in tab \d+; it needs your approval to act there again/);
  assert.match((await acting).text, /cancelled by the command line: the user stopped you in this tab/);
  const again = await stack.runCli('browser', 'release', `${tabId}`);
  assert.match(again.stderr, /no client uses tab \d+/);

  await run('browser_snapshot');
  fixture.onApprovalForm = () => false;
  assert.equal((await fail('browser_click', { target: add })).code, 'denied');
  assert.match(forms.at(-1) ?? '', /wants to act on .* again, in tab \d+, where you stopped it/);
  fixture.onApprovalForm = () => true;
  await run('browser_click', { target: add });
  assert.equal(await (await pageOf(`${shop}/stop`)).textContent('#count'), '1');
});

test('a tab in which no agent has acted runs no input watch script', async () => {
  const { setPage, callTool: run, findRef: refOf, open, findPage: pageOf, shop, stack } = fixture;
  setPage('/held', taskPage);
  setPage('/free', '<title>Free</title>');
  const free = await stack.chrome.openPage(`${shop}/free`);
  await open('/held');
  await run('browser_click', { target: await refOf('"Add"') });
  const worker = await waitFor('the service worker', () => stack.chrome.context.serviceWorkers()[0]);
  const isWatched = (url: string) =>
    worker.evaluate(`(async () => {
      const tab = (await chrome.tabs.query({})).find(({ url }) => url === ${JSON.stringify(url)});
      const func = () => Reflect.has(globalThis, 'opentabsInputEndMs');
      const [frame] = await chrome.scripting.executeScript({ target: { tabId: tab.id }, func });
      return frame.result;
    })()`);
  await pageOf(`${shop}/held`);
  assert.equal(await isWatched(`${shop}/held`), true);
  assert.equal(await isWatched(free.url()), false);
});
