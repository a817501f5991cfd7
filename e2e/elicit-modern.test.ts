/**
 * With protocol version 2026-07-28, the response to a call contains the approval form, and the client repeats
 * the call with the user's decision.
 */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { ElicitResult } from '@modelcontextprotocol/sdk/types.js';
import { decideCall, findCall } from './harness/daemon-api.ts';
import { connectModernHttp, connectModernStdio, isRecord, type ModernClient } from './harness/modern.ts';
import { everythingPlugin, type Stack, startStack } from './harness/stack.ts';

let stack: Stack;

before(async () => {
  stack = await startStack({ plugins: [{ ...everythingPlugin, permission: 'ask' }] });
});
after(() => stack?.close());

const findWaitingCall = (tool: string) => findCall(stack, tool, (call) => call.waiting !== undefined);

async function decideCallOverApi(tool: string, isAllowed: boolean): Promise<void> {
  await decideCall(stack, (await findWaitingCall(tool)).call_id, { allow: isAllowed });
}

const makeDecisionAnswer = (decision: string): ElicitResult => ({ action: 'accept', content: { decision } });

for (const [name, connectClient] of [
  ['http', connectModernHttp],
  ['stdio', connectModernStdio],
] as const) {
  describe(`protocol version 2026-07-28 over ${name}`, () => {
    let client: ModernClient;
    let id = 0;
    before(async () => {
      client = await connectClient(stack);
    });
    after(() => client?.close());

    const sendCall = async (tool: string, args: unknown, extraParams: Record<string, unknown> = {}) => {
      const _meta = {
        'io.modelcontextprotocol/protocolVersion': '2026-07-28',
        'io.modelcontextprotocol/clientInfo': { name: 'opentabs-e2e', version: '1' },
        'io.modelcontextprotocol/clientCapabilities': { elicitation: {} },
      };
      id += 1;
      const params = { name: tool, arguments: args, _meta, ...extraParams };
      const { result: callResult, error } = await client.exchangeMessage({
        jsonrpc: '2.0',
        id,
        method: 'tools/call',
        params,
      });
      return { result: isRecord(callResult) ? callResult : {}, error: isRecord(error) ? error : undefined };
    };
    const startCallAndAwaitForm = async (tool: string, args: unknown) => {
      const { result: callResult } = await sendCall(tool, args);
      assert.equal(callResult.resultType, 'input_required', JSON.stringify(callResult));
      const [key = ''] = Object.keys(Object(callResult.inputRequests));
      return {
        formText: JSON.stringify(callResult.inputRequests),
        answer: (formAnswer: ElicitResult, stateSuffix = '') =>
          sendCall(tool, args, {
            inputResponses: { [key]: formAnswer },
            requestState: `${String(callResult.requestState)}${stateSuffix}`,
          }),
      };
    };

    test('a tampered state is rejected, and an approval with the original state runs the tool', async () => {
      const { formText, answer: formAnswer } = await startCallAndAwaitForm('everything__echo', { value: 'hi' });
      assert.match(formText, /May everything__echo run/);
      assert.equal((await formAnswer(makeDecisionAnswer('allow once'), '-TAMPERED')).error?.code, -32602);
      const { result: callResult } = await formAnswer(makeDecisionAnswer('allow once'));
      assert.equal(Object(callResult.structuredContent).value, 'hi');
      assert.equal((await formAnswer(makeDecisionAnswer('allow once'))).error?.code, -32602); // the user has already decided
    });

    test('a call that the user denied does not run', async () => {
      const { answer: formAnswer } = await startCallAndAwaitForm('everything__change', { key: `modern-${name}` });
      assert.equal((await formAnswer({ action: 'decline' })).result.isError, true);
      assert.equal(stack.site.receivedNotes.includes(`change modern-${name}`), false);
    });

    test('another surface can decide while the client has no open request', async () => {
      const { answer: formAnswer } = await startCallAndAwaitForm('everything__echo', { value: 4 });
      await decideCallOverApi('everything__echo', true);
      const { result: callResult } = await formAnswer({ action: 'cancel' });
      assert.equal(Object(callResult.structuredContent).value, 4);
    });
  });
}
