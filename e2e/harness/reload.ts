import assert from 'node:assert/strict';
import type { CallOutcome, McpClient } from './client.ts';
import { fetchCallRecords } from './daemon-api.ts';
import type { Stack } from './stack.ts';
import { waitFor } from './wait.ts';

/**
 * callWithReload calls a tool and approves a page reload if opentabs requests one. opentabs reloads a page that was
 * loaded before Chrome registered the plugin's scripts.
 */
export async function callWithReload(
  stack: Stack,
  client: McpClient,
  tool: string,
  args: Record<string, unknown>,
): Promise<CallOutcome> {
  let callOutcome: CallOutcome | undefined;
  const call = client.call(tool, args).then((result) => {
    callOutcome = result;
  });
  await waitFor(`the end of ${tool}`, async () => {
    if (callOutcome) return true;
    const waitingCall = (await fetchCallRecords(stack)).find(
      (callRecord) => callRecord.tool_name === tool && callRecord.waiting,
    );
    if (waitingCall) await stack.runCli('calls', 'approve', waitingCall.call_id);
    return false;
  });
  await call;
  assert.ok(callOutcome);
  return callOutcome;
}
