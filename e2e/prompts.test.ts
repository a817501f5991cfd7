/** A plugin's prompt runs in the page like a tool, with progress and cancellation. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Progress } from '@modelcontextprotocol/sdk/types.js';
import type { McpClient } from './harness/client.ts';
import { clientTransports, type Stack, startStack } from './harness/stack.ts';
import { waitFor } from './harness/wait.ts';

let stack: Stack;

before(async () => {
  stack = await startStack({ serveFlags: ['--progress-interval', '0s'] });
});
after(() => stack?.close());

for (const [name, connectClient] of clientTransports) {
  describe(`the official MCP client over ${name}`, () => {
    let client: McpClient;
    before(async () => {
      client = await connectClient(stack);
    });

    test('the client lists prompts with their arguments', async () => {
      const { prompts } = await client.sdk.listPrompts();
      const prompt = prompts.find((prompt) => prompt.name === 'messages__summarise_channel');
      assert.equal(prompt?.title, 'Summarise a channel');
      assert.deepEqual(
        prompt?.arguments?.map((a) => [a.name, a.required === true]),
        [
          ['channelId', true],
          ['last', false],
        ],
      );
    });

    test('the client receives progress of a prompt before its text', async () => {
      const progress: Progress[] = [];
      const promptResult = await client.sdk.getPrompt(
        { name: 'messages__summarise_channel', arguments: { channelId: 'general-3-600', last: '2' } },
        { onprogress: (progressReport) => progress.push(progressReport) },
      );
      assert.deepEqual(
        progress.map((report) => [report.progress, report.total, report.message]),
        [1, 2, 3].map((pageNumber) => [pageNumber, 3, `${pageNumber * 10} messages read`]),
      );
      assert.equal(promptResult.description, 'Reads a channel and asks for a summary of its last messages.');
      assert.equal(promptResult.messages.length, 1);
      const [promptMessage] = promptResult.messages;
      assert.equal(promptMessage?.role, 'user');
      const promptText = promptMessage?.content.type === 'text' ? promptMessage.content.text : '';
      assert.match(promptText, /^Summarise these messages of the channel general-3-600:\n\n[^\n]+\n[^\n]+$/);
    });

    test('an invalid argument of a prompt is reported', async () => {
      const invalidRequest = {
        name: 'messages__summarise_channel',
        arguments: { channelId: 'general-3', last: 'many' },
      };
      await assert.rejects(client.sdk.getPrompt(invalidRequest), (error: Error) => {
        assert.equal(Object(error).code, -32602);
        assert.equal(Object(error).data?.['opentabs/error']?.code, 'invalid_arguments');
        return /last/.test(error.message);
      });
    });

    test('a client that cancels a prompt stops the code in the page', async () => {
      const channelId = `${name}-200-500`;
      const stopController = new AbortController();
      const cancelledPromptRequest = client.sdk.getPrompt(
        { name: 'messages__summarise_channel', arguments: { channelId } },
        { signal: stopController.signal },
      );
      // Wait until the prompt's code runs in the page, so that the cancellation has code to stop.
      await waitFor('the page to request the channel', () => stack.site.requestedChannels.includes(channelId));
      const call = await waitFor('the call of the prompt to run', async () =>
        (await stack.listCalls()).find(
          (call) => call.tool_name === 'messages__summarise_channel' && call.status === 'running',
        ),
      );
      stopController.abort();
      await assert.rejects(cancelledPromptRequest);
      const stoppedCall = await waitFor('the call of the prompt to end', async () =>
        (await stack.listCalls()).find(
          (callRecord) => callRecord.call_id === call.call_id && callRecord.stopped !== undefined,
        ),
      );
      assert.deepEqual([stoppedCall.status, stoppedCall.stopped], ['cancelled', 'aborted']);
    });
  });
}
