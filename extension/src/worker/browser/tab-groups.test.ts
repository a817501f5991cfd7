import assert from 'node:assert/strict';
import test from 'node:test';
import { TabGroups } from './tab-groups.ts';

function makeTabGroups(hasPermission = true) {
  const addedTabs: string[] = [];
  const groupByTab = new Map<number, number>();
  const settings = new Map<string, string>();
  const sessionValues = new Map<string, string>();
  let groupCount = 0;
  let isGroupingPending = false;
  const browser = {
    hasPermission: async () => hasPermission,
    readSetting: async (key: string) => settings.get(key),
    writeSetting: async (key: string, value: string) => {
      settings.set(key, value);
    },
    readSessionValue: async (key: string) => sessionValues.get(key),
    writeSessionValue: async (key: string, value: string) => {
      sessionValues.set(key, value);
    },
    groupTab: async (tabId: number, groupIds: readonly number[], title: string, color: string) => {
      assert.equal(isGroupingPending, false, 'two tabs must not be added to groups at the same time');
      isGroupingPending = true;
      await new Promise((resolve) => setImmediate(resolve));
      isGroupingPending = false;
      if (tabId === 13) throw new Error('Tabs can only be grouped in normal windows');
      addedTabs.push(`${tabId} ${title} ${color}`);
      // In the fake browser, tabs with an ID of 50 or higher are in a second window without tab groups.
      const currentGroupId = tabId < 50 ? groupIds[0] : groupIds[1];
      const groupId = currentGroupId ?? 100 + groupCount++;
      groupByTab.set(tabId, groupId);
      return groupId;
    },
  };
  return { browser, addedTabs, groupOf: groupByTab };
}

test('each client has a fixed color, and the first clients have different colors', async () => {
  const { browser, addedTabs } = makeTabGroups();
  const tabGroups = new TabGroups(browser);
  await Promise.all([
    tabGroups.add(1, 'claude'),
    tabGroups.add(2, 'claude'),
    tabGroups.add(13, 'claude'),
    tabGroups.add(3, 'cursor'),
  ]);
  await new TabGroups(browser).add(4, 'cursor');
  assert.deepEqual(addedTabs.splice(0), ['1 claude blue', '2 claude blue', '3 cursor green', '4 cursor green']);
  for (let i = 0; i < 20; i++) await tabGroups.add(i + 20, `client ${i}`);
  assert.equal(new Set(addedTabs.map((entry) => entry.split(' ').at(-1))).size, 9, 'all colors must be used');
});

test("a tab is in no group if the permission tabGroups or the client's name is missing", async () => {
  const { browser, addedTabs } = makeTabGroups(false);
  await new TabGroups(browser).add(1, 'claude');
  await new TabGroups({ ...browser, hasPermission: async () => true }).add(1, '');
  assert.deepEqual(addedTabs, []);
});

test("TabGroups finds a client's tab groups by their IDs, even after a restart of the worker", async () => {
  const { browser, groupOf } = makeTabGroups();
  await new TabGroups(browser).add(1, 'claude');
  await new TabGroups(browser).add(2, 'claude');
  await new TabGroups(browser).add(3, 'cursor');
  await new TabGroups(browser).add(50, 'claude');
  await new TabGroups(browser).add(51, 'claude');
  assert.deepEqual(Object.fromEntries(groupOf), { 1: 100, 2: 100, 3: 101, 50: 102, 51: 102 });
});
