/** Promise: an image that a tool creates in the page reaches the agent as an image, byte for byte. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { after, before, test } from 'node:test';
import { CallToolResultSchema } from '@modelcontextprotocol/sdk/types.js';
import type { McpClient } from './harness/client.ts';
import { type Stack, startStack } from './harness/stack.ts';

const values = [1, 5, 3];
let stack: Stack;

before(async () => {
  stack = await startStack();
});
after(() => stack.close());

/** hashOfChartInPage draws in the page the chart that the tool returns, and returns the SHA-256 of the chart's PNG. */
function hashOfChartInPage(): Promise<string> {
  return stack.page.evaluate(async (barValues) => {
    const canvas = new OffscreenCanvas(barValues.length * 10, 100);
    const context = canvas.getContext('2d');
    if (!context) throw new Error('no canvas');
    barValues.forEach((value, i) => {
      const bar = (value / Math.max(...barValues)) * 100;
      context.fillStyle = `hsl(${(i * 47) % 360} 70% 45%)`;
      context.fillRect(i * 10, 100 - bar, 9, bar);
    });
    const bytes = await (await canvas.convertToBlob({ type: 'image/png' })).arrayBuffer();
    const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', bytes));
    return [...digest].map((byte) => byte.toString(16).padStart(2, '0')).join('');
  }, values);
}

for (const transport of ['http', 'stdio'] as const) {
  test(`a canvas arrives as image content over ${transport}`, async () => {
    const client: McpClient = transport === 'http' ? await stack.connectHttp() : await stack.connectStdio();
    // The official client checks results against the output schema after it has listed the tools.
    await client.sdk.listTools();
    const result = CallToolResultSchema.parse(
      await client.sdk.callTool({ name: 'messages__draw', arguments: { values } }),
    );
    const [text, picture] = result.content;
    assert.equal(result.content.length, 2);
    assert.ok(text?.type === 'text' && picture?.type === 'image');
    assert.equal(picture.mimeType, 'image/png');
    const bytes = Buffer.from(picture.data, 'base64');
    assert.equal(bytes.subarray(1, 4).toString(), 'PNG');
    assert.equal(createHash('sha256').update(bytes).digest('hex'), await hashOfChartInPage());
    const placeholder = `see content[1], image/png, ${bytes.length} bytes`;
    const expectedContent = { bars: 3, chart: { type: 'image', data: placeholder, mimeType: 'image/png' } };
    assert.deepEqual(JSON.parse(text.text), expectedContent);
    assert.deepEqual(result.structuredContent, expectedContent);
  });
}
