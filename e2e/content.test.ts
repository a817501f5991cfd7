/** An image that a tool creates in the page reaches the agent as an image, byte for byte. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { after, before, test } from 'node:test';
import { CallToolResultSchema } from '@modelcontextprotocol/sdk/types.js';
import type { McpClient } from './harness/client.ts';
import { findCall } from './harness/daemon-api.ts';
import { connectModernHttp } from './harness/modern.ts';
import { everythingPlugin, type Stack, startStack } from './harness/stack.ts';
import { waitFor } from './harness/wait.ts';

const chartValues = [1, 5, 3];
let stack: Stack;

before(async () => {
  stack = await startStack({ plugins: [everythingPlugin] });
});
after(() => stack.close());

function hashChartInPage(): Promise<string> {
  return stack.page.evaluate(async (barValues) => {
    const pixelCanvas = new OffscreenCanvas(barValues.length * 10, 100);
    const context = pixelCanvas.getContext('2d');
    if (!context) throw new Error('no canvas');
    barValues.forEach((value, i) => {
      const bar = (value / Math.max(...barValues)) * 100;
      context.fillStyle = `hsl(${(i * 47) % 360} 70% 45%)`;
      context.fillRect(i * 10, 100 - bar, 9, bar);
    });
    const bytes = await (await pixelCanvas.convertToBlob({ type: 'image/png' })).arrayBuffer();
    const hashBytes = new Uint8Array(await crypto.subtle.digest('SHA-256', bytes));
    return [...hashBytes].map((byte) => byte.toString(16).padStart(2, '0')).join('');
  }, chartValues);
}

for (const transportName of ['http', 'stdio'] as const) {
  test(`a canvas arrives as image content over ${transportName}`, async () => {
    const client: McpClient = transportName === 'http' ? await stack.connectHttp() : await stack.connectStdio();
    await client.sdk.listTools();
    const toolResult = CallToolResultSchema.parse(
      await client.sdk.callTool({ name: 'messages__draw', arguments: { values: chartValues } }),
    );
    const [textBlock, pictureBlock] = toolResult.content;
    assert.equal(toolResult.content.length, 2);
    assert.ok(textBlock?.type === 'text' && pictureBlock?.type === 'image');
    assert.equal(pictureBlock.mimeType, 'image/png');
    const bytes = Buffer.from(pictureBlock.data, 'base64');
    assert.equal(bytes.subarray(1, 4).toString(), 'PNG');
    assert.equal(createHash('sha256').update(bytes).digest('hex'), await hashChartInPage());
    const placeholder = `see content[1], image/png, ${bytes.length} bytes`;
    const expectedContent = { bars: 3, chart: { type: 'image', data: placeholder, mimeType: 'image/png' } };
    assert.deepEqual(JSON.parse(textBlock.text), expectedContent);
    assert.deepEqual(toolResult.structuredContent, expectedContent);
  });
}

for (const { tool, args, fails: isFailing } of [
  { tool: 'messages__echo', args: { value: 'phases' }, fails: false },
  { tool: 'everything__fail', args: { message: 'no phases', code: 'NO', retryable: false }, fails: true },
]) {
  test(`\`calls show --timing\` shows the phases of a call of ${tool} that the client did not trace`, async () => {
    const client = await stack.connectHttp();
    const textBlock = await waitFor('a call with all phases', async () => {
      const { isError } = await client.call(tool, args);
      assert.equal(isError, isFailing);
      const { call_id } = await findCall(stack, tool);
      const { stdout } = await stack.runCli('calls', 'show', call_id, '--timing');
      return /handler/.test(stdout) && stdout;
    });
    const phaseNames = textBlock
      .split('\n')
      .slice(1, -1)
      .map((line) => line.trim().split(/ {2,}/)[0]);
    const expectedPhaseNames = 'request gates queue target link worker page handler return'.split(' ');
    assert.deepEqual(phaseNames, expectedPhaseNames, textBlock);
  });
}

test('the result of a traced call contains the time of each processing step, and other results contain no times', async () => {
  const callEcho = async (headers: Readonly<Record<string, string>>) => {
    const { exchangeMessage } = await connectModernHttp(stack, headers);
    const _meta = {
      'io.modelcontextprotocol/protocolVersion': '2026-07-28',
      'io.modelcontextprotocol/clientInfo': { name: 'e2e', version: '1' },
      'io.modelcontextprotocol/clientCapabilities': {},
    };
    const params = { name: 'messages__echo', arguments: { value: 'ü' }, _meta };
    const exchangeAnswer = await exchangeMessage({ jsonrpc: '2.0', id: 1, method: 'tools/call', params });
    const toolResult = Object(exchangeAnswer.result);
    assert.match(JSON.stringify(toolResult), /ü/);
    return { result: toolResult, hops: Object(toolResult._meta)['opentabs/hops'] };
  };
  const untracedAnswer = await callEcho({});
  assert.equal(untracedAnswer.hops, undefined, JSON.stringify(untracedAnswer.result));
  const { result: toolResult, hops: traceHops } = await callEcho({ 'opentabs-trace': '1' });
  assert.ok(Array.isArray(traceHops), JSON.stringify(toolResult));
  const stationNames = traceHops.map((hop) => Object(hop).station).join(' ');
  const browserStations = 'websocket worker port bridge host schema handler result port worker websocket';
  assert.equal(stationNames, `guard parse check gates queue target hub ${browserStations} hub dispatch reply`);
  let previousHopEndUs = 0;
  for (const hop of traceHops) {
    const { startUs, us } = Object(hop);
    assert.ok(us >= 0 && Math.abs(startUs - previousHopEndUs) < 0.01, JSON.stringify(traceHops));
    previousHopEndUs = startUs + us;
  }
});
