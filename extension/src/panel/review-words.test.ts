import assert from 'node:assert/strict';
import test from 'node:test';
import type { PowerView, ToolView } from '../../../wire/wire.gen.ts';
import {
  describeInstallation,
  describeLastReview,
  describeToolCounts,
  describeUpdate,
  groupFeatures,
  listChangedPermissions,
  makeSectionTitle,
  splitLines,
} from './review-words.ts';

const makeTool = (name: string, overrides: Partial<ToolView> = {}): ToolView => ({
  name,
  displayName: name,
  ...overrides,
});

test('groupFeatures groups features by meaning, and separates the features that only libraries mention', () => {
  const powerViews: PowerView[] = [
    { name: 'eval', meaning: 'Runs text as code.', sections: ['libraries'] },
    { name: 'fetch', meaning: 'Sends requests.', sections: ['code', 'libraries'] },
    { name: 'sendBeacon', meaning: 'Sends requests.', sections: ['pre-script'] },
  ];
  assert.deepEqual(groupFeatures(powerViews), {
    ownFeatures: [{ names: 'fetch, sendBeacon', featureMeaning: 'Sends requests.' }],
    libraryNames: 'eval',
  });
  assert.deepEqual(groupFeatures([]), { ownFeatures: [], libraryNames: '' });
});

test('describeToolCounts counts read-only tools and tools that may write', () => {
  const readTool = makeTool('read', { readOnly: true });
  const postTool = makeTool('post');
  assert.equal(describeToolCounts([readTool, postTool, makeTool('send')]), '3 tools: 1 read-only, 2 may write');
  assert.equal(describeToolCounts([readTool]), '1 tool, read-only');
  assert.equal(describeToolCounts([postTool, postTool]), '2 tools, may write');
});

test('makeSectionTitle returns the name and the size of a section', () => {
  assert.equal(makeSectionTitle({ name: 'code', pages: 2, lines: 1500 }), 'Author’s code, 1,500 lines');
  assert.equal(makeSectionTitle({ name: 'pre-script', pages: 1, lines: 1 }), 'Pre-script, 1 line');
  const changesSection = { name: 'changes', pages: 1, lines: 9, added: 3 } as const;
  assert.equal(makeSectionTitle(changesSection, { version: '1.1.0' }), 'Changes since version 1.1.0: +3 −0 lines');
  assert.equal(makeSectionTitle(changesSection, {}), 'Changes since your last review: +3 −0 lines');
});

test('describeLastReview contains the version and the permission of the last review', () => {
  assert.equal(describeLastReview({ version: '1.1.0', permission: 'auto' }), 'Version 1.1.0; the permission was auto');
  assert.match(describeLastReview({ atMs: 1_763_744_400_000 }), /^Another version on .*2025/);
});

test('splitLines returns no empty line for a line break at the end of a text', () => {
  assert.deepEqual(splitLines('a\n\nb\n'), ['a', '', 'b']);
  assert.deepEqual(splitLines('a'), ['a']);
});

test('listChangedPermissions returns only the tool permissions that a review would change', () => {
  const tools = [makeTool('a', { permission: 'off' }), makeTool('b', { permission: 'auto' }), makeTool('c')];
  assert.deepEqual(listChangedPermissions(tools, new Map()), []);
  assert.deepEqual(
    listChangedPermissions(
      tools,
      new Map([
        ['a', ''],
        ['b', ''],
        ['c', 'auto'],
      ] as const),
    ),
    [{ tool: 'a' }, { tool: 'c', permission: 'auto' }],
  );
});

test('describeInstallation and describeUpdate contain the versions and the warnings', () => {
  assert.equal(describeInstallation({ plugin: 'wiki', version: '1.0.0' }), 'Installed wiki 1.0.0.');
  assert.equal(
    describeInstallation({
      plugin: 'wiki',
      version: '2.0.0',
      previousVersion: '1.0.0',
      warnings: ['it is deprecated'],
    }),
    'Replaced version 1.0.0 with wiki 2.0.0.\nWarning: it is deprecated',
  );
  assert.equal(describeUpdate({ version: '1.0.0' }), 'Version 1.0.0 is the newest in its range.');
  assert.equal(
    describeUpdate({ version: '1.1.0', previousVersion: '1.0.0', latestVersion: '2.0.0' }),
    'Updated from 1.0.0 to 1.1.0. Review the new version.\nVersion 2.0.0 is outside of its range.',
  );
});
