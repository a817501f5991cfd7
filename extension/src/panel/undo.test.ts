import assert from 'node:assert/strict';
import test from 'node:test';
import type { CallView, PluginView } from '../../../wire/wire.gen.ts';
import { describeUndo, findUndoTool } from './undo.ts';

const plugin: PluginView = {
  name: 'messages',
  displayName: 'Messages',
  version: '1.0.0',
  hash: 'h',
  reviewed: true,
  permission: 'auto',
  tools: [
    { name: 'delete_message', displayName: 'Delete message', undo: 'restore_message' },
    { name: 'restore_message', displayName: 'Restore message' },
  ],
};

const undoableCall: CallView = { callId: 'c1', plugin: 'messages', tool: 'delete_message', status: 'done', runMs: 3 };

test('findUndoTool returns a tool only for a successful call whose tool declares an undo tool', () => {
  assert.equal(findUndoTool([plugin], undoableCall), 'restore_message');
  assert.equal(findUndoTool([plugin], { ...undoableCall, status: 'failed' }), undefined);
  assert.equal(findUndoTool([plugin], { ...undoableCall, status: 'running' }), undefined);
  assert.equal(findUndoTool([plugin], { ...undoableCall, prompt: true }), undefined);
  assert.equal(findUndoTool([plugin], { ...undoableCall, tool: 'restore_message' }), undefined);
  assert.equal(findUndoTool([plugin], { ...undoableCall, plugin: 'calendar' }), undefined);
  assert.equal(findUndoTool([], undoableCall), undefined);
});

test('describeUndo contains the undo tool and the call that undoes, in each state', () => {
  const undoTexts = (['started', 'undone', 'unknown'] as const).map((undoState) =>
    describeUndo({ state: undoState, by: 'call_2' }, 'restore'),
  );
  assert.equal(new Set(undoTexts).size, 3);
  for (const undoText of undoTexts) assert.match(undoText, /restore.* call_2/);
});
