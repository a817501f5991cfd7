/**
 * The official MCP client can list and call tools over HTTP and stdio, and receives exactly what the tool
 * sent.
 */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { ToolListChangedNotificationSchema } from '@modelcontextprotocol/sdk/types.js';
import type { McpClient } from './harness/client.ts';
import { runOrThrow } from './harness/process.ts';
import { clientTransports, type Stack, startStack } from './harness/stack.ts';
import { waitFor } from './harness/wait.ts';

let stack: Stack;

before(async () => {
  stack = await startStack();
});
after(() => stack?.close());

for (const [name, connectClient] of clientTransports) {
  describe(`the official MCP client over ${name}`, () => {
    let client: McpClient;
    before(async () => {
      client = await connectClient(stack);
    });

    test('the client lists tools with title, schemas and annotations', async () => {
      const { tools } = await client.sdk.listTools();
      const tool = tools.find((tool) => tool.name === 'messages__export_messages');
      assert.equal(tool?.title, undefined, 'a title that repeats the name must not be listed');
      assert.equal(tools.find((tool) => tool.name === 'plugin_list_tabs')?.title, 'List the tabs of plugins');
      assert.ok(tool?.inputSchema.properties && 'channelId' in tool.inputSchema.properties);
      assert.equal(tool.outputSchema?.type, 'object');
      assert.equal(tool.annotations?.readOnlyHint, true);
      assert.deepEqual(
        tools.map((tool) => tool.name),
        tools.map((tool) => tool.name).toSorted(),
      );
    });

    test('the client calls a tool through callTool, which checks the result against the schema', async () => {
      await client.sdk.listTools();
      const callResult = await client.sdk.callTool({
        name: 'messages__export_messages',
        arguments: { channelId: 'general-2' },
      });
      assert.equal(Object(callResult.structuredContent).count, 20);
    });

    test('the client receives all violations of the input schema', async () => {
      const callOutcome = await client.call('messages__countdown', { from: 'ten', intervalMs: -1, extra: true });
      assert.equal(callOutcome.code, 'invalid_arguments');
      for (const argumentName of ['from', 'intervalMs', 'extra'])
        assert.match(callOutcome.text, new RegExp(argumentName));
    });

    test('the client receives text and structured content as the page sent them', async () => {
      const nestedValue = {
        text: 'Grüße 🎉 \u0000 \u2028 </script>',
        list: [1, 2.5, null, true],
        nested: { constructor: 1 },
      };
      const callOutcome = await client.call('messages__echo', { value: nestedValue });
      assert.equal(callOutcome.isError, false, callOutcome.text);
      assert.deepEqual(Object(callOutcome.structured).value, nestedValue);
      assert.deepEqual(JSON.parse(callOutcome.text), callOutcome.structured);
    });

    test('the client receives a tool error with its code', async () => {
      const callOutcome = await client.call('messages__fail', {
        code: 'NOT_FOUND',
        category: 'not_found',
        message: 'Channel not found',
      });
      assert.equal(callOutcome.isError, true);
      assert.match(callOutcome.text, /Channel not found \(code=NOT_FOUND category=not_found retryable=false\)/);
    });

    test('a call of an unknown tool is rejected', async () => {
      await assert.rejects(client.sdk.callTool({ name: 'messages__nothing', arguments: {} }), /nothing/);
    });

    test('a call through the gateway returns the result of a direct call', async () => {
      const args = { channelId: 'general-2' };
      const mcpOutcome = await client.call('messages__export_messages', args);
      for (const tool of ['tools_call', 'tools_read']) {
        const callResult = await client.call(tool, { name: 'messages__export_messages', arguments: args });
        assert.deepEqual(
          [callResult.text, callResult.structured, callResult.isError],
          [mcpOutcome.text, mcpOutcome.structured, false],
        );
        assert.equal(callResult.progress.at(-1)?.message, mcpOutcome.progress.at(-1)?.message);
      }
      const searchOutcome = await client.call('tools_search', { query: 'download all messages of a channel' });
      assert.match(searchOutcome.text, /messages__export_messages\(channelId/);
    });

    test('the client receives list_changed when a plugin is removed or added', async () => {
      let changeCount = 0;
      client.sdk.setNotificationHandler(ToolListChangedNotificationSchema, () => {
        changeCount++;
      });
      // Count only the plugin's tools, because tools/list also returns the built-in tools of opentabs.
      const countPluginTools = async () =>
        (await client.sdk.listTools()).tools.filter((tool) => tool.name.startsWith('messages__')).length;
      await runOrThrow(['plugin', 'remove', 'messages'], stack.env);
      await waitFor('the first list_changed notification', () => changeCount >= 1);
      assert.equal(await countPluginTools(), 0);
      await runOrThrow(['plugin', 'add', stack.pluginFolder, '--permission', 'auto'], stack.env);
      await waitFor('the second list_changed notification', () => changeCount >= 2);
      await waitFor('the tools of the added plugin', async () => (await countPluginTools()) > 5);
      await waitFor('a successful call after the plugin was added again', async () => {
        await stack.page.reload();
        return !(await client.call('messages__echo', { value: 1 })).isError;
      });
      await stack.waitForPlugins('/');
    });
  });
}

test('integers beyond 2^53 reach the page and come back exactly', async () => {
  const json =
    '{"value":{"id":9007199254740993,"list":[-9007199254740995,12345678901234567890],"text":"9007199254740993"}}';
  const commandResult = await stack.runCli('call', 'messages__echo', '--input', json);
  assert.equal(commandResult.stdout.trim(), json, commandResult.stderr);
  const largeNumberCall = await stack.runCli('call', 'messages__countdown', '--input', '{"from":9007199254740993}');
  assert.notEqual(largeNumberCall.code, 0);
});

test('twenty concurrent calls of two clients each get their own result', async () => {
  const clients = [await stack.connectHttp(), await stack.connectStdio()];
  const callOutcomes = await Promise.all(
    Array.from({ length: 20 }, async (_, i) => {
      const callOutcome = await clients[i % 2]?.call('messages__countdown', { from: 3 + (i % 5), intervalMs: 20 });
      return { from: 3 + (i % 5), out: callOutcome };
    }),
  );
  for (const { from: transportName, out: callOutcome } of callOutcomes) {
    assert.equal(callOutcome?.isError, false, callOutcome?.text);
    assert.deepEqual(callOutcome?.structured, { counted: transportName });
    assert.ok(callOutcome?.progress.every((report) => report.total === transportName));
    assert.equal(callOutcome?.progress.at(-1)?.progress, transportName);
  }
});
