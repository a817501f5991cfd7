/** Up to protocol version 2025-11-25, a client that supports elicitation shows the approval form. */
import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, test } from 'node:test';
import type { ElicitResult } from '@modelcontextprotocol/sdk/types.js';
import type { McpClient } from './harness/client.ts';
import { decideCall, findCall } from './harness/daemon-api.ts';
import { everythingPlugin, type Stack, startStack } from './harness/stack.ts';
import { waitFor } from './harness/wait.ts';

let stack: Stack;

before(async () => {
  stack = await startStack({ plugins: [{ ...everythingPlugin, permission: 'ask' }] });
});
after(() => stack?.close());

interface ApprovalForm {
  readonly message: string;
  readonly choices: unknown;
  readonly signal: AbortSignal;
  answer(result: ElicitResult): void;
}

const findWaitingCall = (tool: string) => findCall(stack, tool, (call) => call.waiting !== undefined);

async function decideCallOverApi(tool: string, isAllowed: boolean): Promise<void> {
  await decideCall(stack, (await findWaitingCall(tool)).call_id, { allow: isAllowed });
}

const makeDecisionAnswer = (decision: string): ElicitResult => ({ action: 'accept', content: { decision } });

for (const [name, connectClient] of [
  ['http', (testedStack: Stack) => testedStack.connectHttp.bind(testedStack)],
  ['stdio', (testedStack: Stack) => testedStack.connectStdio.bind(testedStack)],
] as const) {
  describe(`protocol version 2025-11-25 over ${name}`, () => {
    let client: McpClient;
    let approvalForms: ApprovalForm[];
    const nextForm = () => waitFor('the next approval form', () => approvalForms.shift());

    before(async () => {
      client = await connectClient(stack)(
        (params, signal) =>
          new Promise((formAnswer) => {
            const schema: unknown = 'requestedSchema' in params ? params.requestedSchema : {};
            approvalForms.push({
              message: params.message,
              choices: Object(Object(Object(schema).properties).decision).enum,
              signal,
              answer: formAnswer,
            });
          }),
      );
    });
    beforeEach(() => {
      approvalForms = [];
    });

    test('the approval form shows the tool and its arguments, and "allow once" runs the call', async () => {
      const call = client.call('everything__echo', { value: 'hi' });
      const approvalForm = await nextForm();
      assert.match(approvalForm.message, /May everything__echo run/);
      assert.match(approvalForm.message, /\{"value":"hi"\}/);
      assert.deepEqual(approvalForm.choices, ['allow once', 'allow for this session', 'deny']);
      approvalForm.answer(makeDecisionAnswer('allow once'));
      assert.equal(Object((await call).structured).value, 'hi');
    });

    test('a call whose form is denied or declined does not run, and the agent receives "denied"', async () => {
      for (const [i, formAnswer] of [makeDecisionAnswer('deny'), { action: 'decline' } as const].entries()) {
        const key = `${name}-denied-${i}`;
        const call = client.call('everything__change', { key });
        (await nextForm()).answer(formAnswer);
        assert.equal((await call).code, 'denied');
        assert.equal(stack.site.receivedNotes.includes(`change ${key}`), false);
      }
    });

    test('a form is withdrawn when another surface decides first, and a late approval in the form runs nothing', async () => {
      const key = `${name}-late`;
      const call = client.call('everything__change', { key });
      const approvalForm = await nextForm();
      await decideCallOverApi('everything__change', false);
      assert.equal((await call).code, 'denied');
      await waitFor('the approval form to be withdrawn', () => approvalForm.signal.aborted);
      approvalForm.answer(makeDecisionAnswer('allow once'));
      assert.equal((await client.call('messages__echo', { value: 1 })).isError, false); // the late approval is processed before messages__echo runs
      assert.equal(stack.site.receivedNotes.includes(`change ${key}`), false);
    });

    test('a call whose form is closed without a decision keeps waiting for approval on the other surfaces', async () => {
      const call = client.call('everything__echo', { value: 2 });
      (await nextForm()).answer({ action: 'cancel' });
      await decideCallOverApi('everything__echo', true);
      assert.equal(Object((await call).structured).value, 2);
    });

    test('a form is withdrawn when the client cancels its call, and nothing runs', async () => {
      const key = `${name}-left`;
      const controller = new AbortController();
      const call = client.call('everything__change', { key }, { signal: controller.signal });
      call.catch(() => undefined);
      const approvalForm = await nextForm();
      const { call_id: id } = await findWaitingCall('everything__change');
      controller.abort();
      await assert.rejects(call);
      await waitFor('the approval form to be withdrawn', () => approvalForm.signal.aborted);
      approvalForm.answer(makeDecisionAnswer('allow once'));
      await waitFor('the call to be withdrawn', async () =>
        (await stack.listCalls()).some((call) => call.call_id === id && call.status === 'cancelled'),
      );
      assert.equal(stack.site.receivedNotes.includes(`change ${key}`), false);
    });

    test('a tool that waits for the user continues after an accepted form, and gets user_denied after a declined form', async () => {
      for (const [formAnswer, resultPattern] of [
        [{ action: 'accept', content: {} }, /"done"/],
        [{ action: 'decline' }, /user_denied/],
      ] as const) {
        const call = client.call('everything__wait_for_user', { reason: 'Log in to the chat.' });
        (await nextForm()).answer(makeDecisionAnswer('allow once'));
        const approvalForm = await nextForm();
        assert.match(approvalForm.message, /everything__wait_for_user is waiting for you: Log in to the chat\./);
        approvalForm.answer(formAnswer);
        assert.match((await call).text, resultPattern);
      }
    });

    test('after "allow for this session" the client needs no further approval, and another client does', async () => {
      const firstCall = client.call('everything__change', {});
      (await nextForm()).answer(makeDecisionAnswer('allow for this session'));
      assert.equal((await firstCall).isError, false);
      assert.equal((await client.call('everything__change', {})).isError, false);
      const otherClient = await stack.connectHttp();
      const otherCall = otherClient.call('everything__change', {});
      await decideCallOverApi('everything__change', false);
      assert.equal((await otherCall).code, 'denied');
    });

    test('a client without elicitation receives the reason why its call is waiting for approval', async () => {
      const clientWithoutElicitation = await connectClient(stack)();
      const call = clientWithoutElicitation.call('everything__echo', { value: 3 });
      await decideCallOverApi('everything__echo', true);
      const callOutcome = await call;
      assert.equal(Object(callOutcome.structured).value, 3);
      assert.match(String(callOutcome.progress[0]?.message), /^waiting for approval: may everything__echo run\?/);
    });
  });
}
