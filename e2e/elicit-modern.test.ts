/** Promise: in 2026-07-28 the question is the answer to the call, which waits meanwhile and is made again with the decision. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { ElicitResult } from '@modelcontextprotocol/sdk/types.js';
import { decideCall, findCall } from './harness/api.ts';
import { isRecord, type Modern, modernHttp, modernStdio } from './harness/modern.ts';
import { everything, type Stack, startStack } from './harness/stack.ts';

let stack: Stack;

before(async () => {
  stack = await startStack({ plugins: [{ ...everything, permission: 'ask' }] });
});
after(() => stack?.close());

/** waiting is the call of a tool that waits for the person. */
const waiting = (tool: string) => findCall(stack, tool, (call) => call.waiting !== undefined);

/** elsewhere lets another surface decide about it. */
async function elsewhere(tool: string, allow: boolean): Promise<void> {
  await decideCall(stack, (await waiting(tool)).call_id, { allow });
}

const choose = (decision: string): ElicitResult => ({ action: 'accept', content: { decision } });

for (const [name, open] of [
  ['http', modernHttp],
  ['stdio', modernStdio],
] as const) {
  describe(`2026-07-28 over ${name}`, () => {
    let peer: Modern;
    let id = 0;
    before(async () => {
      peer = await open(stack);
    });
    after(() => peer?.close());

    /** call makes a request, or makes it again with more members of its params. */
    const call = async (tool: string, args: unknown, more: Record<string, unknown> = {}) => {
      const _meta = {
        'io.modelcontextprotocol/protocolVersion': '2026-07-28',
        'io.modelcontextprotocol/clientInfo': { name: 'opentabs-e2e', version: '1' },
        'io.modelcontextprotocol/clientCapabilities': { elicitation: {} },
      };
      id += 1;
      const params = { name: tool, arguments: args, _meta, ...more };
      const { result, error } = await peer.exchange({ jsonrpc: '2.0', id, method: 'tools/call', params });
      return { result: isRecord(result) ? result : {}, error: isRecord(error) ? error : undefined };
    };
    /** asked makes a request that is answered by a question. */
    const asked = async (tool: string, args: unknown) => {
      const { result } = await call(tool, args);
      assert.equal(result.resultType, 'input_required', JSON.stringify(result));
      const [key = ''] = Object.keys(Object(result.inputRequests));
      return {
        question: JSON.stringify(result.inputRequests),
        answer: (answer: ElicitResult, tampered = '') =>
          call(tool, args, {
            inputResponses: { [key]: answer },
            requestState: `${String(result.requestState)}${tampered}`,
          }),
      };
    };

    test('approve, after a tampered state was refused', async () => {
      const { question, answer } = await asked('everything__echo', { value: 'hi' });
      assert.match(question, /May everything__echo run/);
      assert.equal((await answer(choose('allow once'), '-TAMPERED')).error?.code, -32602);
      const { result } = await answer(choose('allow once'));
      assert.equal(Object(result.structuredContent).value, 'hi');
      assert.equal((await answer(choose('allow once'))).error?.code, -32602); // the answer has been given
    });

    test('deny', async () => {
      const { answer } = await asked('everything__change', { key: `modern-${name}` });
      assert.equal((await answer({ action: 'decline' })).result.isError, true);
      assert.equal(stack.site.notes.includes(`change modern-${name}`), false);
    });

    test('another surface decides while the client has no request open', async () => {
      const { answer } = await asked('everything__echo', { value: 4 });
      await elsewhere('everything__echo', true);
      const { result } = await answer({ action: 'cancel' });
      assert.equal(Object(result.structuredContent).value, 4);
    });
  });
}
