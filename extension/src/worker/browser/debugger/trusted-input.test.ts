import assert from 'node:assert/strict';
import { afterEach, beforeEach, mock, test } from 'node:test';
import { makeBrowserCall } from '../../../../test/browser-call.ts';
import { DebuggerFixture } from '../../../../test/debugger-fixture.ts';
import type { PageScripts } from '../page-scripts.ts';
import { TabFrames } from '../tab-frames.ts';
import { UserInput } from '../user-input.ts';
import { TrustedInput } from './trusted-input.ts';

beforeEach(() => mock.timers.enable({ apis: ['setTimeout', 'setInterval', 'Date'] }));
afterEach(() => mock.timers.reset());

const frame = { tabId: 7, documentId: 'd1', frameId: 0, prefix: '' };

function makeFixture() {
  const fixture = new DebuggerFixture();
  const userInput = new UserInput({
    watchInput: async () => undefined,
    sendToDebugger: async () => ({}),
    report: () => undefined,
  });
  const scripts: Pick<PageScripts, 'run'> = {
    run: async () => {
      throw new Error('the page script does not run in this test');
    },
  };
  const frames = new TabFrames({ scripts, listTabFrames: async () => [], isInFront: async () => false });
  return { fixture, userInput, trustedInput: new TrustedInput(fixture.debuggers, frames, userInput) };
}

test('after an action, a cross-site frame to which a recording keeps the debugger attached is as before', async () => {
  const { fixture, trustedInput } = makeFixture();
  const recording = await fixture.debuggers.hold(7, ['children']);
  fixture.emitEvent('Target.attachedToTarget', { sessionId: 'c1', targetInfo: { type: 'iframe' } });
  fixture.emitEvent('Target.attachedToTarget', { sessionId: 'c2', targetInfo: { type: 'worker' } });
  const click = { name: 'click', args: { target: 'e1' }, isTrusted: true } as const;
  await assert.rejects(trustedInput.run(makeBrowserCall({}, { tabId: 7 }), frame, click), /does not run in this test/);
  const modes = fixture.sentCommands.filter((command) => /(true|false) c\d$/.test(command));
  assert.deepEqual(modes, [
    'Page.setInterceptFileChooserDialog true c1',
    'Emulation.setFocusEmulationEnabled true c1',
    'Page.setInterceptFileChooserDialog false c1',
    'Emulation.setFocusEmulationEnabled false c1',
  ]);
  await recording.release();
});

test('a tool that a dialog has suspended stops when the server reports that its client no longer holds the tab', () => {
  const { fixture, userInput } = makeFixture();
  const { dialogs } = fixture.debuggers;
  const tabHold = { tabId: 7, client: 'claude-code', site: 'https://shop.example', leftMs: 60_000 };
  const controller = new AbortController();
  dialogs.suspendTool({ tabId: 7, tool: new Promise(() => undefined), session: 's1', controller });
  userInput.setTabHolds([tabHold]);
  userInput.setTabHolds([tabHold, { ...tabHold, tabId: 8 }]);
  assert.equal(controller.signal.aborted, false);
  userInput.forgetTabHolds(); // the link is lost for a moment
  userInput.setTabHolds([tabHold]);
  assert.equal(controller.signal.aborted, false);
  mock.timers.tick(59_500);
  userInput.setTabHolds([]); // the hold has ended by time
  userInput.setTabHolds([tabHold, { ...tabHold, tabId: 8 }]);
  assert.equal(controller.signal.aborted, false);
  mock.timers.tick(50_000);
  userInput.setTabHolds([{ ...tabHold, tabId: 8 }]);
  assert.equal(controller.signal.aborted, true);
});
