import assert from 'node:assert/strict';
import test from 'node:test';
import { Attachment } from './attachment.ts';
import { TabInput } from './tab-input.ts';

test('after releaseAll, a TabInput ignores the drags of later operations', async () => {
  const attachment = new Attachment(() => undefined);
  const sentTypes: unknown[] = [];
  const input = new TabInput({
    session: {
      send: async (_method, params = {}) => {
        sentTypes.push(params.type);
        return {};
      },
      onEvent: (listener) => attachment.onEvent(listener),
      onChildTarget: () => () => undefined,
      watchChildren: async () => () => undefined,
    },
    children: [],
    findPoint: async (point) => point,
    focus: async () => true,
    dialogOpened: new Promise(() => undefined),
  });
  const mouseFields = { x: 1, y: 2, button: 'left', modifiers: [], count: 1 } as const;
  const reportDrag = () => attachment.emitEvent('Input.dragIntercepted', { data: { items: [] } }, '');
  await input.sendRequest({ ...mouseFields, kind: 'press' });
  reportDrag();
  await input.releaseAll();
  assert.deepEqual(sentTypes.splice(0), ['mousePressed', 'dragCancel', 'mouseReleased']);
  await input.sendRequest({ ...mouseFields, kind: 'release' });
  sentTypes.length = 0;
  reportDrag();
  await input.sendRequest({ ...mouseFields, kind: 'move' });
  assert.deepEqual(sentTypes, ['mouseMoved']);
});
