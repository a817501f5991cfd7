/** opentabs puts the tabs that an agent opens into a tab group with the agent's name and color. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { waitFor } from '../harness/wait.ts';
import { type AgentFixture, startAgentFixture } from './agent-fixture.ts';

let fixture: AgentFixture;

before(async () => {
  fixture = await startAgentFixture({ hasOptionalPermissions: true });
});
after(() => fixture?.close());

async function listGroups(): Promise<string[]> {
  const worker = await waitFor('the service worker', () => fixture.stack.chrome.context.serviceWorkers()[0]);
  const groupLines: unknown = await worker.evaluate(`(async () => {
    const groups = new Map((await chrome.tabGroups.query({})).map((group) => [group.id, group]));
    return (await chrome.tabs.query({})).map(({ url, groupId, active }) => {
      const group = groups.get(groupId);
      return new URL(url).pathname + ': ' + (group ? group.title + ' ' + group.color : 'none') + (active ? ', active' : '');
    });
  })()`);
  return Array.isArray(groupLines) ? groupLines.map(String).sort() : [];
}

test("tabs that an agent opens, also by clicks, are in the agent's tab group", async () => {
  const { setPage, open: openTab, callTool, findRef: getRef, stack, shop: shopOrigin } = fixture;
  setPage(
    '/work',
    `<title>Work</title><a href="/linked" target="_blank">New tab</a>
     <button onclick="window.open('/opened')">Open</button>`,
  );
  setPage('/linked', '<title>Linked</title>');
  setPage('/opened', '<title>Opened</title>');
  setPage('/second', '<title>Second</title>');
  const [userTab = ''] = await listGroups();
  await Promise.all([openTab('/work'), callTool('browser_tabs', { action: 'new', url: `${shopOrigin}/second` })]);
  await openTab('/work');
  await callTool('browser_click', { target: await getRef('"New tab"') });
  const otherClient = await stack.connectStdio();
  const openedTab = await otherClient.call('browser_tabs', { action: 'new', url: `${shopOrigin}/second` });
  assert.equal(openedTab.isError, false, openedTab.text);

  const groupLines = await listGroups();
  assert.ok(
    groupLines.includes(userTab),
    `the user's tab must stay in front and in no group: ${groupLines.join('\n')}`,
  );
  const findGroupLines = (path: string) =>
    groupLines.filter((line) => line.startsWith(`${path}: `)).map((line) => line.slice(path.length + 2));
  const [groupName = ''] = findGroupLines('/work');
  assert.match(groupName, /e2e.* blue$/);
  assert.deepEqual(findGroupLines('/work'), [groupName, groupName]);
  assert.deepEqual(findGroupLines('/linked'), [groupName]);
  const secondGroups = findGroupLines('/second');
  assert.equal(secondGroups.length, 2);
  assert.ok(secondGroups.includes(groupName), secondGroups.join('\n'));
  assert.match(secondGroups.find((secondGroup) => secondGroup !== groupName) ?? '', / green$/);

  await otherClient.close();
  assert.deepEqual(await listGroups(), groupLines, 'the end of a session must close and move no tab');
});

test("a client's tab is not put into a user's tab group with the client's name", async () => {
  const { stack, shop: shopOrigin, setPage } = fixture;
  setPage('/own', '<title>Own</title>');
  setPage('/added', '<title>Added</title>');
  const worker = await waitFor('the service worker', () => stack.chrome.context.serviceWorkers()[0]);
  const name = (await listGroups()).find((line) => line.startsWith('/work: '))?.replace(/^\/work: | blue$/g, '') ?? '';
  assert.notEqual(name, '', "the client's tab group must have a name");
  // After the MCP client's tab group has closed, the user creates a tab group with the same name.
  const userGroup: unknown = await worker.evaluate(`(async () => {
    const all = await chrome.tabs.query({});
    await chrome.tabs.ungroup(all.filter(({ url }) => url.startsWith(${JSON.stringify(shopOrigin)})).map(({ id }) => id));
    const own = await chrome.tabs.create({ url: ${JSON.stringify(`${shopOrigin}/own`)}, active: false });
    const groupId = await chrome.tabs.group({ tabIds: [own.id] });
    await chrome.tabGroups.update(groupId, { title: ${JSON.stringify(name)}, color: 'blue' });
    return groupId;
  })()`);
  await fixture.open('/added');
  await fixture.open('/added');
  const tabGroups: unknown = await worker.evaluate(`chrome.tabs.query({}).then((tabs) => tabs
    .filter(({ url, pendingUrl }) => (url || pendingUrl).endsWith('/added')).map(({ groupId }) => groupId))`);
  assert.ok(Array.isArray(tabGroups));
  assert.equal(tabGroups.length, 2, 'the client must have two tabs');
  assert.equal(tabGroups[0], tabGroups[1], "the client's tabs are in one tab group");
  assert.notEqual(tabGroups[0], userGroup, "the client's tab group differs from the user's tab group");
  assert.ok(tabGroups[0] > 0, "the client's tabs are in a tab group");
});
