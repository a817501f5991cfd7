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

async function waitForUserControl(tabId: number): Promise<void> {
  await waitFor('the server to receive the input of the user', async () => {
    const { browsers = [] } = await fixture.stack.readStatus();
    return browsers.some(({ held_tabs = [] }) =>
      held_tabs.some((heldTab) => heldTab.tab_id === tabId && heldTab.taken),
    );
  });
}

async function assertFailsDuringUserControl(tool: string, args: Record<string, unknown>): Promise<void> {
  const { code, text: failureText } = await fixture.callExpectingFailure(tool, args);
  assert.equal(code, 'tab_taken', failureText);
  assert.match(
    failureText,
    /the user took tab \d+ back by a click or a key \d+ s ago, and you have not read the page since/,
  );
}

test("a user's click takes the tab back until the agent reads the page again", async () => {
  const { setPage, open: openTab, callTool, findRef: getRef, findPage: getPage, shop: shopOrigin, stack } = fixture;
  setPage('/tasks', taskPage);
  const tabId = await openTab('/tasks');
  const page = await getPage(`${shopOrigin}/tasks`);
  const addRef = await getRef('"Add"');
  await callTool('browser_click', { target: addRef });
  await page.mouse.click(5, 300);
  await waitForUserControl(tabId);
  await assertFailsDuringUserControl('browser_click', { target: addRef });
  await assertFailsDuringUserControl('browser_navigate', { url: `${shopOrigin}/tasks` });
  const batchFailure = await fixture.callExpectingFailure('browser_batch', {
    steps: [{ tool: 'browser_click', args: { target: addRef } }],
  });
  assert.match(batchFailure.text, /tab_taken/);
  const status = await stack.runCli('status');
  assert.match(status.stdout, /you took it back from .*, which must read the page before it acts again/);
  assert.equal(await page.textContent('#count'), '1', "no action must run after the user's click");
  await callTool('browser_find', { text: 'Add' });
  await callTool('browser_click', { target: addRef });
  assert.equal(await page.textContent('#count'), '2');
});

test("a user's key press takes the tab back, also in a new document or a frame; agent input does not", async () => {
  const {
    setPage,
    open: openTab,
    callTool,
    findRef: getRef,
    findPage: getPage,
    shop: shopOrigin,
    other: otherOrigin,
  } = fixture;
  setPage('/keys', taskPage);
  setPage(
    '/next',
    `<title>Next</title><label>Name <input id="name"></label><iframe src="${otherOrigin}/inner"></iframe>`,
  );
  setPage('/inner', '<title>Inner</title><button>Inner button</button>');
  const tabId = await openTab('/keys');
  const page = await getPage(`${shopOrigin}/keys`);
  await callTool('browser_type', { target: await getRef('"Task"'), text: 'milk', slowly: true });
  await callTool('browser_press_key', { target: await getRef('"Task"'), key: 'a' });
  await callTool('browser_click', { target: await getRef('"Add"'), doubleClick: true });
  await callTool('browser_click', { target: await getRef('"Next page"') });
  const name = await getRef('"Name"');
  await page.keyboard.press('Shift');
  await page.mouse.wheel(0, 10);
  await callTool('browser_type', { target: name, text: 'Ada' });
  await page.focus('#name');
  await page.keyboard.type('!');
  await waitForUserControl(tabId);
  await assertFailsDuringUserControl('browser_type', { target: name, text: 'Bob' });
  assert.equal(await page.inputValue('#name'), 'Ada!');

  await callTool('browser_snapshot');
  await callTool('browser_type', { target: name, text: 'Eve' });
  await page.frameLocator('iframe').getByRole('button').click();
  await waitForUserControl(tabId);
  await assertFailsDuringUserControl('browser_type', { target: name, text: 'Bob' });
});

test('stopping the agent in a tab ends its call, and further actions there need an approval', async () => {
  const {
    setPage,
    open: openTab,
    callTool,
    callExpectingFailure,
    findRef: getRef,
    findPage: getPage,
    shop: shopOrigin,
    stack,
    client,
    approvalForms,
  } = fixture;
  setPage(
    '/stop',
    `${taskPage}<button style="animation: move 1s infinite">Moving</button>
    <style>@keyframes move { from { margin-left: 0 } to { margin-left: 200px } }</style>`,
  );
  const tabId = await openTab('/stop');
  const addRef = await getRef('"Add"');
  const clickCall = client.call('browser_click', { target: await getRef('"Moving"') });
  await waitFor('the tab to be in use', async () =>
    (await stack.readStatus()).browsers?.some(({ held_tabs = [] }) =>
      held_tabs.some((heldTab) => heldTab.tab_id === tabId),
    ),
  );
  const releaseResult = await stack.runCli('browser', 'release', `${tabId}`);
  assert.match(releaseResult.stderr, /stopped .* in tab \d+; it needs your approval to act there again/);
  assert.match((await clickCall).text, /cancelled by the command line: the user stopped you in this tab/);
  const secondReleaseResult = await stack.runCli('browser', 'release', `${tabId}`);
  assert.match(secondReleaseResult.stderr, /no client uses tab \d+/);

  await callTool('browser_snapshot');
  fixture.onApprovalForm = () => false;
  assert.equal((await callExpectingFailure('browser_click', { target: addRef })).code, 'denied');
  assert.match(approvalForms.at(-1) ?? '', /wants to act on .* again, in tab \d+, where you stopped it/);
  fixture.onApprovalForm = () => true;
  await callTool('browser_click', { target: addRef });
  assert.equal(await (await getPage(`${shopOrigin}/stop`)).textContent('#count'), '1');
});

test('opentabs does not watch user input in a tab in which no agent has acted', async () => {
  const { setPage, callTool, findRef: getRef, open: openTab, findPage: getPage, shop: shopOrigin, stack } = fixture;
  setPage('/held', taskPage);
  setPage('/free', '<title>Free</title>');
  const unusedPage = await stack.chrome.openPage(`${shopOrigin}/free`);
  await openTab('/held');
  await callTool('browser_click', { target: await getRef('"Add"') });
  const worker = await waitFor('the service worker', () => stack.chrome.context.serviceWorkers()[0]);
  const isInputWatched = (url: string) =>
    worker.evaluate(`(async () => {
      const tab = (await chrome.tabs.query({})).find(({ url }) => url === ${JSON.stringify(url)});
      const func = () => Reflect.has(globalThis, 'opentabsInputEndMs');
      const [frame] = await chrome.scripting.executeScript({ target: { tabId: tab.id }, func });
      return frame.result;
    })()`);
  await getPage(`${shopOrigin}/held`);
  assert.equal(await isInputWatched(`${shopOrigin}/held`), true);
  assert.equal(await isInputWatched(unusedPage.url()), false);
});
